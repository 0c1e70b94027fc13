"""An agent of Deep Agents whose commands run under haft. usage: deepagents_agent.py URL"""

import sys

from deepagents import create_deep_agent
from haft import Haft
from haft.adapters.deepagents import HaftBackend
from langchain_openai import ChatOpenAI

model = ChatOpenAI(model="fake", base_url=f"{sys.argv[1]}/v1", api_key="none")
with Haft() as haft:
    agent = create_deep_agent(model, backend=HaftBackend(haft))
    print(agent.invoke({"messages": [("user", "Do the work.")]})["messages"][-1].content)
