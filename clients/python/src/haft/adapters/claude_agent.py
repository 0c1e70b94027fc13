"""haft's tools for the Claude Agent SDK (package ``claude-agent-sdk``)."""

from __future__ import annotations

from typing import Any, Dict, Optional, Sequence

from claude_agent_sdk import McpSdkServerConfig, SdkMcpTool, create_sdk_mcp_server

from .._version import __version__
from ..client import Haft
from . import ModelTool, model_tools

SERVER = "haft"


def haft_server(haft: Haft, names: Optional[Sequence[str]] = None) -> McpSdkServerConfig:
    """The tools of a client for ``ClaudeAgentOptions(mcp_servers={"haft": …}, allowed_tools=["mcp__haft__run"])``."""
    return create_sdk_mcp_server(SERVER, __version__, [_tool(tool) for tool in model_tools(haft, names)])


def _tool(tool: ModelTool) -> SdkMcpTool[Any]:
    async def call(arguments: Dict[str, Any]) -> Dict[str, Any]:
        return {"content": [{"type": "text", "text": await tool.acall(arguments)}]}

    return SdkMcpTool(name=tool.name, description=tool.description, input_schema=tool.schema, handler=call)
