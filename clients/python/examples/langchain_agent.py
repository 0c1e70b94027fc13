"""An agent of LangChain that works with haft. usage: langchain_agent.py URL"""

import sys

from haft import Haft
from haft.adapters.langchain import haft_tools
from langchain.agents import create_agent
from langchain_openai import ChatOpenAI

model = ChatOpenAI(model="fake", base_url=f"{sys.argv[1]}/v1", api_key="none")
with Haft() as haft:
    agent = create_agent(model, haft_tools(haft, ["run", "job", "output"]))
    print(agent.invoke({"messages": [("user", "Do the work.")]})["messages"][-1].content)
