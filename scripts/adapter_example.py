"""Runs the example of an adapter against a model on loopback. usage: adapter_example.py COMMAND [ARGUMENT]...

Appends the address of the model to the command. Fails unless the model received what haft's tool returned.
"""
import subprocess
import sys

from fake_model import TEXT, FakeModel

SECONDS = 120

model = FakeModel()
finished = subprocess.run([*sys.argv[1:], model.url], capture_output=True, text=True, timeout=SECONDS)
if finished.returncode != 0 or TEXT not in finished.stdout or not model.tool_result_arrived():
    sys.exit(f"status {finished.returncode}, {len(model.requests)} requests\n{finished.stdout}{finished.stderr}")
