"""haft's tools for LangChain and LangGraph (package ``langchain-core``)."""

from __future__ import annotations

from typing import Any, List, Optional, Sequence

from langchain_core.tools import BaseTool, StructuredTool

from ..client import Haft
from . import ModelTool, model_tools


def haft_tools(haft: Haft, names: Optional[Sequence[str]] = None) -> List[BaseTool]:
    """The tools of a client for ``create_agent(tools=…)``: all, or those with these names."""
    return [_structured_tool(tool) for tool in model_tools(haft, names)]


def _structured_tool(tool: ModelTool) -> StructuredTool:
    def call(**arguments: Any) -> str:
        return tool.call(arguments)

    async def acall(**arguments: Any) -> str:
        return await tool.acall(arguments)

    return StructuredTool.from_function(
        call, acall, name=tool.name, description=tool.description, args_schema=tool.schema, infer_schema=False
    )
