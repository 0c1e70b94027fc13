"""The data that calls take and return."""

from __future__ import annotations

import os
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Dict, List, Mapping, Optional, Tuple, TypedDict, Union

if TYPE_CHECKING:
    from .overlays import OverlayBase


class Until(TypedDict, total=False):
    """Conditions to wait for. The first one that is met ends the wait."""

    pattern: str
    """A regular expression that new output matches."""
    quiet: float
    """Seconds without output."""
    port: Union[int, str]
    """A process of the script listens on this TCP port: ``8080`` or ``"host:8080"``."""
    file: str
    """This file exists."""
    input: bool
    """A process waits for input."""


class Limits(TypedDict, total=False):
    """Limits of a script with its programs."""

    memory: int
    """Bytes of memory."""
    cpu: float
    """Seconds of CPU time of each program."""
    processes: int
    """Processes and threads at once."""
    disk: int
    """Bytes of changed files in the overlay."""
    output: int
    """Bytes of each output to store."""
    strict: bool
    """Refuse to start if the kernel cannot enforce a limit."""


class RunOptions(TypedDict, total=False):
    """Options of a script."""

    timeout: Optional[float]
    """Seconds until the script is ended; 120 by default. ``None`` means the longest time, one day."""
    cwd: Union[str, os.PathLike[str]]
    """The working directory."""
    env: Mapping[str, str]
    """Additional environment variables."""
    stdin: str
    """Text for standard input, which is empty by default."""
    merge: bool
    """Merge standard error into ``stdout``, in the order of writing."""
    pty: bool
    """Run on a terminal. Implies ``merge``."""
    overlay: Union[bool, str, OverlayBase]
    """``True``: change only copies of the project's files. An overlay: continue in it."""
    limits: Limits
    """Limits of the script with its programs."""


class JobOptions(RunOptions, total=False):
    """Options of a job."""

    interactive: bool
    """Keep standard input open for ``write``."""


@dataclass(frozen=True)
class Stage:
    """One command of a pipeline."""

    argv: Tuple[str, ...]
    kind: str
    """``builtin``, ``external``, ``function``, ``assignment`` and others."""
    status: int
    signal: Optional[str]
    pipeline: int
    """The number of the pipeline, from 0."""
    duration: float
    """Seconds."""
    bytes_out: Optional[int]
    """How much it wrote to standard output, if that is known."""

    @classmethod
    def parse(cls, data: Mapping[str, Any]) -> Stage:
        """Reads a stage of the structured content."""
        status = data["status"]
        return cls(
            argv=tuple(data["argv"]),
            kind=data["kind"],
            status=status["code"],
            signal=status["signal"],
            pipeline=data["pipeline"],
            duration=data["wall"],
            bytes_out=data.get("bytes_out"),
        )


@dataclass(frozen=True)
class Line:
    """A line of output, without its end."""

    text: str
    stream: str
    """``stdout`` or ``stderr``; ``output`` if they are merged; ``late`` for output that a substitution left behind."""

    def __str__(self) -> str:
        return self.text


@dataclass(frozen=True)
class JobState:
    """The answer to an action on a job."""

    stdout: str
    """Output since the previous answer; both streams if they are merged."""
    stderr: str
    running: bool
    """Whether the script still runs."""
    met: Optional[str]
    """The condition that was met."""
    needs_input: bool
    """Whether a process waits for input."""
    text: str
    """The answer as a model sees it."""
    data: Mapping[str, Any]
    """The whole structured content."""


@dataclass(frozen=True)
class Tool:
    """A tool that the server offers."""

    name: str
    description: str
    input_schema: Dict[str, Any]
    output_schema: Optional[Dict[str, Any]]


@dataclass(frozen=True)
class ToolResult:
    """The result of a tool."""

    text: str
    data: Any
    """The structured content, or ``None``."""
    content: List[Dict[str, Any]]
    """All content blocks, such as text and images."""


@dataclass(frozen=True)
class Change:
    """A changed path of an overlay."""

    path: str
    kind: str
    """``added``, ``modified``, ``attributes``, ``deleted`` or ``renamed``."""
    data: Mapping[str, Any]
    """Everything that is known about it."""
