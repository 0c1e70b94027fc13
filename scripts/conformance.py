#!/usr/bin/env python3
"""Runs the official MCP conformance suite against `haft mcp --http`, scenario by scenario, for each protocol revision.

The suite expects a server with tools, prompts and resources of its own. Those that haft can offer are created as tool
files and tasks in a temporary home. Scenarios about features that haft does not have are listed with the reason.

The suite cannot send a token, so a proxy adds it. It changes nothing else.
"""

import argparse
import http.client
import json
import os
import re
import subprocess
import sys
import tempfile
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

REVISIONS = ["2025-03-26", "2025-06-18", "2025-11-25", "2026-07-28"]

# Scenarios about features that haft does not have, by the beginning of their name.
NOT_APPLICABLE = {
    "tools-call-image": "no tool of haft returns images",
    "tools-call-audio": "no tool of haft returns audio",
    "tools-call-embedded-resource": "no tool of haft embeds resources",
    "tools-call-mixed-content": "no tool of haft returns images",
    "tools-call-with-logging": "tools report progress, not log messages",
    "tools-call-with-progress": "needs a tool that reports 0, 50 and 100 of 100; tool files cannot",
    "tools-call-sampling": "haft asks no model",
    "tools-call-elicitation": "haft asks the user nothing through the client",
    "elicitation-": "haft asks the user nothing through the client",
    "input-required-": "haft asks the user nothing through the client",
    "completion-complete": "haft completes no arguments of prompts",
    "resources-read-text": "needs the resource test://static-text; haft's resources are outputs",
    "resources-read-binary": "needs the resource test://static-binary; haft's resources are outputs",
    "resources-templates-read": "needs a template of the suite; haft's resources are outputs",
    "prompts-get-with-args": "needs a prompt with two arguments; tasks have one",
    "prompts-get-embedded-resource": "prompts are text",
    "prompts-get-with-image": "prompts are text",
    "server-sse-polling": "needs a tool that closes its own stream",
    "sep-2640-": "haft has no skills",
    "tasks-mrtr": "haft asks the user nothing through the client",
    "tasks-required-task-error": "no tool requires a task",
}

# Checks within a scenario that need a feature that haft does not have, with the reason.
NOT_APPLICABLE_CHECKS = {
    "sep-2575-server-rejects-undeclared-capability": "haft needs no capability of the client",
    "sep-2575-missing-capability-http-400": "haft needs no capability of the client",
    "sep-2663-tasks-get-status-failed": "tools of haft report errors as results",
    "tasks-result-type-complete-on-non-task-responses": "needs a tool that asks the user",
}

SIMPLE_SCHEMA = {"type": "object", "properties": {}}
# Tool files: name, description, parameters, and the shell command that prints the answer.
TOOLS = [
    ("test_simple_text", "Returns a text", SIMPLE_SCHEMA, "echo '\"This is a simple text response for testing.\"'"),
    (
        "test_error_handling",
        "Fails",
        SIMPLE_SCHEMA,
        "echo 'This tool intentionally returns an error for testing' >&2; exit 1",
    ),
    (
        "json_schema_2020_12_tool",
        "Has a schema with references",
        {
            "$schema": "https://json-schema.org/draft/2020-12/schema",
            "type": "object",
            "$defs": {
                "address": {
                    "type": "object",
                    "$anchor": "addressDef",
                    "properties": {"street": {"type": "string"}, "city": {"type": "string"}},
                }
            },
            "properties": {
                "name": {"type": "string"},
                "address": {"$ref": "#/$defs/address"},
                "contactMethod": {"type": "string", "enum": ["phone", "email"]},
                "phone": {"type": "string"},
                "email": {"type": "string"},
            },
            "allOf": [{"anyOf": [{"required": ["phone"]}, {"required": ["email"]}]}],
            "if": {"properties": {"contactMethod": {"const": "phone"}}, "required": ["contactMethod"]},
            "then": {"required": ["phone"]},
            "else": {"required": ["email"]},
            "additionalProperties": False,
        },
        "echo '\"ok\"'",
    ),
    (
        "test_x_mcp_header",
        "Has a parameter that is also a header",
        {
            "type": "object",
            "properties": {
                "region": {"type": "string", "x-mcp-header": "Region"},
                "query": {"type": "string"},
            },
        },
        "echo '\"ok\"'",
    ),
]
for name in ("test_logging_tool", "test_streaming_elicitation"):
    TOOLS.append((name, "Returns a text", {"type": "object"}, "echo '\"hello\"'"))
TOOLS.append(
    (
        "greet",
        "Greets",
        {"type": "object", "properties": {"name": {"type": "string"}}},
        "echo \"\\\"Hello, $(sed 's/.*\"name\":\"\\([^\"]*\\)\".*/\\1/')!\\\"\"",
    )
)
TOOLS.append(("failing_job", "Fails after a second", SIMPLE_SCHEMA, "sleep 1; echo failed >&2; exit 1"))
TOOLS.append(
    (
        "slow_compute",
        "Takes a number of seconds",
        {"type": "object", "properties": {"seconds": {"type": "number"}, "label": {"type": "string"}}},
        "sleep \"$(sed 's/.*\"seconds\":\\([0-9.]*\\).*/\\1/')\"; echo '\"done\"'",
    )
)
TASKS = [("test_simple_prompt", "A simple prompt", "This is a simple prompt for testing.")]


def write_home(home):
    """Creates tool files and tasks."""
    directory = home / "haft" / "tools"
    directory.mkdir(parents=True)
    for name, description, parameters, command in TOOLS:
        schema = json.dumps({"name": name, "description": description, "parameters": parameters})
        (directory / f"{name}-schema.json").write_text(schema)
        file = directory / (name.replace("_", "-") + "-tool")
        file.write_text(f"#!/bin/sh\nif [ \"$1\" = --schema ]; then cat '{directory}/{name}-schema.json'; exit; fi\n{command}\n")
        file.chmod(0o755)
    tasks = "".join(f'[[task]]\nname = "{name}"\ndescription = "{about}"\nprompt = "{text}"\n' for name, about, text in TASKS)
    (home / "haft" / "config.toml").write_text("[tools]\nschema_timeout = 20\n" + tasks)


class Proxy(BaseHTTPRequestHandler):
    """Passes requests on with the token."""

    protocol_version = "HTTP/1.1"
    target = ("127.0.0.1", 0)
    token = ""

    def handle_request(self):
        body = self.rfile.read(int(self.headers.get("content-length") or 0))
        upstream = http.client.HTTPConnection(*self.target, timeout=60)
        try:
            upstream.putrequest(self.command, self.path, skip_host=True, skip_accept_encoding=True)
            for name, value in self.headers.items():
                if name.lower() not in ("connection", "content-length", "transfer-encoding"):
                    upstream.putheader(name, value)
            upstream.putheader("Authorization", f"Bearer {self.token}")
            upstream.putheader("Content-Length", str(len(body)))
            upstream.endheaders(body)
            answer = upstream.getresponse()
            self.send_response(answer.status)
            for name, value in answer.getheaders():
                if name.lower() not in ("connection", "content-length", "transfer-encoding", "date", "server"):
                    self.send_header(name, value)
            self.send_header("Connection", "close")
            self.end_headers()
            self.close_connection = True
            while chunk := answer.read1(65536):
                self.wfile.write(chunk)
                self.wfile.flush()
        except OSError:
            self.close_connection = True
        finally:
            upstream.close()

    do_GET = do_POST = do_DELETE = do_OPTIONS = handle_request

    def log_message(self, *_):
        pass


def start_server(haft, home):
    """Starts haft and the proxy. Returns the process and the URL."""
    environment = {**os.environ, "HOME": str(home), "XDG_CONFIG_HOME": str(home), "TMPDIR": str(home)}
    token = home / "token"
    command = [haft, "mcp", "--http", "127.0.0.1:0", "--token-file", str(token), "--detail", "full", "--tools", "all", "--task-after", "500ms"]
    server = subprocess.Popen(command, env=environment, cwd=home, stderr=subprocess.PIPE, text=True)
    line = server.stderr.readline()
    port = re.search(r":(\d+)/mcp", line)
    if not port:
        sys.exit(f"haft did not start: {line}")
    Proxy.target = ("127.0.0.1", int(port[1]))
    Proxy.token = token.read_text().strip()
    proxy = ThreadingHTTPServer(("127.0.0.1", 0), Proxy)
    threading.Thread(target=proxy.serve_forever, daemon=True).start()
    threading.Thread(target=server.stderr.read, daemon=True).start()
    return server, f"http://localhost:{proxy.server_port}/mcp"


def scenarios(run):
    """The names of all scenarios with their revisions."""
    listed = subprocess.run([*run, "list", "--server"], capture_output=True, text=True, check=True).stdout
    return [(name, revisions.split(",")) for name, revisions in re.findall(r"- (\S+) \[(.*)\]", listed)]


def reason_not_to_run(name):
    return next((reason for prefix, reason in NOT_APPLICABLE.items() if name.startswith(prefix)), None)


def run_scenario(run, url, name, revision):
    """Runs one scenario. Returns whether it passed, and its output."""
    command = [*run, "server", "--url", url, "--scenario", name]
    if revision != "extension":
        command += ["--spec-version", revision]
    done = subprocess.run(command, capture_output=True, text=True)
    output = re.sub(r"\x1b\[[0-9;]*m", "", done.stdout + done.stderr)
    failed = set(re.findall(r"\[(\S+)\s*\] FAILURE", output))
    passed = done.returncode == 0 or (failed and failed <= NOT_APPLICABLE_CHECKS.keys())
    return bool(passed), output


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--haft", required=True)
    parser.add_argument("--node", default="node")
    parser.add_argument("--suite", required=True)
    parser.add_argument("--scenario", help="only this one, with its output")
    parser.add_argument("--json", action="store_true")
    arguments = parser.parse_args()
    index = Path(arguments.suite) / "node_modules/@modelcontextprotocol/conformance/dist/index.js"
    run = [arguments.node, str(index)]
    results = {}
    with tempfile.TemporaryDirectory() as home:
        write_home(Path(home))
        server, url = start_server(os.path.abspath(arguments.haft), Path(home))
        try:
            for name, revisions in scenarios(run):
                if arguments.scenario and name != arguments.scenario:
                    continue
                for revision in revisions:
                    if reason := reason_not_to_run(name):
                        results.setdefault(revision, {})[name] = reason
                        continue
                    passed, output = run_scenario(run, url, name, revision)
                    results.setdefault(revision, {})[name] = passed
                    if arguments.scenario or not passed:
                        print(f"--- {name} {revision}: {'passed' if passed else 'FAILED'}\n{output}", file=sys.stderr)
        finally:
            server.terminate()
            server.wait()
    report(results, arguments.json)
    failed = any(passed is False for of_revision in results.values() for passed in of_revision.values())
    sys.exit(1 if failed else 0)


def report(results, as_json):
    if as_json:
        print(json.dumps(results, indent=2))
        return
    for revision in [*REVISIONS, "extension"]:
        of_revision = results.get(revision, {})
        passed = sum(result is True for result in of_revision.values())
        failed = [name for name, result in of_revision.items() if result is False]
        skipped = [name for name, result in of_revision.items() if isinstance(result, str)]
        print(f"{revision}: {passed} of {passed + len(failed)} passed, {len(skipped)} do not apply")
        for name in failed:
            print(f"  failed: {name}")


if __name__ == "__main__":
    main()
