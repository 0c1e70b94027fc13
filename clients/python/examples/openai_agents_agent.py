"""An agent of the OpenAI Agents SDK that works with haft. usage: openai_agents_agent.py URL"""

import asyncio
import sys

from agents import Agent, OpenAIChatCompletionsModel, Runner, set_tracing_disabled
from haft import Haft
from haft.adapters.openai_agents import haft_tools
from openai import AsyncOpenAI


async def main(url: str) -> None:
    set_tracing_disabled(True)
    model = OpenAIChatCompletionsModel("fake", AsyncOpenAI(base_url=f"{url}/v1", api_key="none"))
    with Haft() as haft:
        agent = Agent(name="worker", model=model, tools=haft_tools(haft, ["run", "job", "output"]))
        print((await Runner.run(agent, "Do the work.")).final_output)


asyncio.run(main(sys.argv[1]))
