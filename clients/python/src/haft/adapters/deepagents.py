"""A backend for Deep Agents (package ``deepagents``) whose commands run under haft."""

from __future__ import annotations

import base64
import shlex
from typing import List, Optional, Tuple

from deepagents.backends.protocol import ExecuteResponse, FileDownloadResponse, FileUploadResponse
from deepagents.backends.sandbox import BaseSandbox

from ..client import Haft
from ..outcome import Outcome

DEFAULT_SECONDS = 120
# The words of Deep Agents for the messages of the system.
ERRORS = (
    ("No such file", "file_not_found"),
    ("Permission denied", "permission_denied"),
    ("Is a directory", "is_directory"),
)


class HaftBackend(BaseSandbox):
    """Runs the commands and file operations of an agent with a client: ``create_deep_agent(backend=HaftBackend(haft))``.

    Start the client with ``overlay=True`` to keep the real files as they are.
    """

    def __init__(self, haft: Haft) -> None:
        self._haft = haft

    @property
    def id(self) -> str:
        """The name of the backend."""
        return f"haft-{self._haft.pid}"

    def execute(self, command: str, *, timeout: Optional[int] = None) -> ExecuteResponse:
        """Runs a command with all its processes under supervision. A timeout of 0 means the longest time."""
        seconds = DEFAULT_SECONDS if timeout is None else timeout or None
        result = self._haft.run(command, timeout=seconds, merge=True)
        return ExecuteResponse(output=result.stdout, exit_code=result.status, truncated=result.truncated)

    def upload_files(self, files: List[Tuple[str, bytes]]) -> List[FileUploadResponse]:
        """Writes files."""
        return [FileUploadResponse(path=path, error=self._write(path, data)) for path, data in files]

    def download_files(self, paths: List[str]) -> List[FileDownloadResponse]:
        """Reads files of up to 8 MiB."""
        return [self._read(path) for path in paths]

    def _write(self, path: str, data: bytes) -> Optional[str]:
        name = shlex.quote(path)
        script = f'mkdir -p -- "$(dirname -- {name})" && base64 -d > {name}'
        return _error(self._haft.run(script, stdin=base64.b64encode(data).decode()))

    def _read(self, path: str) -> FileDownloadResponse:
        result = self._haft.run(f"cat < {shlex.quote(path)}")
        if error := _error(result):
            return FileDownloadResponse(path=path, error=error)
        return FileDownloadResponse(path=path, content=result.output_bytes())


def _error(result: Outcome) -> Optional[str]:
    """The error of a file operation, or ``None``."""
    if result.ok:
        return None
    return next((word for text, word in ERRORS if text in result.stderr), result.stderr.strip() or "failed")
