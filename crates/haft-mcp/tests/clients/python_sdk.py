"""Tests the server with the Python SDK (`pip install mcp`): python_sdk.py PATH-OF-HAFT"""

import asyncio
import sys

from mcp import ClientSession, StdioServerParameters
from mcp.client.stdio import stdio_client


async def main(haft: str) -> None:
    async with stdio_client(StdioServerParameters(command=haft, args=["mcp"])) as (read, write):
        async with ClientSession(read, write) as session:
            hello = await session.initialize()
            print("server:", hello)
            tools = await session.list_tools()
            print("tools:", [tool.name for tool in tools.tools])
            result = await session.call_tool("run", {"script": "echo hello; seq 3 | tail -n1"})
            assert result.content[0].text.startswith("hello\n3\n[exit 0"), result
            print(result.content[0].text, end="")
            lines = []

            async def progress(done, total, message):
                lines.append(message)

            result = await session.call_tool(
                "run", {"script": "echo working; sleep 2.5"}, progress_callback=progress
            )
            assert any("working" in line for line in lines), lines
            result = await session.call_tool("run", {"script": "sleep 60", "timeout": 0.5})
            assert "timed out" in result.content[0].text, result
            resources = await session.list_resources()
            print("resources:", len(resources.resources))
            prompts = await session.list_prompts()
            print("prompts:", len(prompts.prompts))
    print("python sdk: ok")


asyncio.run(main(sys.argv[1]))
