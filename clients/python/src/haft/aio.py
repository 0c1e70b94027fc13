"""The client for asyncio."""

from __future__ import annotations

import asyncio
import inspect
import itertools
import weakref
from types import TracebackType
from typing import (
    TYPE_CHECKING,
    Any,
    AsyncIterator,
    Callable,
    Dict,
    Generator,
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
from ._connection import PROTOCOL_VERSION, Connection
from ._jobs import JobCore, LineReader
from ._operations import DEFAULT_TIMEOUT, Answer, Operation, Request
from ._server import ServerOptions, StrPath
from ._version import __version__
from .client import connect
from .errors import ClientClosed, HaftError, ScriptError
from .outcome import Outcome
from .overlays import OverlayBase
from .types import Change, JobState, Line, Tool, ToolResult, Until

if TYPE_CHECKING:
    from typing_extensions import Self, Unpack

    from .types import JobOptions, RunOptions

T = TypeVar("T")


class AsyncResult(Outcome):
    """The result of a script that has ended."""

    def __init__(self, answer: Answer, runner: AsyncRunner) -> None:
        super().__init__(answer)
        self._runner = runner

    async def output(
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
        return await self._runner.perform(self._read(stream, view))

    async def output_bytes(self, stream: str = "stdout") -> bytes:
        """Reads the output as it was written, up to 8 MiB."""
        return await self._runner.perform(self._read_bytes(stream))

    @property
    def job(self) -> Optional[AsyncJob]:
        """The processes that the script left running in the background, if there are any."""
        return AsyncJob(self._runner, JobCore(Answer(self.text, self.data))) if "job" in self.data else None

    @property
    def overlay(self) -> Optional[AsyncOverlay]:
        """The overlay in which the script ran."""
        found = self.data.get("overlay")
        return AsyncOverlay(self._runner, found["id"]) if found else None


class AsyncJob:
    """A script that runs in the background. It ends with the client."""

    def __init__(self, runner: AsyncRunner, core: JobCore) -> None:
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

    async def wait(self, until: Optional[Until] = None, timeout: Optional[float] = None) -> JobState:
        """Waits for the first of the conditions, the end of the script, or the timeout. Returns the output since the last
        answer.
        """
        return await self._act(self._core.wait(until, timeout))

    async def result(self, timeout: Optional[float] = None) -> AsyncResult:
        """Waits for the end and returns the result with the whole output. Raises WaitTimeout if the script still runs."""
        return AsyncResult(await self._act(self._core.result(timeout)), self._runner)

    async def read(self) -> JobState:
        """Returns the output since the last answer, without waiting."""
        return await self._act(self._core.act("read"))

    async def write(self, text: str, until: Optional[Until] = None, timeout: Optional[float] = None) -> JobState:
        """Writes to standard input, and waits until the script waits for input again or is silent."""
        return await self._act(self._core.act("write", text=text, until=until, timeout=timeout))

    async def close_stdin(self) -> JobState:
        """Ends standard input."""
        return await self._act(self._core.act("close_stdin"))

    async def resize(self, columns: int, rows: int) -> None:
        """Changes the size of the terminal."""
        await self._act(self._core.act("resize", columns=columns, rows=rows))

    async def signal(self, name: str, until: Optional[Until] = None) -> JobState:
        """Sends a signal, such as ``"INT"``."""
        return await self._act(self._core.act("signal", signal=name, until=until))

    async def kill(self) -> JobState:
        """Ends the script with all its processes."""
        return await self._act(self._core.act("kill"))

    async def lines(self) -> AsyncIterator[Line]:
        """All lines of the output, from the first one to the end of the script, as they are written."""
        reader = LineReader(self._core, None)
        while lines := await self._act(reader.lines()):
            for line in lines:
                yield line

    async def _act(self, operation: Operation[T]) -> T:
        return await self._runner.perform(operation)

    def __repr__(self) -> str:
        return f"<AsyncJob {self.id} {'running' if self.running else 'ended'}>"


class AsyncLineStream:
    """The lines of a script while it runs. Leaving the ``async with`` block early ends the script."""

    def __init__(self, shell: _AsyncShell, script: str, options: JobOptions) -> None:
        self._shell, self._script, self._options = shell, script, options
        self._reader: Optional[LineReader] = None
        self._lines: List[Line] = []

    async def __aenter__(self) -> Self:
        await self._start()
        return self

    async def __aexit__(
        self, kind: Optional[Type[BaseException]], _: Optional[BaseException], __: Optional[TracebackType]
    ) -> None:
        await self.aclose()

    async def job(self) -> AsyncJob:
        """The job, for example to write to it."""
        return AsyncJob(self._shell._runner, (await self._start()).core)

    def __aiter__(self) -> AsyncLineStream:
        return self

    async def __anext__(self) -> Line:
        if not self._lines:
            reader = await self._start()
            try:
                self._lines = (await self._shell._runner.perform(reader.lines()))[::-1]
            except BaseException:
                self._shell._runner.post(reader.core.act("kill"))
                raise
        if not self._lines:
            raise StopAsyncIteration
        return self._lines.pop()

    async def _start(self) -> LineReader:
        if self._reader is None:
            timeout = self._options.pop("timeout", DEFAULT_TIMEOUT)
            job = await self._shell.start(self._script, **self._options)
            self._reader = LineReader(job._core, timeout)
        return self._reader

    async def aclose(self) -> None:
        """Ends the script if it still runs."""
        if self._reader and self._reader.core.is_running:
            await self._shell._runner.perform(self._reader.core.act("kill"))

    async def result(self) -> AsyncResult:
        """The result, after the end of the script."""
        if self._reader is None or self._reader.core.is_running:
            raise HaftError("the script still runs\nhint: read all lines first")
        runner = self._shell._runner
        return AsyncResult(await runner.perform(self._reader.core.result()), runner)


class AsyncOverlay(OverlayBase):
    """A copy-on-write view of the project, in which scripts can run."""

    def __init__(self, runner: AsyncRunner, overlay_id: str) -> None:
        super().__init__(overlay_id)
        self._runner = runner

    async def changes(self, *paths: str) -> List[Change]:
        """The changed paths: all, or those in ``paths``."""
        return await self._runner.perform(operations.show_changes(self.id, paths))

    async def diff(self, *paths: str) -> str:
        """The changes as a patch."""
        return await self._runner.perform(operations.diff(self.id, paths))

    async def commit(self, *paths: str, force: bool = False) -> int:
        """Writes the changes to the real files and returns their number."""
        return await self._runner.perform(operations.change_files("commit", self.id, paths, force))

    async def undo(self, *, force: bool = False) -> int:
        """Takes the last commit back."""
        return await self._runner.perform(operations.change_files("undo", self.id, (), force))

    async def discard(self) -> None:
        """Throws the changes away."""
        await self._runner.perform(operations.changes("discard", self.id))


class AsyncRunner:
    """Performs operations on a connection, which exists after the start."""

    def __init__(self) -> None:
        self.connection: Optional[Connection] = None

    def connected(self) -> Connection:
        """The connection."""
        if self.connection is None:
            raise ClientClosed("the client has not started\nhint: use it in an 'async with' block")
        return self.connection

    async def perform(self, operation: Generator[Request, Dict[str, Any], T]) -> T:
        """Performs an operation. Cancelling the task cancels its request."""
        try:
            request = next(operation)
            while True:
                try:
                    reply = await self._request(request)
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
        if request is not None and self.connection:
            try:
                self.connection.submit(self.connection.next_id(), *request)
            except HaftError:
                pass  # Everything ends with the server.

    async def _request(self, request: Request) -> Dict[str, Any]:
        connection = self.connected()
        request_id = connection.next_id()
        try:
            return await asyncio.wrap_future(connection.submit(request_id, *request))
        except HaftError:
            raise
        except BaseException:
            connection.cancel(request_id)
            raise


class _AsyncShell:
    """Runs scripts: a client, or a session of it."""

    _runner: AsyncRunner
    _session: Optional[str] = None

    async def run(
        self,
        script: str,
        *,
        check: bool = False,
        on_line: Optional[Callable[[Line], object]] = None,
        **options: Unpack[RunOptions],
    ) -> AsyncResult:
        """Runs a script and returns its result. ``on_line`` is called, and awaited if it is a coroutine function, with every
        line of output while the script runs; if it raises an exception, the script is ended. With ``check``, a failed script
        raises ScriptError.
        """
        if on_line is None:
            answer = await self._runner.perform(operations.run(script, options, self._session))
            result = AsyncResult(answer, self._runner)
        else:
            async with self.stream(script, **options) as lines:
                async for line in lines:
                    returned = on_line(line)
                    if inspect.isawaitable(returned):
                        await returned
                result = await lines.result()
        if check and not result.ok:
            raise ScriptError(result)
        return result

    async def start(self, script: str, *, until: Optional[Until] = None, **options: Unpack[JobOptions]) -> AsyncJob:
        """Starts a script in the background. With ``until`` or ``timeout``, waits until a condition is met, the script ends or
        the timeout passes. The script continues in any case.
        """
        arguments = operations.start_arguments(script, until, options, self._session)
        return AsyncJob(self._runner, JobCore(await self._runner.perform(operations.call_for_answer("run", arguments))))

    def stream(self, script: str, **options: Unpack[JobOptions]) -> AsyncLineStream:
        """Runs a script and iterates over its lines of output: ``async with haft.stream("make") as lines: …``."""
        return AsyncLineStream(self, script, options)


class AsyncSession(_AsyncShell):
    """Scripts that share variables, functions, options and the working directory."""

    def __init__(self, runner: AsyncRunner, name: str) -> None:
        self._runner, self._session = runner, name

    @property
    def name(self) -> str:
        """The name of the session."""
        return self._session or ""

    async def aclose(self) -> None:
        """Ends the session."""
        await self._runner.perform(operations.end_session(self.name))

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: Optional[Type[BaseException]], _: Optional[BaseException], __: Optional[TracebackType]
    ) -> None:
        await self.aclose()


class AsyncHaft(_AsyncShell):
    """A running haft for asyncio. Any number of tasks may use it at the same time."""

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
        """Takes the same options as :class:`haft.Haft`. ``haft mcp`` starts with the ``async with`` block."""
        self._connect: Callable[[], Connection] = lambda: connect(options, binary, cwd, env, overlay, on_log)
        self._runner = AsyncRunner()
        self._close: Callable[[], object] = lambda: None
        self._names = itertools.count(1)

    async def start_server(self) -> Self:
        """Starts the server, if no ``async with`` block does."""
        connection = self._runner.connection = self._connect()
        self._close = weakref.finalize(self, connection.close)
        try:
            await self._runner.perform(operations.initialize(PROTOCOL_VERSION, __version__))
        except BaseException:
            await self.aclose()
            raise
        connection.notify("notifications/initialized")
        return self

    @property
    def pid(self) -> int:
        """The process id of the server."""
        return self._runner.connected().pid

    def session(self, name: Optional[str] = None) -> AsyncSession:
        """A session: scripts that share variables, functions, options and the working directory."""
        return AsyncSession(self._runner, name or f"session-{next(self._names)}")

    async def tools(self) -> List[Tool]:
        """All tools that the server offers."""
        return await self._runner.perform(operations.list_tools())

    async def call(self, name: str, /, **arguments: Any) -> ToolResult:
        """Calls a tool. Raises ToolError if it fails."""
        return await self._runner.perform(operations.call(name, arguments))

    def overlay(self, overlay_id: str) -> AsyncOverlay:
        """The overlay with this id."""
        return AsyncOverlay(self._runner, overlay_id)

    async def overlays(self) -> List[AsyncOverlay]:
        """The overlays that this client opened and that still exist."""
        return [self.overlay(found) for found in await self._runner.perform(operations.list_overlays())]

    async def aclose(self) -> None:
        """Ends the server with everything it runs."""
        await asyncio.get_running_loop().run_in_executor(None, self._close)

    async def __aenter__(self) -> Self:
        return await self.start_server()

    async def __aexit__(
        self, kind: Optional[Type[BaseException]], _: Optional[BaseException], __: Optional[TracebackType]
    ) -> None:
        await self.aclose()
