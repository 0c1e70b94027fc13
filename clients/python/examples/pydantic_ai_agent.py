"""An agent of Pydantic AI that works with haft. usage: pydantic_ai_agent.py URL"""

import sys

from haft import Haft
from haft.adapters.pydantic_ai import haft_toolset
from pydantic_ai import Agent
from pydantic_ai.models.openai import OpenAIChatModel
from pydantic_ai.providers.openai import OpenAIProvider

model = OpenAIChatModel("fake", provider=OpenAIProvider(base_url=f"{sys.argv[1]}/v1", api_key="none"))
with Haft() as haft:
    agent = Agent(model, toolsets=[haft_toolset(haft, ["run", "job", "output"])])
    print(agent.run_sync("Do the work.").output)
