"""Compares calls of the Python client with `subprocess.run` and with the bare protocol, in one run. usage: latency.py [CALLS]"""

import asyncio
import json
import statistics
import subprocess
import sys
import time

from haft import AsyncHaft, Haft, find_binary
from haft._connection import PROTOCOL_VERSION

CALLS = int(sys.argv[1]) if len(sys.argv) > 1 else 300
COMMANDS = "for ((i = 0; i < 1000; i++)); do true; done"


def median_ms(action):
    """The median time of a call, in milliseconds."""
    times = []
    for _ in range(CALLS):
        start = time.perf_counter()
        action()
        times.append(time.perf_counter() - start)
    return statistics.median(times) * 1000


class BareServer:
    """`haft mcp` without a client: a pipe, and one line per message."""

    def __init__(self):
        command = [find_binary(), "mcp", "--detail", "full"]
        self.process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
        info = {"name": "bench", "version": "1"}
        self.request("initialize", {"protocolVersion": PROTOCOL_VERSION, "capabilities": {}, "clientInfo": info})
        self.send({"jsonrpc": "2.0", "method": "notifications/initialized"})

    def send(self, message):
        self.process.stdin.write(json.dumps(message).encode() + b"\n")
        self.process.stdin.flush()

    def request(self, method, params):
        self.send({"jsonrpc": "2.0", "id": 1, "method": method, "params": params})
        self.process.stdout.readline()


async def asyncio_ms():
    """The median time of a call in an event loop."""
    times = []
    async with AsyncHaft() as haft:
        for _ in range(CALLS):
            start = time.perf_counter()
            await haft.run("true")
            times.append(time.perf_counter() - start)
    return statistics.median(times) * 1000


def main():
    bash = median_ms(lambda: subprocess.run(["bash", "-c", "true"]))
    bare = BareServer()
    arguments = {"name": "run", "arguments": {"script": "true"}}
    server = median_ms(lambda: bare.request("tools/call", arguments))
    with Haft() as haft:
        used = time.process_time()
        client = median_ms(lambda: haft.run("true"))
        used = (time.process_time() - used) / CALLS * 1000
        commands = statistics.median(haft.run(COMMANDS).duration for _ in range(5)) * 1000
    rows = [
        ("subprocess.run(['bash', '-c', 'true'])", bash),
        ("haft mcp, bare protocol", server),
        ("Haft.run('true')", client),
        ("of it, CPU time of the client", used),
        ("AsyncHaft.run('true')", asyncio.run(asyncio_ms())),
        ("1,000 builtins in one script", commands),
    ]
    for name, value in rows:
        print(f"{name:40} {value:8.3f} ms")
    print(f"client / bash: {client / bash:.2f}; client - server: {client - server:.3f} ms; "
          f"1,000 builtins / 1,000 bash: {commands / (1000 * bash):.4f}")


main()
