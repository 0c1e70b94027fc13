"""Jobs and their lines of output: the part that both clients share."""

from __future__ import annotations

import time
from typing import Any, Dict, List, Mapping, Optional, Set

from . import _operations as operations
from ._lines import LAST_LINE, split_part
from ._operations import MAX_TIMEOUT, MAX_VIEW_BYTES, Answer, Operation
from .errors import ToolError, WaitTimeout
from .outcome import STREAMS, text_of
from .types import JobState, Line, Until

# How long one wait for a new line may take. Another caller of the job may have received the line that it waits for.
LINE_WAIT_SECONDS = 1.0
SHORT_VIEW = {"bytes": 1}
TIMEOUT_STATUS = 124


class JobCore:
    """What is known about a job, and the actions on it."""

    def __init__(self, answer: Answer) -> None:
        self.id: Optional[str] = None
        self.streams: Dict[str, Dict[str, Any]] = {}
        self.final: Optional[Answer] = None
        # The streams of which the final answer has only a part.
        self._partial: Set[str] = set()
        self._is_known_to_server = True
        self.state = self.absorb(answer)

    @property
    def is_running(self) -> bool:
        """Whether the script still runs, as far as is known."""
        return self.final is None

    def absorb(self, answer: Answer, is_short: bool = False) -> JobState:
        """Takes what an answer tells about the job."""
        data = answer.data
        self.id = data.get("job", self.id)
        earlier = {name for name, stream in self.streams.items() if stream["total_bytes"]}
        self.streams = {name: data[name] for name in STREAMS if data.get(name)}
        self._is_known_to_server = "job" in data
        if not answer.is_running and self.final is None:
            self.final = answer
            self._partial = set(self.streams) if is_short else earlier
        return _state(answer)

    def act(self, action: str, *, view: Optional[Mapping[str, Any]] = None, **arguments: Any) -> Operation[JobState]:
        """Performs an action."""
        if not self._is_known_to_server:
            return self._last_state()
        given = {"action": action, "id": self.id, "view": view or {"bytes": MAX_VIEW_BYTES}, **arguments}
        try:
            answer = yield from operations.call_for_answer("job", given)
        except ToolError:
            # The answer to another caller was the last one.
            if not self._is_known_to_server:
                return self._last_state()
            raise
        return self.absorb(answer, is_short=view is SHORT_VIEW)

    def wait(self, until: Optional[Until], timeout: Optional[float]) -> Operation[JobState]:
        """Waits for a condition or the end."""
        seconds = MAX_TIMEOUT if timeout is None else timeout
        return (yield from self.act("wait", until=until, timeout=seconds))

    def result(self, timeout: Optional[float] = None) -> Operation[Answer]:
        """Waits for the end. The answer has the whole output."""
        if self.final is None:
            yield from self.wait(None, timeout)
        if self.final is None:
            raise WaitTimeout(f"job '{self.id}' still runs after {timeout} s")
        for name in sorted(self._partial):
            stream = self.final.data[name]
            if stream["total_bytes"]:
                self.final.data[name] = yield from operations.output(stream["id"], {})
        self._partial = set()
        return self.final

    def _last_state(self) -> JobState:
        assert self.final is not None
        return JobState("", "", False, None, False, "", self.final.data)


def _state(answer: Answer) -> JobState:
    data = answer.data
    return JobState(
        stdout=text_of(data, "output") if "output" in data else text_of(data, "stdout"),
        stderr=text_of(data, "stderr"),
        running=answer.is_running,
        met=data.get("met"),
        needs_input=bool(data.get("needs_input")),
        text=answer.text,
        data=data,
    )


class LineReader:
    """Reads the output of a job line by line, without loss."""

    def __init__(self, core: JobCore, timeout: Optional[float]) -> None:
        self.core = core
        self.timed_out = False
        self._deadline = None if timeout is None else time.monotonic() + timeout
        self._next_line: Dict[str, int] = {}
        # The number of bytes of each stream when it was last read to its end.
        self._read_bytes: Dict[str, int] = {}

    def lines(self) -> Operation[List[Line]]:
        """Waits for the next lines. The list is empty at the end."""
        while True:
            is_last = not self.core.is_running
            lines: List[Line] = []
            for name in list(self.core.streams):
                lines += yield from self._new_lines(name, is_last)
            if lines or is_last:
                return lines
            yield from self._wait()

    def _wait(self) -> Operation[None]:
        seconds = LINE_WAIT_SECONDS
        if self._deadline is not None:
            seconds = min(seconds, self._deadline - time.monotonic())
        if seconds > 0:
            yield from self.core.act("wait", until={"pattern": "\n"}, timeout=seconds, view=SHORT_VIEW)
        else:
            yield from self._time_out()

    def _time_out(self) -> Operation[None]:
        yield from self.core.act("kill", view=SHORT_VIEW)
        self.timed_out = True
        if self.core.final and self.core.final.data["status"]["cancelled"]:
            status = self.core.final.data["status"]
            status.update(code=TIMEOUT_STATUS, timed_out=True, cancelled=False)

    def _new_lines(self, name: str, is_last: bool) -> Operation[List[Line]]:
        stream = self.core.streams[name]
        first = self._next_line.get(name, 1)
        is_unchanged = stream["total_bytes"] == self._read_bytes.get(name, 0)
        if stream["total_lines"] < first or (is_unchanged and not is_last):
            return []
        part = yield from operations.output(stream["id"], {"lines": [first, LAST_LINE]})
        texts, self._next_line[name], is_cut = split_part(part, first, is_last)
        self._read_bytes[name] = 0 if is_cut else part["total_bytes"]
        return [Line(text, name) for text in texts]
