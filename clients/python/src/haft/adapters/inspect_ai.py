"""A sandbox for Inspect (package ``inspect-ai``) whose commands run under haft.

``Task(sandbox="haft")`` gives each sample a directory of its own. haft ends all processes of a sample with it. Its scripts run as
the user of the evaluation and can reach other files: this sandbox contains processes, not hostile code.
"""

from __future__ import annotations

import shlex
import tempfile
from pathlib import Path
from typing import Any, Dict, List, Literal, Optional, Union, overload

from inspect_ai.util import ExecResult, SandboxEnvironment, sandboxenv

from ..client import Haft
from ..outcome import Outcome
from . import run_async


@sandboxenv(name="haft")
class HaftSandboxEnvironment(SandboxEnvironment):
    """The sandbox of one sample."""

    def __init__(self) -> None:
        self._directory = tempfile.TemporaryDirectory(prefix="haft-")
        self._haft = Haft(cwd=self._directory.name)

    @classmethod
    async def sample_init(cls, task_name: str, config: Any, metadata: Dict[str, str]) -> Dict[str, SandboxEnvironment]:
        """Starts the sandbox of a sample."""
        return {"default": cls()}

    @classmethod
    async def sample_cleanup(
        cls, task_name: str, config: Any, environments: Dict[str, SandboxEnvironment], interrupted: bool
    ) -> None:
        """Ends all processes of a sample and removes its files."""
        for environment in environments.values():
            if isinstance(environment, HaftSandboxEnvironment):
                environment._haft.close()
                environment._directory.cleanup()

    async def exec(
        self,
        cmd: List[str],
        input: Union[str, bytes, None] = None,
        cwd: Optional[str] = None,
        env: Optional[Dict[str, str]] = None,
        user: Optional[str] = None,
        timeout: Optional[int] = None,
        timeout_retry: bool = True,
        concurrency: bool = True,
        **_: Any,
    ) -> ExecResult[str]:
        """Runs a command."""
        if user is not None:
            raise NotImplementedError("this sandbox cannot change the user")
        options: Dict[str, Any] = {"timeout": timeout, "env": env or {}}
        if cwd is not None:
            options["cwd"] = str(self._path(cwd))
        if input is not None:
            options["stdin"] = input if isinstance(input, str) else input.decode()
        result: Outcome = await run_async(self._haft, shlex.join(cmd), options)
        if result.timed_out:
            raise TimeoutError(f"'{shlex.join(cmd)}' timed out")
        return ExecResult(result.ok, result.status, result.stdout, result.stderr)

    async def write_file(self, file: str, contents: Union[str, bytes]) -> None:
        """Writes a file."""
        path = self._path(file)
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(contents.encode() if isinstance(contents, str) else contents)

    @overload
    async def read_file(self, file: str, text: Literal[True] = True) -> str: ...

    @overload
    async def read_file(self, file: str, text: Literal[False]) -> bytes: ...

    async def read_file(self, file: str, text: bool = True) -> Union[str, bytes]:
        """Reads a file."""
        data = self._path(file).read_bytes()
        return data.decode() if text else data

    def _path(self, file: str) -> Path:
        return Path(self._directory.name, file)
