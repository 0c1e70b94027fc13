"""Scripts, sessions and tools."""

from __future__ import annotations

import os
import tempfile
import threading
import unittest
from typing import List

from haft import Haft, HaftError, ProtocolError, ScriptError, ServerOptions, ToolError

from support import LONG, ClientTest


class RunTest(ClientTest):
    def test_a_result_has_output_status_and_stages(self) -> None:
        result = self.haft.run("echo out; echo err >&2; false | true; exit 3")
        self.assertEqual((result.stdout, result.stderr, result.status, result.ok), ("out\n", "err\n", 3, False))
        self.assertEqual([stage.status for stage in result.stages], [0, 0, 1, 0, 3])
        self.assertEqual(result.stages[2].argv, ("false",))
        self.assertIn("[exit 3", result.text)

    def test_options_reach_the_script(self) -> None:
        with tempfile.TemporaryDirectory() as directory:
            place = os.path.realpath(directory)
            result = self.haft.run("pwd; echo $NAME; cat", cwd=directory, env={"NAME": "value"}, stdin="input")
            self.assertEqual(result.stdout, f"{place}\nvalue\ninput")
            self.assertEqual(result.cwd, place)

    def test_merged_streams_are_in_stdout(self) -> None:
        result = self.haft.run("echo one; echo two >&2; echo three", merge=True)
        self.assertEqual((result.stdout, result.stderr), ("one\ntwo\nthree\n", ""))

    def test_a_terminal_runs_to_the_end(self) -> None:
        self.assertEqual(self.haft.run("test -t 1 && echo terminal", pty=True).stdout, "terminal\n")

    def test_a_timeout_is_a_result(self) -> None:
        result = self.haft.run(f"echo before; {LONG}", timeout=0.5)
        self.assertEqual((result.timed_out, result.status, result.stdout), (True, 124, "before\n"))

    def test_check_raises_with_the_last_line(self) -> None:
        with self.assertRaisesRegex(ScriptError, "exited with status 2: no luck") as caught:
            self.haft.run("echo no luck >&2; exit 2", check=True)
        self.assertEqual(caught.exception.result.status, 2)
        self.assertTrue(self.haft.run("true", check=True).ok)

    def test_parts_of_an_output_can_be_read_later(self) -> None:
        result = self.haft.run("seq 300000")
        self.assertTrue(result.truncated)
        self.assertEqual(result.output(tail=2), "299999\n300000\n")
        self.assertEqual(result.output(head=1), "1\n")
        self.assertEqual(result.output(lines=(5, 6)), "5\n6\n")
        self.assertIn("299998", result.output(grep="^299998$"))
        self.assertEqual(result.output("stderr"), "")
        self.assertEqual(result.output_bytes(), "".join(f"{n}\n" for n in range(1, 300001)).encode())
        with self.assertRaisesRegex(HaftError, "unknown stream 'stdin'"):
            result.output("stdin")

    def test_bytes_are_exact(self) -> None:
        self.assertEqual(self.haft.run(r"printf '\377\000\n'").output_bytes(), b"\xff\x00\n")

    def test_text_of_any_language_passes(self) -> None:
        self.assertEqual(self.haft.run("echo 'ä € 😀'").stdout, "ä € 😀\n")
        with self.assertRaises(UnicodeEncodeError):
            self.haft.run("echo \udc80")
        self.assertEqual(self.haft.run("echo still here").stdout, "still here\n")

    def test_long_scripts_pass(self) -> None:
        self.assertEqual(self.haft.run("echo " + "x" * 500_000).stdout, "x" * 500_000 + "\n")

    def test_syntax_errors_and_unknown_options_are_tool_errors(self) -> None:
        with self.assertRaisesRegex(ToolError, "found end of input"):
            self.haft.run("echo (")
        with self.assertRaisesRegex(ToolError, "unknown parameter 'tiemout'"):
            self.haft.run("true", tiemout=3)  # type: ignore[call-arg]

    def test_limits_are_passed_on(self) -> None:
        result = self.haft.run("true", limits={"processes": 64})
        self.assertEqual(result.data["limits"]["processes"]["asked"], 64)

    def test_processes_left_in_the_background_can_be_ended(self) -> None:
        result = self.haft.run(f"{LONG} & echo started")
        self.assertEqual(result.stdout, "started\n")
        assert result.job is not None
        result.job.kill()
        self.assertIsNone(self.haft.run("true").job)

    def test_a_session_keeps_its_state(self) -> None:
        with self.haft.session() as session:
            session.run("cd /; name=value; greet() { echo hello; }")
            self.assertEqual(session.run("pwd; echo $name; greet").stdout, "/\nvalue\nhello\n")
            self.assertEqual(self.haft.session().run("echo -$name").stdout, "-\n")
        self.assertEqual(self.haft.session(session.name).run("echo -$name").stdout, "-\n")

    def test_tools_are_listed_and_called(self) -> None:
        tools = {tool.name: tool for tool in self.haft.tools()}
        self.assertIn("script", tools["run"].input_schema["properties"])
        self.assertEqual(self.haft.call("glob", pattern="*.nothing").data["files"], [])
        with self.assertRaisesRegex(ToolError, "no such file") as caught:
            self.haft.call("file_read", path="/nonexistent")
        self.assertEqual(caught.exception.tool, "file_read")
        with self.assertRaisesRegex(ProtocolError, 'unknown tool "nothing"'):
            self.haft.call("nothing")

    def test_a_hundred_calls_at_once(self) -> None:
        found: List[str] = []

        def call(number: int) -> None:
            found.append(self.haft.run(f"echo {number}").stdout)

        threads = [threading.Thread(target=call, args=[number]) for number in range(100)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        self.assertEqual(sorted(map(int, found)), list(range(100)))


class ServerOptionsTest(unittest.TestCase):
    def test_options_become_arguments(self) -> None:
        options = ServerOptions(overlay=["a", "b"], tools=("check", "plan"), limit_cpu=1.5, env_allow=["KEY"])
        self.assertEqual(
            options.command("haft")[4:],
            ["--overlay=a", "--overlay=b", "--tools=check,plan", "--limit-cpu=1.5s", "--env-allow=KEY"],
        )

    def test_the_server_accepts_them(self) -> None:
        options = ServerOptions(tools=["check"], limit_memory=1 << 30, limit_cpu=60.5, limit_processes=500)
        with Haft(options, env={"OWN": "value"}) as haft:
            self.assertIn("check", [tool.name for tool in haft.tools()])
            result = haft.run("echo $OWN")
            self.assertEqual(result.stdout, "value\n")
            self.assertEqual(result.data["limits"]["memory"]["asked"], 1 << 30)
