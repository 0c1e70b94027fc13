"""Calls `haft mcp` through the official Python SDK. usage: sdk_client.py HAFT"""

import asyncio
import sys

from mcp import ClientSession, StdioServerParameters
from mcp.client.stdio import stdio_client


def text_of(result):
    return "".join(block.text for block in result.content if block.type == "text")


async def main(haft):
    progress = []

    async def on_progress(done, total, message):
        progress.append(message)

    async with stdio_client(StdioServerParameters(command=haft, args=["mcp"])) as (reader, writer):
        async with ClientSession(reader, writer) as session:
            await session.initialize()
            names = [tool.name for tool in (await session.list_tools()).tools]
            assert names[:3] == ["run", "job", "output"], names
            result = await session.call_tool("run", {"script": "echo $((6 * 7)); sleep 3"}, progress_callback=on_progress)
            assert text_of(result).startswith("42\n[exit 0"), result
            assert progress, "no progress"
            full = await session.call_tool("run", {"script": "exit 3", "detail": "full"})
            data = getattr(full, "structuredContent", None) or getattr(full, "structured_content", None)
            assert data["status"]["code"] == 3, full
            failed = await session.call_tool("run", {})
            assert getattr(failed, "isError", None) or getattr(failed, "is_error", None), failed
            resources = (await session.list_resources()).resources
            contents = (await session.read_resource(resources[0].uri)).contents
            assert contents, resources
            await session.list_prompts()
    print("python: ok")


asyncio.run(main(sys.argv[1]))
