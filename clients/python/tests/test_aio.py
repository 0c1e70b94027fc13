"""The client for asyncio."""

from __future__ import annotations

import asyncio
import os
import tempfile
import unittest
from typing import List

from haft import AsyncHaft, ClientClosed, HaftError, Line, ScriptError, WaitTimeout

from support import DEADLINE, LONG, wait_for_exit


class AsyncTest(unittest.IsolatedAsyncioTestCase):
    async def asyncSetUp(self) -> None:
        self.haft = AsyncHaft()
        await self.haft.start_server()
        self.addAsyncCleanup(self.haft.aclose)

    async def test_a_result_is_complete(self) -> None:
        result = await self.haft.run("seq 5; exit 3")
        self.assertEqual((result.stdout, result.status), ("1\n2\n3\n4\n5\n", 3))
        self.assertEqual(await result.output(tail=1), "5\n")
        self.assertEqual(await result.output_bytes(), b"1\n2\n3\n4\n5\n")
        with self.assertRaises(ScriptError):
            await self.haft.run("false", check=True)

    async def test_a_hundred_calls_at_once(self) -> None:
        results = await asyncio.gather(*(self.haft.run(f"echo {n}") for n in range(100)))
        self.assertEqual([result.stdout for result in results], [f"{n}\n" for n in range(100)])

    async def test_cancelling_a_task_ends_its_tree(self) -> None:
        with tempfile.TemporaryDirectory() as directory:
            script = f"{LONG} & echo $! > new; mv new pid; wait"
            task = asyncio.create_task(self.haft.run(script, cwd=directory))
            await self.haft.run("until test -e pid; do sleep 0.01; done", cwd=directory)
            task.cancel()
            with self.assertRaises(asyncio.CancelledError):
                await task
            with open(os.path.join(directory, "pid"), encoding="ascii") as file:
                self.assertTrue(wait_for_exit(int(file.read())))
        self.assertTrue((await self.haft.run("true")).ok)

    async def test_wait_for_ends_a_script(self) -> None:
        with self.assertRaises(asyncio.TimeoutError):
            await asyncio.wait_for(self.haft.run(LONG), 0.2)

    async def test_jobs_and_sessions(self) -> None:
        async with self.haft.session() as session:
            await session.run("name=value")
            self.assertEqual((await session.run("echo $name")).stdout, "value\n")
        job = await self.haft.start("read x; echo got $x; read y", interactive=True)
        state = await job.write("it\n", until={"pattern": "got it"})
        self.assertEqual(state.stdout, "got it\n")
        with self.assertRaises(WaitTimeout):
            await job.result(timeout=0.1)
        await job.close_stdin()
        self.assertEqual((await job.result(DEADLINE)).stdout, "got it\n")

    async def test_lines_are_iterated(self) -> None:
        async with self.haft.stream("seq 3; exit 2") as lines:
            self.assertEqual([line.text async for line in lines], ["1", "2", "3"])
            self.assertEqual((await lines.result()).status, 2)
        self.assertEqual([str(line) async for line in self.haft.stream("echo one")], ["one"])
        asking = self.haft.stream("read x; echo $x", interactive=True)
        await (await asking.job()).write("two\n")
        self.assertEqual([line.text async for line in asking], ["two"])
        job = await self.haft.start("seq 2")
        self.assertEqual([line.text async for line in job.lines()], ["1", "2"])

    async def test_cancelling_an_iteration_ends_the_script(self) -> None:
        read = asyncio.Event()

        async def iterate() -> None:
            async for _ in self.haft.stream(f"echo one; {LONG}"):
                read.set()

        task = asyncio.create_task(iterate())
        await read.wait()
        task.cancel()
        with self.assertRaises(asyncio.CancelledError):
            await task
        await self.nothing_runs()

    async def test_an_exception_in_a_callback_ends_the_script(self) -> None:
        found: List[str] = []

        async def fail(line: Line) -> None:
            found.append(line.text)
            raise KeyError(line.text)

        with self.assertRaises(KeyError):
            await self.haft.run(f"echo one; {LONG}", on_line=fail)
        self.assertEqual(found, ["one"])
        await self.nothing_runs()

    async def nothing_runs(self) -> None:
        """Waits until no job is left. A kill that was posted comes before any later request."""
        while (await self.haft.call("job", action="list")).data["jobs"]:
            pass

    async def test_a_client_that_has_not_started_says_so(self) -> None:
        with self.assertRaisesRegex(ClientClosed, "'async with' block"):
            await AsyncHaft().run("true")
        with self.assertRaisesRegex(HaftError, "still runs"):
            await self.haft.stream("true").result()
