"""The exceptions of this package. All of them are subclasses of :class:`HaftError`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Optional, Sequence

if TYPE_CHECKING:
    from .outcome import Outcome


class HaftError(Exception):
    """The base class of all errors of this package."""


class BinaryNotFound(HaftError):
    """The program ``haft`` was not found, or could not be started."""


class ClientClosed(HaftError):
    """The client was closed, or belongs to another process."""


class ServerDied(HaftError):
    """``haft mcp`` ended while the client was using it."""

    def __init__(self, status: Optional[int], log: Sequence[str]) -> None:
        how = "closed its output" if status is None else f"ended with status {status}"
        if status is not None and status < 0:
            how = f"was ended by signal {-status}"
        last = "".join(f"\n  {line}" for line in log)
        super().__init__(f"'haft mcp' {how}{last}")
        self.status = status
        self.log = list(log)


class ProtocolError(HaftError):
    """The server rejected a request, or sent a message that is not valid."""

    def __init__(self, message: str, code: Optional[int] = None) -> None:
        super().__init__(message)
        self.code = code


class ToolError(HaftError):
    """A tool reported an error. ``data`` is its structured content."""

    def __init__(self, tool: str, message: str, data: Any = None) -> None:
        super().__init__(message.rstrip("\n"))
        self.tool = tool
        self.data = data


class WaitTimeout(HaftError, TimeoutError):
    """A job did not end in time. It continues."""


class ScriptError(HaftError):
    """A script that was run with ``check=True`` failed. ``result`` is its result."""

    def __init__(self, result: Outcome) -> None:
        if result.timed_out:
            how = "timed out"
        elif result.signal:
            how = f"was ended by {result.signal}"
        else:
            how = f"exited with status {result.status}"
        last = (result.stderr or result.stdout).rstrip("\n").rpartition("\n")[2]
        super().__init__(f"script {how}: {last}" if last else f"script {how}")
        self.result = result
