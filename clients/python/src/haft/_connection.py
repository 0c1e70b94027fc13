"""A running ``haft mcp`` and the messages to and from it.

Two threads move the messages, so that a signal or a blocked pipe in the caller's thread cannot tear one apart. A third one
reads the server's log.
"""

from __future__ import annotations

import collections
import io
import itertools
import json
import os
import queue
import subprocess
import threading
import weakref
from concurrent.futures import Future
from typing import Any, Callable, Deque, Dict, List, Mapping, Optional

from .errors import BinaryNotFound, ClientClosed, HaftError, ProtocolError, ServerDied

PROTOCOL_VERSION = "2025-11-25"
MAX_LOG_LINES = 20
# The server itself ends within a second after its input has ended.
CLOSE_SECONDS = 5.0
METHOD_NOT_FOUND = -32601

Reply = Dict[str, Any]

_connections: weakref.WeakSet[Connection] = weakref.WeakSet()


class Connection:
    """Starts a server and exchanges messages with it. Any thread may use it."""

    def __init__(
        self,
        command: List[str],
        *,
        cwd: Optional[str],
        env: Optional[Mapping[str, str]],
        on_log: Optional[Callable[[str], None]],
    ) -> None:
        environment = None if env is None else {**os.environ, **env}
        try:
            # A session of its own: Ctrl-C on the terminal must reach the client only, which then cancels its call.
            self._process = subprocess.Popen(
                command,
                bufsize=0,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                cwd=cwd,
                env=environment,
                start_new_session=True,
            )
        except OSError as error:
            raise BinaryNotFound(f"cannot start '{command[0]}': {error.strerror or error}") from error
        self._owner = os.getpid()
        self._ids = itertools.count(1)
        self._lock = threading.Lock()
        self._pending: Dict[int, Future[Reply]] = {}
        self._failure: Optional[HaftError] = None
        self._outgoing: queue.SimpleQueue[Optional[bytes]] = queue.SimpleQueue()
        self._log: Deque[str] = collections.deque(maxlen=MAX_LOG_LINES)
        self._on_log = on_log
        self._threads = [
            threading.Thread(target=target, name=f"haft-{name}", daemon=True)
            for name, target in (("write", self._write), ("log", self._read_log), ("read", self._read))
        ]
        for thread in self._threads:
            thread.start()
        _connections.add(self)

    @property
    def pid(self) -> int:
        """The process id of the server."""
        return self._process.pid

    def next_id(self) -> int:
        """An id for a request. It exists before the request, so that an interrupted caller can cancel it."""
        return next(self._ids)

    def submit(self, request_id: int, method: str, params: Mapping[str, Any]) -> Future[Reply]:
        """Sends a request."""
        message = _encode({"jsonrpc": "2.0", "id": request_id, "method": method, "params": params})
        future: Future[Reply] = Future()
        with self._lock:
            if self._owner != os.getpid():
                raise ClientClosed("this client belongs to the process that created it")
            if self._failure:
                raise self._failure
            self._pending[request_id] = future
        self._outgoing.put(message)
        return future

    def cancel(self, request_id: int) -> None:
        """Cancels a request. The server ends the processes of the call."""
        with self._lock:
            known = self._pending.pop(request_id, None)
        if known is not None:
            self.notify("notifications/cancelled", {"requestId": request_id, "reason": "cancelled by the caller"})

    def notify(self, method: str, params: Optional[Mapping[str, Any]] = None) -> None:
        """Sends a notification."""
        message: Dict[str, Any] = {"jsonrpc": "2.0", "method": method}
        if params is not None:
            message["params"] = params
        self._outgoing.put(_encode(message))

    def close(self) -> None:
        """Ends the server with everything it runs, and waits until it has ended."""
        if self._owner != os.getpid():
            return
        self._fail(ClientClosed("the client is closed"))
        self._outgoing.put(None)
        try:
            self._process.wait(CLOSE_SECONDS)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
        for thread in self._threads:
            if thread is not threading.current_thread():
                thread.join(CLOSE_SECONDS)

    def _write(self) -> None:
        pipe = self._process.stdin
        assert pipe is not None
        try:
            while (message := self._outgoing.get()) is not None:
                rest = memoryview(message)
                while rest:
                    rest = rest[os.write(pipe.fileno(), rest) :]
        except (OSError, ValueError):
            pass  # The reading thread reports why the server ended.
        finally:
            pipe.close()

    def _read(self) -> None:
        assert self._process.stdout is not None
        try:
            with io.BufferedReader(self._process.stdout, 1 << 16) as lines:  # type: ignore[type-var]
                for line in lines:
                    self._dispatch(json.loads(line))
        except (ValueError, KeyError, TypeError, AttributeError) as error:
            self._fail(ProtocolError(f"the server sent an invalid message: {error}"))
            self._process.kill()
        self._threads[1].join(CLOSE_SECONDS)
        try:
            status: Optional[int] = self._process.wait(CLOSE_SECONDS)
        except subprocess.TimeoutExpired:
            status = None
        self._fail(ServerDied(status, self._log))

    def _dispatch(self, message: Reply) -> None:
        if "method" in message:
            if "id" in message:
                self._answer(message)
            return
        with self._lock:
            future = self._pending.pop(message["id"], None)
        if future is None or not future.set_running_or_notify_cancel():
            return
        error = message.get("error")
        if error is None:
            future.set_result(message["result"])
        else:
            future.set_exception(ProtocolError(error["message"], error.get("code")))

    def _answer(self, request: Reply) -> None:
        """Answers a request of the server. A client without capabilities receives none but pings."""
        reply: Dict[str, Any] = {"jsonrpc": "2.0", "id": request["id"]}
        if request["method"] == "ping":
            reply["result"] = {}
        else:
            reply["error"] = {"code": METHOD_NOT_FOUND, "message": f"unknown method '{request['method']}'"}
        self._outgoing.put(_encode(reply))

    def _read_log(self) -> None:
        assert self._process.stderr is not None
        with io.TextIOWrapper(io.BufferedReader(self._process.stderr), "utf-8", "replace") as lines:  # type: ignore[type-var]
            for line in lines:
                self._log.append(line.rstrip("\n"))
                if self._on_log:
                    self._on_log(line.rstrip("\n"))

    def _fail(self, failure: HaftError) -> None:
        """Fails all requests, now and from now on. The first failure counts."""
        with self._lock:
            self._failure = self._failure or failure
            pending, self._pending = self._pending, {}
        for future in pending.values():
            if future.set_running_or_notify_cancel():
                future.set_exception(self._failure)

    def _leave_in_child(self) -> None:
        """After a fork, lets go of the server's input, which would otherwise stay open when the parent ends."""
        if self._process.stdin is not None:
            self._process.stdin.close()


def _encode(message: Mapping[str, Any]) -> bytes:
    return json.dumps(message, ensure_ascii=False, separators=(",", ":")).encode() + b"\n"


def _after_fork_in_child() -> None:
    for connection in list(_connections):
        connection._leave_in_child()


os.register_at_fork(after_in_child=_after_fork_in_child)
