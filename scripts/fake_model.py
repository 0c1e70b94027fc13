"""A model on loopback for tests of agent CLIs. It answers four APIs: Anthropic Messages, OpenAI Chat Completions, OpenAI
Responses and Gemini generateContent, streamed or not.

The model follows one plan. If a request offers haft's `run` tool and has no result of it yet, the model calls the tool
once. Otherwise it answers with a text. All requests are recorded.
"""
import http.server
import itertools
import json
import re
import threading

SCRIPT = "echo haft-$((6*7))"
OUTPUT = "haft-42"
TEXT = "The work is done."
# Clients put the name of the server before the name of the tool.
RUN_TOOL = re.compile(r"(?:^|.*haft[^a-z]*)run$")


class FakeModel(http.server.ThreadingHTTPServer):
    """The server. `requests` holds the body of every request, as text."""

    daemon_threads = True

    def __init__(self):
        super().__init__(("127.0.0.1", 0), FakeModelHandler)
        self.requests, self.ids = [], itertools.count(1)
        threading.Thread(target=self.serve_forever, daemon=True).start()

    @property
    def url(self):
        return f"http://127.0.0.1:{self.server_port}"

    def received(self, text):
        """Whether a request contains the text."""
        return any(text in body for body in self.requests)

    def tool_result_arrived(self):
        """Whether a request contains the output of the tool call, which only the script can compute."""
        return self.received(OUTPUT)

    def next_call(self, names, body):
        """The tool to call now and its arguments, or (None, None)."""
        if SCRIPT in body.replace("\\", ""):
            return None, None
        tool = next((name for name in names if name and RUN_TOOL.match(name)), None)
        if tool:
            return tool, {"script": SCRIPT}
        if "execute" in names:
            return "execute", {"command": SCRIPT}
        if "WaitForMcpServers" in names and '"name":"WaitForMcpServers","input"' not in body:
            return "WaitForMcpServers", {}
        # Some clients only name the tools of a server, and offer tools to look up and call them.
        deferred = re.search(r"mcp__haft__run\b", body)
        if deferred and {"tool_search", "tool_call"} <= set(names):
            query = f"select:{deferred[0]}"
            if query not in body:
                return "tool_search", {"query": query}
            return "tool_call", {"name": deferred[0], "arguments": {"script": SCRIPT}}
        return None, None


class FakeModelHandler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def log_message(self, *_):
        pass

    def do_HEAD(self):
        self.reply({})

    def do_GET(self):
        model = {"id": "fake", "object": "model", "created": 0, "owned_by": "fake", "name": "models/fake"}
        self.reply({"object": "list", "data": [model], "models": [model], "has_more": False})

    def do_POST(self):
        body = self.read_body()
        request = json.loads(body) if body.startswith("{") else {}
        path = self.path.split("?")[0]
        if path.endswith("/messages"):
            self.server.requests.append(body)
            self.anthropic(request, body)
        elif path.endswith("/chat/completions"):
            self.server.requests.append(body)
            self.chat(request, body)
        elif path.endswith("/responses"):
            self.server.requests.append(body)
            self.openai_responses(request, body)
        elif path.endswith("enerateContent"):
            self.server.requests.append(body)
            self.gemini(request, body, "stream" in path)
        elif path.endswith(("count_tokens", "countTokens")):
            self.reply({"input_tokens": 1, "totalTokens": 1})
        else:
            self.reply({})

    def read_body(self):
        if "chunked" in self.headers.get("transfer-encoding", ""):
            parts = []
            while size := int(self.rfile.readline().split(b";")[0], 16):
                parts.append(self.rfile.read(size))
                self.rfile.readline()
            self.rfile.readline()
            return b"".join(parts).decode("utf-8", "replace")
        return self.rfile.read(int(self.headers.get("content-length") or 0)).decode("utf-8", "replace")

    def reply(self, value):
        self.send(json.dumps(value).encode(), "application/json")

    def stream(self, events):
        lines = []
        for name, data in events:
            data = data if isinstance(data, str) else json.dumps(data)
            lines.append((f"event: {name}\n" if name else "") + f"data: {data}\n\n")
        self.send("".join(lines).encode(), "text/event-stream")

    def send(self, content, kind):
        try:
            self.send_response(200)
            self.send_header("content-type", kind)
            self.send_header("content-length", str(len(content)))
            self.end_headers()
            if self.command != "HEAD":
                self.wfile.write(content)
        except OSError:
            pass  # the client is gone

    def call_id(self, prefix):
        """A new id for a tool call. Clients refuse one that they have seen."""
        return f"{prefix}{next(self.server.ids)}"

    def anthropic(self, request, body):
        tool, arguments = self.server.next_call([tool.get("name") for tool in request.get("tools") or []], body)
        usage = {"input_tokens": 1, "output_tokens": 1}
        message = {"id": "msg_1", "type": "message", "role": "assistant", "model": request.get("model"), "usage": usage}
        if tool:
            block = {"type": "tool_use", "id": self.call_id("toolu_"), "name": tool, "input": arguments}
            delta = {"type": "input_json_delta", "partial_json": json.dumps(block["input"])}
        else:
            block = {"type": "text", "text": TEXT}
            delta = {"type": "text_delta", "text": TEXT}
        reason = "tool_use" if tool else "end_turn"
        if not request.get("stream"):
            return self.reply({**message, "content": [block], "stop_reason": reason, "stop_sequence": None})
        empty = {**block, **({"input": {}} if tool else {"text": ""})}
        start = {**message, "content": [], "stop_reason": None, "stop_sequence": None}
        events = [
            {"type": "message_start", "message": start},
            {"type": "content_block_start", "index": 0, "content_block": empty},
            {"type": "content_block_delta", "index": 0, "delta": delta},
            {"type": "content_block_stop", "index": 0},
            {"type": "message_delta", "delta": {"stop_reason": reason, "stop_sequence": None}, "usage": usage},
            {"type": "message_stop"},
        ]
        self.stream([(event["type"], event) for event in events])

    def chat(self, request, body):
        names = [tool.get("function", {}).get("name") for tool in request.get("tools") or []]
        tool, arguments = self.server.next_call(names, body)
        message = {"role": "assistant", "content": None if tool else TEXT}
        if tool:
            function = {"name": tool, "arguments": json.dumps(arguments)}
            message["tool_calls"] = [{"index": 0, "id": self.call_id("call_"), "type": "function", "function": function}]
        reason = "tool_calls" if tool else "stop"
        whole = {"id": "c1", "created": 0, "model": request.get("model", "fake")}
        usage = {"prompt_tokens": 1, "completion_tokens": 1, "total_tokens": 2}
        if not request.get("stream"):
            choice = {"index": 0, "message": message, "finish_reason": reason}
            return self.reply({**whole, "object": "chat.completion", "choices": [choice], "usage": usage})
        whole["object"] = "chat.completion.chunk"
        first = {**whole, "choices": [{"index": 0, "delta": message, "finish_reason": None}]}
        last = {**whole, "choices": [{"index": 0, "delta": {}, "finish_reason": reason}], "usage": usage}
        self.stream([(None, first), (None, last), (None, "[DONE]")])

    def openai_responses(self, request, body):
        # A client may offer the tools of a server as a namespace.
        tools = request.get("tools") or []
        offered = [(None, tool.get("name")) for tool in tools if tool.get("type") != "namespace"]
        for space in (tool for tool in tools if tool.get("type") == "namespace"):
            offered += [(space["name"], tool.get("name")) for tool in space.get("tools") or [] if "haft" in space["name"]]
        name, arguments = self.server.next_call([name for _, name in offered], body)
        if name:
            space = next(space for space, known in offered if known == name)
            item = {"type": "function_call", "id": "f1", "call_id": self.call_id("call_"), "name": name, "status": "completed"}
            item["arguments"] = json.dumps(arguments)
            item.update({"namespace": space} if space else {})
        else:
            content = [{"type": "output_text", "text": TEXT, "annotations": []}]
            item = {"type": "message", "role": "assistant", "id": "m1", "status": "completed", "content": content}
        usage = {"input_tokens": 1, "output_tokens": 1, "total_tokens": 2}
        usage |= {"input_tokens_details": {"cached_tokens": 0}, "output_tokens_details": {"reasoning_tokens": 0}}
        whole = {"id": "r1", "object": "response", "created_at": 0, "model": request.get("model"), "status": "completed"}
        done = {**whole, "output": [item], "usage": usage}
        if not request.get("stream"):
            return self.reply(done)
        self.stream([
            ("response.created", {"type": "response.created", "response": {**whole, "status": "in_progress"}}),
            ("response.output_item.added", {"type": "response.output_item.added", "output_index": 0, "item": item}),
            ("response.output_item.done", {"type": "response.output_item.done", "output_index": 0, "item": item}),
            ("response.completed", {"type": "response.completed", "response": done}),
        ])

    def gemini(self, request, body, streamed):
        declared = [tool.get("functionDeclarations") or [] for tool in request.get("tools") or []]
        names = [function.get("name") for group in declared for function in group]
        tool, arguments = self.server.next_call(names, body)
        part = {"functionCall": {"id": self.call_id("call_"), "name": tool, "args": arguments}} if tool else {"text": TEXT}
        candidate = {"index": 0, "content": {"role": "model", "parts": [part]}, "finishReason": "STOP"}
        usage = {"promptTokenCount": 1, "candidatesTokenCount": 1, "totalTokenCount": 2}
        answer = {"candidates": [candidate], "usageMetadata": usage, "modelVersion": "fake"}
        self.stream([(None, answer)]) if streamed else self.reply(answer)
