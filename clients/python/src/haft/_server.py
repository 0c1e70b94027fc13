"""The command line of the server."""

from __future__ import annotations

import os
from dataclasses import dataclass
from typing import List, Optional, Sequence, Union

StrPath = Union[str, "os.PathLike[str]"]


@dataclass(frozen=True)
class ServerOptions:
    """Options of ``haft mcp``, which hold for every call of a client."""

    overlay: Union[bool, StrPath, Sequence[StrPath]] = False
    """Run everything in one overlay: of the project, or of these directories."""
    overlay_name: Optional[str] = None
    """The name of that overlay."""
    overlay_commit: Optional[str] = None
    """Who may commit the overlays of single scripts: ``agent`` or ``person``."""
    env_allow: Sequence[str] = ()
    """Variables that look like keys, and that scripts receive nevertheless."""
    tools: Sequence[str] = ()
    """Further tools to offer, such as ``check`` and ``plan``; ``all`` offers every tool."""
    toolset: Optional[str] = None
    """Offer only the tools of this toolset, besides haft's own."""
    limit_memory: Optional[int] = None
    """Bytes of memory of each script and its programs."""
    limit_cpu: Optional[float] = None
    """Seconds of CPU time of each program."""
    limit_processes: Optional[int] = None
    """Processes and threads of each script at once."""
    limit_disk: Optional[int] = None
    """Bytes of changed files in an overlay."""
    arguments: Sequence[str] = ()
    """Further arguments of ``haft mcp``."""

    def command(self, binary: str) -> List[str]:
        """The command that starts the server."""
        command = [binary, "mcp", "--detail", "full", *self._overlays()]
        single = [
            ("--overlay-name", self.overlay_name),
            ("--overlay-commit", self.overlay_commit),
            ("--tools", ",".join(self.tools) or None),
            ("--toolset", self.toolset),
            ("--limit-memory", self.limit_memory),
            ("--limit-cpu", None if self.limit_cpu is None else f"{self.limit_cpu}s"),
            ("--limit-processes", self.limit_processes),
            ("--limit-disk", self.limit_disk),
        ]
        command += [f"{name}={value}" for name, value in single if value is not None]
        command += [f"--env-allow={name}" for name in self.env_allow]
        return [*command, *self.arguments]

    def _overlays(self) -> List[str]:
        if isinstance(self.overlay, bool):
            return ["--overlay"] if self.overlay else []
        if isinstance(self.overlay, (str, os.PathLike)):
            return [f"--overlay={os.fspath(self.overlay)}"]
        return [f"--overlay={os.fspath(place)}" for place in self.overlay]
