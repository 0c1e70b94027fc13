"""The calls of the API as sequences of requests, without input and output.

An operation is a generator that yields requests, receives their replies and returns its value. The synchronous and the
asynchronous client run the same operations.
"""

from __future__ import annotations

import os
from dataclasses import dataclass
from typing import Any, Dict, Generator, List, Mapping, NamedTuple, Optional, Sequence, Tuple, TypeVar

from .errors import ToolError
from .overlays import OverlayBase
from .types import Change, Tool, ToolResult, Until

T = TypeVar("T")

# The server cuts larger values to these.
MAX_VIEW_BYTES = 1 << 20
MAX_TIMEOUT = 86400.0
DEFAULT_TIMEOUT = 120.0


class Request(NamedTuple):
    """A request to send."""

    method: str
    params: Mapping[str, Any]


Operation = Generator[Request, Dict[str, Any], T]


@dataclass
class Answer:
    """The answer of the tools ``run`` and ``job``."""

    text: str
    data: Dict[str, Any]

    @property
    def is_running(self) -> bool:
        """Whether the script still runs."""
        return bool(self.data["state"] == "running")


def initialize(protocol: str, version: str) -> Operation[None]:
    """The first request of a connection."""
    client = {"name": "haft-python", "version": version}
    yield Request("initialize", {"protocolVersion": protocol, "capabilities": {}, "clientInfo": client})


def list_tools() -> Operation[List[Tool]]:
    """All tools."""
    tools: List[Tool] = []
    params: Dict[str, Any] = {}
    while True:
        reply = yield Request("tools/list", params)
        tools += [
            Tool(tool["name"], tool.get("description", ""), tool["inputSchema"], tool.get("outputSchema"))
            for tool in reply["tools"]
        ]
        if not reply.get("nextCursor"):
            return tools
        params = {"cursor": reply["nextCursor"]}


def call(name: str, arguments: Mapping[str, Any]) -> Operation[ToolResult]:
    """Calls any tool. Raises its error."""
    result, is_error = yield from _call(name, arguments)
    if is_error:
        raise ToolError(name, result.text, result.data)
    return result


def call_for_answer(name: str, arguments: Mapping[str, Any]) -> Operation[Answer]:
    """Calls ``run`` or ``job``. A script that timed out is an answer, not an error."""
    result, _ = yield from _call(name, {key: value for key, value in arguments.items() if value is not None})
    if not isinstance(result.data, dict) or "state" not in result.data:
        raise ToolError(name, result.text, result.data)
    return Answer(result.text, result.data)


def _call(name: str, arguments: Mapping[str, Any]) -> Operation[Tuple[ToolResult, bool]]:
    reply = yield Request("tools/call", {"name": name, "arguments": arguments})
    content = reply.get("content", [])
    text = "".join(block["text"] for block in content if block.get("type") == "text")
    return ToolResult(text, reply.get("structuredContent"), content), bool(reply.get("isError"))


def run_arguments(script: str, options: Mapping[str, Any], session: Optional[str]) -> Dict[str, Any]:
    """The arguments of the tool ``run``."""
    arguments: Dict[str, Any] = {"script": script, "session": session, "view": {"bytes": MAX_VIEW_BYTES}, **options}
    if "timeout" in options and options["timeout"] is None:
        arguments["timeout"] = MAX_TIMEOUT
    if isinstance(arguments.get("overlay"), OverlayBase):
        arguments["overlay"] = arguments["overlay"].id
    if arguments.get("cwd") is not None:
        arguments["cwd"] = os.fspath(arguments["cwd"])
    return arguments


def run(script: str, options: Mapping[str, Any], session: Optional[str]) -> Operation[Answer]:
    """Runs a script until it ends."""
    arguments = run_arguments(script, options, session)
    if arguments.get("pty"):
        # Otherwise the call returns when a program waits for input.
        arguments["until"] = {}
    return (yield from call_for_answer("run", arguments))


def start_arguments(
    script: str, until: Optional[Until], options: Mapping[str, Any], session: Optional[str]
) -> Dict[str, Any]:
    """The arguments of ``run`` for a script that continues as a job. An empty ``until`` returns at the timeout only."""
    timeout = DEFAULT_TIMEOUT if until else 0
    wanted = {"timeout": timeout, **options, "until": until or {}, "on_timeout": "background"}
    return run_arguments(script, wanted, session)


def end_session(name: str) -> Operation[Answer]:
    """Ends a session."""
    return (yield from call_for_answer("run", {"script": ":", "session": name, "end_session": True}))


def output(output_id: str, view: Mapping[str, Any]) -> Operation[Dict[str, Any]]:
    """Another part of an earlier output."""
    given = {key: value for key, value in view.items() if value is not None}
    result = yield from call("output", {"id": output_id, "view": {"bytes": MAX_VIEW_BYTES, **given}})
    data: Dict[str, Any] = result.data
    return data


def read_resource(uri: str) -> Operation[Dict[str, Any]]:
    """The contents of a resource."""
    reply = yield Request("resources/read", {"uri": uri})
    contents: Dict[str, Any] = reply["contents"][0]
    return contents


def changes(action: str, overlay: Optional[str], paths: Sequence[str] = (), force: bool = False) -> Operation[ToolResult]:
    """An action on an overlay."""
    arguments: Dict[str, Any] = {"action": action}
    if overlay is not None:
        arguments["id"] = overlay
    if paths:
        arguments["paths"] = list(paths)
    if force:
        arguments["force"] = True
    return (yield from call("changes", arguments))


def show_changes(overlay: str, paths: Sequence[str]) -> Operation[List[Change]]:
    """The changed paths of an overlay."""
    result = yield from changes("show", overlay, paths)
    return [Change(change["path"], change["kind"], change) for change in result.data["changes"]]


def change_files(action: str, overlay: str, paths: Sequence[str], force: bool) -> Operation[int]:
    """Commits or takes back; the value is the number of paths."""
    result = yield from changes(action, overlay, paths, force)
    count: int = result.data["paths"]
    return count


def diff(overlay: str, paths: Sequence[str]) -> Operation[str]:
    """The changes of an overlay as a patch."""
    result = yield from changes("diff", overlay, paths)
    return result.text if result.data["changes"] else ""


def list_overlays() -> Operation[List[str]]:
    """The ids of the overlays that this client opened."""
    result = yield from changes("list", None)
    return [entry["overlay"]["id"] for entry in result.data["overlays"]]
