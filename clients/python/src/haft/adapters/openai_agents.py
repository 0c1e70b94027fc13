"""haft's tools for the OpenAI Agents SDK (package ``openai-agents``)."""

from __future__ import annotations

import json
from typing import Any, List, Optional, Sequence

from agents import FunctionTool, Tool

from ..client import Haft
from . import ModelTool, model_tools


def haft_tools(haft: Haft, names: Optional[Sequence[str]] = None) -> List[Tool]:
    """The tools of a client for ``Agent(tools=…)``: all, or those with these names."""
    return [_function_tool(tool) for tool in model_tools(haft, names)]


def _function_tool(tool: ModelTool) -> FunctionTool:
    async def invoke(_: Any, arguments: str) -> str:
        return await tool.acall(json.loads(arguments or "{}"))

    return FunctionTool(
        name=tool.name,
        description=tool.description,
        params_json_schema=tool.schema,
        on_invoke_tool=invoke,
        strict_json_schema=False,
    )
