"""haft's tools for Pydantic AI (package ``pydantic-ai``)."""

from __future__ import annotations

from typing import Any, Optional, Sequence

from pydantic_ai import Tool
from pydantic_ai.toolsets import FunctionToolset

from ..client import Haft
from . import ModelTool, model_tools


def haft_toolset(haft: Haft, names: Optional[Sequence[str]] = None) -> FunctionToolset[Any]:
    """The tools of a client for ``Agent(toolsets=[…])``: all, or those with these names."""
    return FunctionToolset([_tool(tool) for tool in model_tools(haft, names)])


def _tool(tool: ModelTool) -> Tool[Any]:
    async def call(**arguments: Any) -> str:
        return await tool.acall(arguments)

    return Tool.from_schema(call, tool.name, tool.description, tool.schema)
