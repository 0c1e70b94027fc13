"""haft runs bash scripts under supervision: it ends every process it started, and keeps every output.

>>> from haft import Haft
>>> with Haft() as haft:
...     haft.run("echo hello").stdout
'hello\\n'
"""

from ._binary import find_binary
from ._server import ServerOptions
from ._version import __version__
from .aio import AsyncHaft, AsyncJob, AsyncLineStream, AsyncOverlay, AsyncResult, AsyncSession
from .client import Haft, Job, LineStream, Overlay, Result, Session
from .errors import (
    BinaryNotFound,
    ClientClosed,
    HaftError,
    ProtocolError,
    ScriptError,
    ServerDied,
    ToolError,
    WaitTimeout,
)
from .types import Change, JobOptions, JobState, Limits, Line, RunOptions, Stage, Tool, ToolResult, Until

__all__ = [
    "AsyncHaft",
    "AsyncJob",
    "AsyncLineStream",
    "AsyncOverlay",
    "AsyncResult",
    "AsyncSession",
    "BinaryNotFound",
    "Change",
    "ClientClosed",
    "Haft",
    "HaftError",
    "Job",
    "JobOptions",
    "JobState",
    "Limits",
    "Line",
    "LineStream",
    "Overlay",
    "ProtocolError",
    "Result",
    "RunOptions",
    "ScriptError",
    "ServerDied",
    "ServerOptions",
    "Session",
    "Stage",
    "Tool",
    "ToolError",
    "ToolResult",
    "Until",
    "WaitTimeout",
    "__version__",
    "find_binary",
]
