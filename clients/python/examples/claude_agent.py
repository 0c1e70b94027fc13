"""An agent of the Claude Agent SDK that works with haft. usage: claude_agent.py URL"""

import asyncio
import sys
import tempfile

from claude_agent_sdk import ClaudeAgentOptions, ResultMessage, query
from haft import Haft
from haft.adapters.claude_agent import haft_server


async def main(url: str) -> None:
    with Haft() as haft, tempfile.TemporaryDirectory() as home:
        options = ClaudeAgentOptions(
            mcp_servers={"haft": haft_server(haft, ["run", "job", "output"])},
            allowed_tools=["mcp__haft__run", "mcp__haft__job", "mcp__haft__output"],
            tools=[],  # no tools but those of haft
            setting_sources=[],
            env={"ANTHROPIC_BASE_URL": url, "ANTHROPIC_API_KEY": "none", "CLAUDE_CONFIG_DIR": home},
        )
        async for message in query(prompt="Do the work.", options=options):
            if isinstance(message, ResultMessage):
                print(message.result)


asyncio.run(main(sys.argv[1]))
