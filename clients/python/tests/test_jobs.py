"""Jobs and lines of output."""

from __future__ import annotations

from typing import List

from haft import HaftError, Line, WaitTimeout

from support import DEADLINE, LONG, ClientTest


class JobTest(ClientTest):
    def test_a_job_can_be_awaited_written_to_and_ended(self) -> None:
        job = self.haft.start(f"echo ready; read answer; echo got $answer; {LONG}", interactive=True)
        self.assertIn("ready", job.state.stdout + job.wait(until={"input": True}, timeout=DEADLINE).stdout)
        state = job.write("yes\n", until={"pattern": "got"}, timeout=DEADLINE)
        self.assertEqual(state.stdout, "got yes\n")
        self.assertTrue(job.running and state.running)
        job.kill()
        result = job.result()
        self.assertFalse(job.running)
        self.assertEqual((result.stdout, result.cancelled), ("ready\ngot yes\n", True))
        self.assertEqual(job.read().stdout, "")

    def test_start_waits_for_a_condition(self) -> None:
        job = self.haft.start(f"echo starting; echo Listening on 80; {LONG}", until={"pattern": "Listening"})
        self.assertIn("Listening on 80", job.state.stdout)
        self.assertIn("Listening", job.state.met or "")
        with self.assertRaisesRegex(WaitTimeout, "still runs after 0.1 s"):
            job.result(timeout=0.1)
        self.assertIsNone(job.wait(timeout=0.1).met)
        self.assertFalse(job.signal("TERM", until={"pattern": "never"}).running)
        self.assertEqual(job.result().status, 143)

    def test_a_script_that_ends_at_once_has_its_result(self) -> None:
        job = self.haft.start("echo done; exit 4", until={"pattern": "never"})
        self.assertEqual((job.running, job.result().status, job.result().stdout), (False, 4, "done\n"))

    def test_standard_input_can_be_closed(self) -> None:
        job = self.haft.start("cat; echo end", interactive=True)
        job.write("text\n", until={"pattern": "text"})
        job.close_stdin()
        self.assertEqual(job.result(DEADLINE).stdout, "text\nend\n")

    def test_a_terminal_can_be_resized(self) -> None:
        job = self.haft.start("read x; stty size", pty=True)
        job.resize(columns=99, rows=33)
        job.write("\n")
        self.assertIn("33 99", job.result(DEADLINE).stdout)


class LinesTest(ClientTest):
    def test_lines_arrive_while_the_script_runs(self) -> None:
        with self.haft.stream("echo one; read x; echo $x", interactive=True) as lines:
            self.assertEqual(str(next(lines)), "one")
            # Only a running script can echo this.
            lines.job.write("two\n")
            self.assertEqual([line.text for line in lines], ["two"])
        self.assertEqual(lines.result.stdout, "one\ntwo\n")

    def test_no_line_is_lost(self) -> None:
        with self.haft.stream("seq 200000; seq 3 >&2; printf end") as lines:
            found = list(lines)
        stdout = [line.text for line in found if line.stream == "stdout"]
        self.assertEqual(stdout, [*map(str, range(1, 200001)), "end"])
        self.assertEqual([line.text for line in found if line.stream == "stderr"], ["1", "2", "3"])
        self.assertTrue(lines.result.stdout.endswith("200000\nend"))

    def test_characters_are_whole(self) -> None:
        script = "for byte in '\\303' '\\244' '\\n'; do printf $byte; sleep 0.01; done"
        with self.haft.stream(script) as lines:
            self.assertEqual([line.text for line in lines], ["ä"])

    def test_lines_that_are_too_long_are_marked(self) -> None:
        with self.haft.stream("head -c 1500000 /dev/zero | tr '\\0' a; echo; echo next") as lines:
            long, following = lines
        self.assertRegex(long.text, "^a{1048576}\\[… .* omitted …\\]$")
        self.assertEqual(following.text, "next")

    def test_output_that_is_not_stored_is_marked(self) -> None:
        with self.haft.stream("seq 100000", limits={"output": 100_000}) as lines:
            found = [line.text for line in lines]
        self.assertEqual((found[0], found[-1]), ("1", "100000"))
        self.assertTrue(any("bytes not kept" in text for text in found))

    def test_a_stream_times_out(self) -> None:
        with self.haft.stream(f"echo before; {LONG}", timeout=0.5) as lines:
            self.assertEqual([line.text for line in lines], ["before"])
        self.assertEqual((lines.result.timed_out, lines.result.status), (True, 124))

    def test_leaving_a_stream_ends_the_script(self) -> None:
        with self.haft.stream(f"echo one; {LONG}") as lines:
            next(lines)
            with self.assertRaisesRegex(HaftError, "still runs"):
                lines.result
        self.assertTrue(lines.result.cancelled)
        self.assertEqual(self.haft.call("job", action="list").data["jobs"], [])

    def test_a_callback_sees_every_line(self) -> None:
        found: List[Line] = []
        result = self.haft.run("seq 3; exit 5", on_line=found.append)
        self.assertEqual(([line.text for line in found], result.status), (["1", "2", "3"], 5))

    def test_an_exception_in_a_callback_ends_the_script(self) -> None:
        def fail(line: Line) -> None:
            raise KeyError(line.text)

        with self.assertRaisesRegex(KeyError, "one"):
            self.haft.run(f"echo one; {LONG}", on_line=fail)
        self.assertEqual(self.haft.call("job", action="list").data["jobs"], [])

    def test_the_lines_of_a_job_begin_with_the_first_one(self) -> None:
        job = self.haft.start("seq 3", until={"pattern": "2"})
        self.assertEqual([line.text for line in job.lines()], ["1", "2", "3"])
