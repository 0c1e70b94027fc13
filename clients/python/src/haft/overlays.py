"""The part of overlays that both clients share."""

from __future__ import annotations


class OverlayBase:
    """A copy-on-write view of the project, in which scripts can run."""

    def __init__(self, overlay_id: str) -> None:
        self.id = overlay_id
        """The id, also for ``haft changes``."""

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.id!r})"
