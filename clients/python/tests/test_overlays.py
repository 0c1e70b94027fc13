"""Overlays."""

from __future__ import annotations

import tempfile
import unittest
from pathlib import Path

from haft import Haft, Overlay, ToolError


class OverlayTest(unittest.TestCase):
    def setUp(self) -> None:
        directory = tempfile.TemporaryDirectory()
        self.addCleanup(directory.cleanup)
        self.project = Path(directory.name).resolve()
        (self.project / "notes").write_text("old\n")

    def test_changes_are_shown_committed_and_taken_back(self) -> None:
        with Haft(cwd=self.project) as haft:
            overlay = open_overlay(haft, "echo new > notes; echo made > made")
            self.assertEqual((self.project / "notes").read_text(), "old\n")
            kinds = {Path(change.path).name: change.kind for change in overlay.changes()}
            self.assertEqual(kinds, {"notes": "modified", "made": "added"})
            self.assertIn("+new", overlay.diff("notes"))
            self.assertEqual(haft.run("cat notes", overlay=overlay).stdout, "new\n")
            self.assertEqual([found.id for found in haft.overlays()], [overlay.id])
            self.assertEqual(overlay.commit("notes"), 1)
            self.assertEqual((self.project / "notes").read_text(), "new\n")
            self.assertFalse((self.project / "made").exists())
            self.assertEqual(overlay.undo(), 1)
            self.assertEqual((self.project / "notes").read_text(), "old\n")
            haft.overlay(overlay.id).discard()
            with self.assertRaises(ToolError):
                overlay.commit()

    def test_a_client_can_work_in_an_overlay(self) -> None:
        with Haft(cwd=self.project) as haft:
            open_overlay(haft, "rm notes").discard()
        with Haft(cwd=self.project, overlay=True) as haft:
            self.assertTrue(haft.run("rm notes").ok)
        self.assertTrue((self.project / "notes").exists())


def open_overlay(haft: Haft, script: str) -> Overlay:
    """Runs a script in a new overlay. Skips the test where the kernel does not allow one."""
    try:
        result = haft.run(script, overlay=True, check=True)
    except ToolError as error:
        raise unittest.SkipTest(str(error)) from error
    assert result.overlay is not None
    return result.overlay
