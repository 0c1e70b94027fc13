"""Helpers of the tests."""

from __future__ import annotations

import os
import select
import unittest

from haft import Haft

# Far longer than anything takes.
DEADLINE = 60.0
# A script that would outlive the tests if nothing ended it.
LONG = "sleep 3600"


class ClientTest(unittest.TestCase):
    """Tests with one client."""

    haft: Haft

    @classmethod
    def setUpClass(cls) -> None:
        cls.haft = Haft()
        cls.addClassCleanup(cls.haft.close)


def wait_for_exit(pid: int) -> bool:
    """Waits until a process has ended. Returns whether it did."""
    try:
        descriptor = os.pidfd_open(pid)
    except ProcessLookupError:
        return True
    try:
        return bool(select.select([descriptor], [], [], DEADLINE)[0])
    finally:
        os.close(descriptor)


def resident_bytes(pid: int) -> int:
    """The resident memory of a process."""
    with open(f"/proc/{pid}/statm", encoding="ascii") as file:
        return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")
