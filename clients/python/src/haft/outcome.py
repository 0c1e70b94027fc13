"""The result of a script: the part that both clients share."""

from __future__ import annotations

import base64
from typing import Any, Dict, Optional, Tuple

from . import _operations as operations
from ._operations import Answer, Operation
from .errors import HaftError
from .types import Stage

STREAMS = ("stdout", "stderr", "output", "late")


def text_of(data: Dict[str, Any], stream: str) -> str:
    """The text of a stream, or nothing."""
    text: str = (data.get(stream) or {}).get("text", "")
    return text


class Outcome:
    """The result of a script that has ended."""

    def __init__(self, answer: Answer) -> None:
        data = answer.data
        status = data["status"]
        self.status: int = status["code"]
        """The exit status: 128 plus the signal's number after a signal, 124 after a timeout."""
        self.signal: Optional[str] = status["signal"]
        """The signal that ended the script, such as ``SIGKILL``."""
        self.timed_out: bool = status["timed_out"]
        self.cancelled: bool = status["cancelled"]
        self.stdout: str = text_of(data, "output") if "output" in data else text_of(data, "stdout")
        """Standard output as a terminal would show it; both streams if they were merged."""
        self.stderr: str = text_of(data, "stderr")
        self.truncated: bool = any((data.get(stream) or {}).get("truncated") for stream in STREAMS)
        """Whether a part of ``stdout`` or ``stderr`` is left out. ``output()`` and ``output_bytes()`` have it."""
        self.stages: Tuple[Stage, ...] = tuple(Stage.parse(stage) for stage in data["stages"])
        """The commands of the script's pipelines, each with its own status."""
        self.duration: float = data["duration"]
        """Seconds."""
        self.cwd: Optional[str] = data.get("cwd")
        """The working directory at the end."""
        self.text: str = answer.text
        """The result as a model sees it: output, then one line of facts."""
        self.data: Dict[str, Any] = data
        """The whole structured content."""

    @property
    def ok(self) -> bool:
        """Whether the exit status is 0."""
        return self.status == 0

    def __repr__(self) -> str:
        return f"<{type(self).__name__} status={self.status} stdout={self.stdout[:80]!r}>"

    def _output_id(self, stream: str) -> Optional[str]:
        """The id of a stream that is not empty."""
        found = self.data.get("output" if stream == "stdout" and "output" in self.data else stream)
        if found is None and stream not in STREAMS:
            raise HaftError(f"unknown stream '{stream}' (expected stdout or stderr)")
        return found["id"] if found and found["total_bytes"] else None

    def _read(self, stream: str, view: Dict[str, Any]) -> Operation[str]:
        output_id = self._output_id(stream)
        if output_id is None:
            return ""
        text: str = (yield from operations.output(output_id, view))["text"]
        return text

    def _read_bytes(self, stream: str) -> Operation[bytes]:
        output_id = self._output_id(stream)
        if output_id is None:
            return b""
        contents = yield from operations.read_resource(f"haft://output/{output_id}")
        omitted = contents.get("_meta", {}).get("haft/omitted_bytes", 0)
        if omitted:
            total = contents["_meta"]["haft/total_bytes"]
            raise HaftError(f"the output of {total} bytes is too long to read at once\nhint: read parts of it with output()")
        if "blob" in contents:
            return base64.b64decode(contents["blob"])
        return str(contents["text"]).encode()
