"""The synchronous client."""

from __future__ import annotations

import itertools
import os
import weakref
from types import TracebackType
from typing import (
    TYPE_CHECKING,
    Any,
    Callable,
    Dict,
    Generator,
    Iterator,
    List,
    Mapping,
    Optional,
    Sequence,
    Tuple,
    Type,
    TypeVar,
    Union,
)

from . import _operations as operations
from ._binary import find_binary
from ._connection import PROTOCOL_VERSION, Connection
from ._jobs import JobCore, LineReader
from ._operations import DEFAULT_TIMEOUT, Answer, Operation, Request
from ._server import ServerOptions, StrPath
from ._version import __version__
from .errors import HaftError, ScriptError
from .outcome import Outcome
from .overlays import OverlayBase
from .types import Change, JobState, Line, Tool, ToolResult, Until

if TYPE_CHECKING:
    from typing_extensions import Self, Unpack

    from .types import JobOptions, RunOptions

T = TypeVar("T")


class Result(Outcome):
    """The result of a script that has ended."""

    def __init__(self, answer: Answer, runner: Runner) -> None:
        super().__init__(answer)
        self._runner = runner

    def output(
        self,
        stream: str = "stdout",
        *,
        head: Optional[int] = None,
        tail: Optional[int] = None,
        lines: Optional[Tuple[int, int]] = None,
        grep: Optional[str] = None,
        context: Optional[int] = None,
    ) -> str:
        """Reads another part of the output: the first or last lines, a range, or the lines that match. Nothing runs again."""
        view = {"head": head, "tail": tail, "lines": lines, "grep": grep, "context": context}
        return self._runner.perform(self._read(stream, view))

    def output_bytes(self, stream: str = "stdout") -> bytes:
        """Reads the output as it was written, up to 8 MiB."""
        return self._runner.perform(self._read_bytes(stream))

    @property
    def job(self) -> Optional[Job]:
        """The processes that the script left running in the background, if there are any."""
        return Job(self._runner, JobCore(Answer(self.text, self.data))) if "job" in self.data else None

    @property
    def overlay(self) -> Optional[Overlay]:
        """The overlay in which the script ran."""
        found = self.data.get("overlay")
        return Overlay(self._runner, found["id"]) if found else None


class Job:
    """A script that runs in the background. It ends with the client."""

    def __init__(self, runner: Runner, core: JobCore) -> None:
        self._runner, self._core = runner, core

    @property
    def id(self) -> Optional[str]:
        """The id of the job; ``None`` if the script ended before it became a job."""
        return self._core.id

    @property
    def state(self) -> JobState:
        """The first answer, which has the output up to then."""
        return self._core.state

    @property
    def running(self) -> bool:
        """Whether the script still ran at the last answer."""
        return self._core.is_running

    def wait(self, until: Optional[Until] = None, timeout: Optional[float] = None) -> JobState:
        """Waits for the first of the conditions, the end of the script, or the timeout. Returns the output since the last
        answer.
        """
        return self._act(self._core.wait(until, timeout))

    def result(self, timeout: Optional[float] = None) -> Result:
        """Waits for the end and returns the result with the whole output. Raises WaitTimeout if the script still runs."""
        return Result(self._act(self._core.result(timeout)), self._runner)

    def read(self) -> JobState:
        """Returns the output since the last answer, without waiting."""
        return self._act(self._core.act("read"))

    def write(self, text: str, until: Optional[Until] = None, timeout: Optional[float] = None) -> JobState:
        """Writes to standard input, and waits until the script waits for input again or is silent."""
        return self._act(self._core.act("write", text=text, until=until, timeout=timeout))

    def close_stdin(self) -> JobState:
        """Ends standard input."""
        return self._act(self._core.act("close_stdin"))

    def resize(self, columns: int, rows: int) -> None:
        """Changes the size of the terminal."""
        self._act(self._core.act("resize", columns=columns, rows=rows))

    def signal(self, name: str, until: Optional[Until] = None) -> JobState:
        """Sends a signal, such as ``"INT"``."""
        return self._act(self._core.act("signal", signal=name, until=until))

    def kill(self) -> JobState:
        """Ends the script with all its processes."""
        return self._act(self._core.act("kill"))

    def lines(self) -> Iterator[Line]:
        """All lines of the output, from the first one to the end of the script, as they are written."""
        reader = LineReader(self._core, None)
        while lines := self._act(reader.lines()):
            yield from lines

    def _act(self, operation: Operation[T]) -> T:
        return self._runner.perform(operation)

    def __repr__(self) -> str:
        return f"<Job {self.id} {'running' if self.running else 'ended'}>"


class LineStream:
    """The lines of a script while it runs. Leaving the ``with`` block early ends the script."""

    def __init__(self, runner: Runner, core: JobCore, timeout: Optional[float]) -> None:
        self._runner, self._reader = runner, LineReader(core, timeout)
        self._lines: List[Line] = []

    @property
    def job(self) -> Job:
        """The job, for example to write to it."""
        return Job(self._runner, self._reader.core)

    def __iter__(self) -> LineStream:
        return self

    def __next__(self) -> Line:
        if not self._lines:
            try:
                self._lines = self._runner.perform(self._reader.lines())[::-1]
            except BaseException:
                self._runner.post(self._reader.core.act("kill"))
                raise
        if not self._lines:
            raise StopIteration
        return self._lines.pop()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: Optional[Type[BaseException]], _: Optional[BaseException], __: Optional[TracebackType]) -> None:
        self.close()

    def close(self) -> None:
        """Ends the script if it still runs."""
        if self._reader.core.is_running:
            self._runner.perform(self._reader.core.act("kill"))

    @property
    def result(self) -> Result:
        """The result, after the end of the script."""
        if self._reader.core.is_running:
            raise HaftError("the script still runs\nhint: read all lines first")
        return Result(self._runner.perform(self._reader.core.result()), self._runner)


class Overlay(OverlayBase):
    """A copy-on-write view of the project, in which scripts can run."""

    def __init__(self, runner: Runner, overlay_id: str) -> None:
        super().__init__(overlay_id)
        self._runner = runner

    def changes(self, *paths: str) -> List[Change]:
        """The changed paths: all, or those in ``paths``."""
        return self._runner.perform(operations.show_changes(self.id, paths))

    def diff(self, *paths: str) -> str:
        """The changes as a patch."""
        return self._runner.perform(operations.diff(self.id, paths))

    def commit(self, *paths: str, force: bool = False) -> int:
        """Writes the changes to the real files and returns their number."""
        return self._runner.perform(operations.change_files("commit", self.id, paths, force))

    def undo(self, *, force: bool = False) -> int:
        """Takes the last commit back."""
        return self._runner.perform(operations.change_files("undo", self.id, (), force))

    def discard(self) -> None:
        """Throws the changes away."""
        self._runner.perform(operations.changes("discard", self.id))


class Runner:
    """Performs operations on a connection."""

    def __init__(self, connection: Connection) -> None:
        self.connection = connection

    def perform(self, operation: Generator[Request, Dict[str, Any], T]) -> T:
        """Performs an operation. An exception in the calling thread, such as KeyboardInterrupt, cancels its request."""
        try:
            request = next(operation)
            while True:
                try:
                    reply = self._request(request)
                except HaftError as error:
                    request = operation.throw(error)
                else:
                    request = operation.send(reply)
        except StopIteration as done:
            value: T = done.value
            return value

    def post(self, operation: Operation[Any]) -> None:
        """Sends the first request of an operation, and does not wait for its reply."""
        request = next(operation, None)
        if request is not None:
            try:
                self.connection.submit(self.connection.next_id(), *request)
            except HaftError:
                pass  # Everything ends with the server.

    def _request(self, request: Request) -> Dict[str, Any]:
        request_id = self.connection.next_id()
        try:
            return self.connection.submit(request_id, *request).result()
        except HaftError:
            raise
        except BaseException:
            self.connection.cancel(request_id)
            raise


class _Shell:
    """Runs scripts: a client, or a session of it."""

    _runner: Runner
    _session: Optional[str] = None

    def run(
        self,
        script: str,
        *,
        check: bool = False,
        on_line: Optional[Callable[[Line], object]] = None,
        **options: Unpack[RunOptions],
    ) -> Result:
        """Runs a script and returns its result. ``on_line`` is called with every line of output while the script runs; if it
        raises an exception, the script is ended. With ``check``, a failed script raises ScriptError.
        """
        if on_line is None:
            result = Result(self._runner.perform(operations.run(script, options, self._session)), self._runner)
        else:
            with self.stream(script, **options) as lines:
                for line in lines:
                    on_line(line)
            result = lines.result
        if check and not result.ok:
            raise ScriptError(result)
        return result

    def start(self, script: str, *, until: Optional[Until] = None, **options: Unpack[JobOptions]) -> Job:
        """Starts a script in the background. With ``until`` or ``timeout``, waits until a condition is met, the script ends or
        the timeout passes. The script continues in any case.
        """
        arguments = operations.start_arguments(script, until, options, self._session)
        return Job(self._runner, JobCore(self._runner.perform(operations.call_for_answer("run", arguments))))

    def stream(self, script: str, **options: Unpack[JobOptions]) -> LineStream:
        """Runs a script and iterates over its lines of output: ``with haft.stream("make") as lines: …``."""
        timeout = options.pop("timeout", DEFAULT_TIMEOUT)
        return LineStream(self._runner, self.start(script, **options)._core, timeout)


class Session(_Shell):
    """Scripts that share variables, functions, options and the working directory."""

    def __init__(self, runner: Runner, name: str) -> None:
        self._runner, self._session = runner, name

    @property
    def name(self) -> str:
        """The name of the session."""
        return self._session or ""

    def close(self) -> None:
        """Ends the session."""
        self._runner.perform(operations.end_session(self.name))

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: Optional[Type[BaseException]], _: Optional[BaseException], __: Optional[TracebackType]) -> None:
        self.close()


class Haft(_Shell):
    """A running haft. Any number of threads may use it at the same time."""

    def __init__(
        self,
        options: Optional[ServerOptions] = None,
        *,
        binary: Optional[StrPath] = None,
        cwd: Optional[StrPath] = None,
        env: Optional[Mapping[str, str]] = None,
        overlay: Union[bool, StrPath, Sequence[StrPath], None] = None,
        on_log: Optional[Callable[[str], None]] = None,
    ) -> None:
        """Starts ``haft mcp``.

        ``cwd`` is the directory of the project and ``env`` are additional variables. ``overlay`` is short for
        ``ServerOptions(overlay=…)``. ``on_log`` receives the lines of the server's log.
        """
        connection = connect(options, binary, cwd, env, overlay, on_log)
        self._runner = Runner(connection)
        self._names = itertools.count(1)
        self._close = weakref.finalize(self, connection.close)
        try:
            self._runner.perform(operations.initialize(PROTOCOL_VERSION, __version__))
        except BaseException:
            self._close()
            raise
        connection.notify("notifications/initialized")

    @property
    def pid(self) -> int:
        """The process id of the server."""
        return self._runner.connection.pid

    def session(self, name: Optional[str] = None) -> Session:
        """A session: scripts that share variables, functions, options and the working directory."""
        return Session(self._runner, name or f"session-{next(self._names)}")

    def tools(self) -> List[Tool]:
        """All tools that the server offers."""
        return self._runner.perform(operations.list_tools())

    def call(self, name: str, /, **arguments: Any) -> ToolResult:
        """Calls a tool. Raises ToolError if it fails."""
        return self._runner.perform(operations.call(name, arguments))

    def overlay(self, overlay_id: str) -> Overlay:
        """The overlay with this id."""
        return Overlay(self._runner, overlay_id)

    def overlays(self) -> List[Overlay]:
        """The overlays that this client opened and that still exist."""
        return [self.overlay(found) for found in self._runner.perform(operations.list_overlays())]

    def close(self) -> None:
        """Ends the server with everything it runs."""
        self._close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: Optional[Type[BaseException]], _: Optional[BaseException], __: Optional[TracebackType]) -> None:
        self.close()


def connect(
    options: Optional[ServerOptions],
    binary: Optional[StrPath],
    cwd: Optional[StrPath],
    env: Optional[Mapping[str, str]],
    overlay: Union[bool, StrPath, Sequence[StrPath], None],
    on_log: Optional[Callable[[str], None]],
) -> Connection:
    """Starts a server for a client."""
    options = options or ServerOptions()
    if overlay is not None:
        options = ServerOptions(**{**vars(options), "overlay": overlay})
    directory = None if cwd is None else os.fspath(cwd)
    if directory is not None and not os.path.isdir(directory):
        raise NotADirectoryError(f"'{directory}' is not a directory")
    return Connection(options.command(find_binary(binary)), cwd=directory, env=env, on_log=on_log)
