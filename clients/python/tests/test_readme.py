"""Runs the examples of README.md."""

from __future__ import annotations

import contextlib
import io
import os
import re
import tempfile
import unittest
from pathlib import Path

README = Path(__file__).parent.parent / "README.md"
MAKEFILE = "test:\n\t@echo 1 passed\nserve:\n\t@echo Listening on port 8080; sleep 3600\n"


class ReadmeTest(unittest.TestCase):
    def test_every_example_runs(self) -> None:
        examples = re.findall(r"^```python\n(.*?)^```$", README.read_text(), re.MULTILINE | re.DOTALL)
        self.assertGreater(len(examples), 3)
        before = os.getcwd()
        self.addCleanup(os.chdir, before)
        for example in examples:
            with self.subTest(example=example), tempfile.TemporaryDirectory() as directory:
                Path(directory, "Makefile").write_text(MAKEFILE)
                os.chdir(directory)
                with contextlib.redirect_stdout(io.StringIO()):
                    exec(compile(example, str(README), "exec"), {"__name__": "example"})
                os.chdir(before)
