"""An evaluation of Inspect whose sandbox is haft. usage: inspect_ai_task.py URL"""

import sys
import tempfile

import haft.adapters.inspect_ai  # defines the sandbox "haft"
from inspect_ai import Task, eval
from inspect_ai.dataset import Sample
from inspect_ai.model import get_model
from inspect_ai.scorer import includes
from inspect_ai.solver import generate, use_tools
from inspect_ai.tool import Tool, tool
from inspect_ai.util import sandbox


@tool
def run() -> Tool:
    async def execute(script: str) -> str:
        """Run a bash script.

        Args:
            script: The script.
        """
        return (await sandbox().exec(["bash", "-c", script])).stdout

    return execute


model = get_model("openai-api/example/fake", base_url=f"{sys.argv[1]}/v1", api_key="none")
samples = [Sample("Do the work.", target="done")]
task = Task(samples, solver=[use_tools(run()), generate()], scorer=includes(), sandbox="haft")
with tempfile.TemporaryDirectory() as logs:
    [log] = eval(task, model, log_dir=logs, display="none")
    assert log.status == "success" and log.samples, log.error
    print(log.samples[0].output.completion)
