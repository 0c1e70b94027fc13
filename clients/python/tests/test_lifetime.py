"""Binaries, the end of the server and the end of the client."""

from __future__ import annotations

import gc
import os
import signal
import subprocess
import sys
import tempfile
import threading
import unittest
import warnings
from typing import List
from unittest import mock

from haft import BinaryNotFound, ClientClosed, Haft, ServerDied, find_binary

from support import LONG, ClientTest, resident_bytes, wait_for_exit

CALLS = int(os.environ.get("HAFT_CLIENT_CALLS", "400"))
# Room for what allocators keep.
MEMORY_SLACK = 8 << 20


class BinaryTest(unittest.TestCase):
    def test_an_argument_wins_over_the_variable(self) -> None:
        with mock.patch.dict(os.environ, {"HAFT_BINARY": "/nonexistent"}):
            self.assertEqual(find_binary("/bin/sh"), "/bin/sh")
            with self.assertRaisesRegex(BinaryNotFound, "'/nonexistent' of HAFT_BINARY is not an executable file"):
                find_binary()

    def test_the_path_is_searched_last(self) -> None:
        with tempfile.TemporaryDirectory() as directory:
            program = os.path.join(directory, "haft")
            os.symlink("/bin/sh", program)
            with mock.patch.dict(os.environ, {"PATH": directory, "HAFT_BINARY": ""}):
                with mock.patch("haft._binary._package_places", return_value=[]):
                    self.assertEqual(find_binary(), program)
                    os.remove(program)
                    with self.assertRaisesRegex(BinaryNotFound, "hint: install it, or set HAFT_BINARY"):
                        find_binary()

    def test_a_program_that_is_not_haft_is_reported(self) -> None:
        with self.assertRaisesRegex(ServerDied, "ended with status 1"):
            Haft(binary="/bin/false")

    def test_a_directory_that_does_not_exist_is_reported(self) -> None:
        with self.assertRaisesRegex(NotADirectoryError, "'/nonexistent' is not a directory"):
            Haft(cwd="/nonexistent")


class ServerTest(unittest.TestCase):
    def test_closing_ends_the_server_and_its_jobs(self) -> None:
        with Haft() as haft:
            job = haft.start(f"echo $BASHPID; {LONG}", until={"pattern": "\n"})
            pids = [haft.pid, *job.state.data["pids"]]
        for pid in pids:
            self.assertTrue(wait_for_exit(pid))
        with self.assertRaisesRegex(ClientClosed, "the client is closed"):
            haft.run("true")
        haft.close()

    def test_a_client_that_is_forgotten_ends_its_server(self) -> None:
        haft = Haft()
        pid = haft.pid
        del haft
        gc.collect()
        self.assertTrue(wait_for_exit(pid))

    def test_calls_fail_when_the_server_dies(self) -> None:
        with Haft() as haft:
            job = haft.start(LONG)
            waiting = threading.Thread(target=lambda: os.kill(haft.pid, signal.SIGKILL))
            waiting.start()
            with self.assertRaisesRegex(ServerDied, "was ended by signal 9"):
                job.result()
            waiting.join()
            with self.assertRaises(ServerDied):
                haft.run("true")

    def test_the_log_is_passed_on(self) -> None:
        lines: List[str] = []
        with Haft(on_log=lines.append):
            pass
        self.assertTrue(any("connected" in line for line in lines), lines)

    def test_a_fork_does_not_keep_the_server_alive(self) -> None:
        haft = Haft()
        ready, release = os.pipe()
        with warnings.catch_warnings():
            # Python warns about threads, which do not exist in the child.
            warnings.simplefilter("ignore", DeprecationWarning)
            child = os.fork()
        if child == 0:
            os.close(release)
            try:
                haft.run("true")
            except ClientClosed:
                os.read(ready, 1)
            os._exit(0)
        os.close(ready)
        pid = haft.pid
        haft.close()
        self.assertTrue(wait_for_exit(pid))
        os.close(release)
        os.waitpid(child, 0)


CLIENT = """
import sys
from haft import Haft
haft = Haft()
job = haft.start("echo started; sleep 3600 & sleep 3600", until={"pattern": "started"})
print(haft.pid, *job.state.data["pids"], flush=True)
sys.stdin.read()
"""

INTERRUPTED = """
import os, signal, sys, threading
from haft import Haft
with Haft() as haft:
    started = threading.Thread(target=lambda: haft.run("until test -s pid; do sleep 0.01; done"))
    started.start()
    threading.Thread(target=lambda: (started.join(), os.kill(os.getpid(), signal.SIGINT))).start()
    try:
        haft.run("sleep 3600 & echo $! > pid; wait")
    except KeyboardInterrupt:
        print(haft.run("cat pid").stdout, flush=True)
        sys.stdin.read()
"""


class ClientProcessTest(unittest.TestCase):
    def client(self, script: str, directory: str) -> subprocess.Popen[str]:
        client = subprocess.Popen(
            [sys.executable, "-c", script], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, cwd=directory
        )
        self.addCleanup(client.communicate)
        return client

    def test_nothing_is_left_when_the_client_is_killed(self) -> None:
        with tempfile.TemporaryDirectory() as directory:
            client = self.client(CLIENT, directory)
            assert client.stdout is not None
            pids = [int(pid) for pid in client.stdout.readline().split()]
            self.assertGreater(len(pids), 1)
            client.kill()
            for pid in pids:
                self.assertTrue(wait_for_exit(pid), pid)

    def test_an_interrupt_ends_the_tree_and_not_the_server(self) -> None:
        with tempfile.TemporaryDirectory() as directory:
            client = self.client(INTERRUPTED, directory)
            assert client.stdout is not None
            pid = client.stdout.readline()
            self.assertTrue(wait_for_exit(int(pid)))
            client.communicate("")
            self.assertEqual(client.returncode, 0)


class MemoryTest(ClientTest):
    def test_memory_stays_flat(self) -> None:
        def use() -> int:
            return resident_bytes(os.getpid()) + resident_bytes(self.haft.pid)

        def call(count: int) -> None:
            for number in range(count):
                self.assertEqual(self.haft.run(f"echo {number}").stdout, f"{number}\n")

        # The server keeps 256 outputs.
        call(300)
        before = use()
        call(CALLS)
        self.assertLess(use() - before, MEMORY_SLACK)
