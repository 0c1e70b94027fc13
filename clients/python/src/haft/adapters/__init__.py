"""haft's tools for agent frameworks, one module each. Each module needs the package of its framework."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Dict, List, Mapping, Optional, Sequence

from .. import _operations as operations
from ..aio import AsyncRunner
from ..client import Haft
from ..errors import ToolError
from ..outcome import Outcome


@dataclass(frozen=True)
class ModelTool:
    """A tool as a model sees it: a schema, and a text as its result. Errors of the tool are texts too."""

    haft: Haft
    name: str
    description: str
    schema: Dict[str, Any]

    def call(self, arguments: Mapping[str, Any]) -> str:
        """Calls the tool."""
        try:
            return self.haft.call(self.name, **arguments).text
        except ToolError as error:
            return str(error)

    async def acall(self, arguments: Mapping[str, Any]) -> str:
        """Calls the tool. Cancelling the task ends what the tool runs."""
        runner = AsyncRunner()
        runner.connection = self.haft._runner.connection
        try:
            return (await runner.perform(operations.call(self.name, arguments))).text
        except ToolError as error:
            return str(error)


def model_tools(haft: Haft, names: Optional[Sequence[str]] = None) -> List[ModelTool]:
    """The tools of a client: all, or those with these names."""
    tools = [tool for tool in haft.tools() if names is None or tool.name in names]
    return [ModelTool(haft, tool.name, tool.description, tool.input_schema) for tool in tools]


async def run_async(haft: Haft, script: str, options: Mapping[str, Any]) -> Outcome:
    """Runs a script of a synchronous client. Cancelling the task ends it."""
    runner = AsyncRunner()
    runner.connection = haft._runner.connection
    return Outcome(await runner.perform(operations.run(script, options, None)))
