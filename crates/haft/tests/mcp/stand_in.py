"""A server of others, for the tests: stand_in.py stdio|http LOG [OPTION=VALUE…]

Every tool is one way for a server to behave. What it notices goes to LOG, a line each. Over HTTP the port is printed;
the options are token (what clients must present), certificate and key (for TLS), and modern (no handshake is known).
"""

import http.server
import json
import os
import ssl
import subprocess
import sys
import threading

mode, log = sys.argv[1:3]
options = dict(word.split("=", 1) for word in sys.argv[3:])
tools = ["echo", "add", "count", "wait", "die", "grow", "forget", "pid", "fail", "picture", "same", "odd näme/" + "x" * 70]
waiting = {}
sessions = set()
writing = threading.Lock()


def note(line):
    with open(log, "a") as file:
        print(line, file=file)


def describe(name):
    kinds = {"echo": {"text": "string"}, "add": {"a": "integer", "b": "integer"}, "count": {"steps": "integer"}}
    kinds["same"] = {"value": "object"}
    kinds["wait"] = {"program": "string", "marker": "string"}
    properties = {key: {"type": kind} for key, kind in kinds.get(name, {}).items()}
    schema = {"type": "object", "properties": properties, "required": list(properties)}
    described = {"name": name, "description": f"what {name} does", "inputSchema": schema}
    if name == "add":
        sums = {"type": "object", "properties": {"sum": {"type": "integer"}}, "required": ["sum"]}
        described["outputSchema"] = sums | {"additionalProperties": False}
    if name == "picture":
        described |= {"title": "A picture", "annotations": {"readOnlyHint": True}}
    return described


def text(words, **more):
    return {"content": [{"type": "text", "text": words}], **more}


def call(request, send):
    params = request["params"]
    name, given = params["name"], params.get("arguments", {})
    if name == "echo":
        return text(given["text"])
    if name == "add":
        return text("added", structuredContent={"sum": given["a"] + given["b"]})
    if name == "count":
        token = params["_meta"]["progressToken"]
        for step in range(1, given["steps"] + 1):
            told = {"progressToken": token, "progress": step, "total": given["steps"], "message": f"step {step}"}
            send({"jsonrpc": "2.0", "method": "notifications/progress", "params": told})
        return text("counted")
    if name == "wait":
        child = subprocess.Popen([given["program"], "sleep", given["marker"]])
        waiting[request["id"]] = child
        note("waiting")
        child.wait()
        return text("woken")
    if name == "die":
        os._exit(3)
    if name == "grow":
        tools.append("grown")
        send({"jsonrpc": "2.0", "method": "notifications/tools/list_changed"})
        return text("grown")
    if name == "forget":
        sessions.clear()
        return text("forgotten")
    if name == "picture":
        shown = [{"type": "image", "data": "aGk=", "mimeType": "image/png"}, {"type": "audio", "data": "aG8=", "mimeType": "audio/wav"}]
        return {"content": shown}
    if name == "same":
        return text(json.dumps(given))
    if name.startswith("odd"):
        return text("odd")
    if name == "pid":
        return text(str(os.getpid()))
    return text("it does not work", isError=True)


def answer(request, send):
    method = request["method"]
    if method == "initialize" and "modern" not in options:
        note("hello " + request["params"]["clientInfo"]["name"] + " " + request["params"]["protocolVersion"])
        own = {"name": "stand-in", "version": "1"}
        version = request["params"]["protocolVersion"]
        return {"protocolVersion": version, "capabilities": {"tools": {"listChanged": True}}, "serverInfo": own}
    if method == "server/discover" and "modern" in options:
        more = {"resultType": "complete", "ttlMs": 0, "cacheScope": "private"}
        return {"supportedVersions": ["2026-07-28"], "capabilities": {"tools": {}}, **more}
    if method == "tools/list":
        return {"tools": [describe(name) for name in tools], "resultType": "complete", "ttlMs": 0, "cacheScope": "private"}
    if method == "tools/call":
        return {**call(request, send), "resultType": "complete"}
    return None


def handle(request, send):
    if "id" not in request:
        if request["method"] == "notifications/initialized" and send:
            # Some servers have more tools once they know who their client is.
            send({"jsonrpc": "2.0", "method": "notifications/tools/list_changed"})
        if request["method"] == "notifications/cancelled":
            note("cancelled")
            child = waiting.pop(request["params"]["requestId"], None)
            if child:
                child.kill()
        return
    result = answer(request, send)
    found = {"result": result} if result is not None else {"error": {"code": -32601, "message": "no such method"}}
    send({"jsonrpc": "2.0", "id": request["id"], **found})


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def log_message(self, *_):
        pass

    def reply(self, status, body=b"", **headers):
        self.send_response(status)
        for name, value in headers.items():
            self.send_header(name.replace("_", "-"), value)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def refused(self):
        if "token" in options and self.headers["Authorization"] != "Bearer " + options["token"]:
            self.reply(401, WWW_Authenticate="Bearer")
            return True
        return False

    def do_GET(self):
        self.reply(405)

    def do_DELETE(self):
        note("goodbye")
        self.reply(200)

    def do_POST(self):
        request = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        if self.refused():
            return
        if "id" not in request:
            handle(request, None)
            return self.reply(202)
        if request["method"] == "initialize" and "modern" not in options:
            session = str(len(sessions) + 1)
            sessions.add(session)
            answers = []
            handle(request, answers.append)
            return self.reply(200, json.dumps(answers[-1]).encode(), Content_Type="application/json", Mcp_Session_Id=session)
        if "modern" not in options and self.headers["Mcp-Session-Id"] not in sessions:
            return self.reply(404)
        self.send_response(200)
        self.send_header("Content-Type", "text/event-stream")
        self.send_header("Connection", "close")
        self.end_headers()
        handle(request, self.event)
        self.close_connection = True

    def event(self, message):
        self.wfile.write(b"data: " + json.dumps(message).encode() + b"\n\n")
        self.wfile.flush()


def serve_http():
    server = http.server.ThreadingHTTPServer(("127.0.0.1", int(options.get("port", 0))), Handler)
    server.daemon_threads = True
    if "certificate" in options:
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(options["certificate"], options["key"])
        server.socket = context.wrap_socket(server.socket, server_side=True)
    print(server.server_port, flush=True)
    server.serve_forever()


def serve_stdio():
    def send(message):
        with writing:
            print(json.dumps(message), flush=True)

    for line in sys.stdin:
        threading.Thread(target=handle, args=(json.loads(line), send), daemon=True).start()
    note("goodbye")


serve_http() if mode == "http" else serve_stdio()
