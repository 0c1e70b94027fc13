#!/usr/bin/env python3
"""Random process trees under haft: how many survive each ending, and is what haft says about them true?

The outer process starts itself once for each mode and ending, as the first process of a PID namespace. There every
process besides itself is haft's or a member of a tree, so that whatever is left after haft has ended is a survivor.
"""

import argparse
import json
import os
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import time

MODES = ["root", "user", "noproc", "fulldisk"]
ENDINGS = ["normal", "timeout", "sigint", "sigterm", "sigkill", "client"]
UNPRIVILEGED = ["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups"]
# A call that takes longer has hung.
LONGEST = 20.0
# How long cleaning up may take after haft was killed, or its client has gone.
SETTLE = 5.0


def living():
    """The processes of this namespace that are alive, but this one."""
    found = []
    for name in os.listdir("/proc"):
        if not name.isdigit() or int(name) == os.getpid():
            continue
        try:
            stat = open(f"/proc/{name}/stat").read()
        except OSError:
            continue
        fields = stat[stat.rindex(")") + 2 :].split()
        # A zombie is dead, unless only its first thread is.
        if fields[0] not in "ZX" or int(fields[17]) > 1:
            found.append(int(name))
    return found


def describe(pid):
    try:
        words = open(f"/proc/{pid}/cmdline").read().replace("\0", " ").strip()
        state = [line for line in open(f"/proc/{pid}/status").read().splitlines() if line.startswith(("State", "PPid"))]
        return f"{pid} {words} {' '.join(state)}"
    except OSError:
        return f"{pid} (gone)"


def reap():
    try:
        while os.waitpid(-1, os.WNOHANG)[0]:
            pass
    except ChildProcessError:
        pass


def settle(limit):
    """Waits until nothing is alive; returns what still is."""
    end = time.monotonic() + limit
    while True:
        reap()
        left = living()
        if not left or time.monotonic() >= end:
            return left
        time.sleep(0.01)


class Case:
    """One mode and one ending."""

    def __init__(self, options):
        self.mode, self.ending = options.mode[0], options.ending[0]
        self.haft, self.child = options.haft, options.child
        self.directory = options.directory
        self.rows = []

    def prefix(self):
        """What haft is started by."""
        words = [] if self.mode == "root" else list(UNPRIVILEGED)
        if self.mode == "noproc":
            hide = 'umount -l /proc && exec "$@"'
            words = ["unshare", "-m", "--propagation", "private", "sh", "-c", hide, "sh", *words]
        return words

    def command(self, seed, lifetime):
        tree = [self.child, "random-tree", str(seed), str(lifetime)]
        if self.ending == "client":
            return [*self.prefix(), self.haft, "mcp"]
        options = ["--json", "--grace", "100ms"]
        if self.ending == "timeout":
            options += ["--timeout", "200ms"]
        if seed % 2:
            return [*self.prefix(), self.haft, "run", *options, "-c", " ".join(tree)]
        return [*self.prefix(), self.haft, "spawn", *options, "--", *tree]

    def run(self, seed):
        chance = random.Random(seed)
        lifetime = chance.randrange(20, 150) if self.ending == "normal" else 0
        environment = {"PATH": os.environ["PATH"], "HOME": self.directory, "TMPDIR": self.directory}
        process = subprocess.Popen(
            self.command(seed, lifetime),
            stdin=subprocess.PIPE if self.ending == "client" else subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            env=environment,
            cwd="/",
        )
        started = time.monotonic()
        if self.ending == "client":
            if self.mode != "root":
                # A server opens its standard streams anew, which only their owner may.
                os.fchown(process.stdin.fileno(), 65534, 65534)
                os.fchown(process.stdout.fileno(), 65534, 65534)
            self.call(process, seed)
        self.await_tree()
        time.sleep(chance.random() * 0.15)
        output, returned = self.end(process, started)
        at_return = living()
        late = self.ending in ("sigkill", "client")
        left = settle(SETTLE if late else 0.0) if at_return else []
        if not late:
            left = at_return
        claim = self.claim(output)
        row = {
            "seed": seed,
            "survivors": len(left),
            "unknown": claim == "unknown",
            "wrong": isinstance(claim, int) and claim != len(left),
            "seconds": returned,
        }
        if left:
            row["left"] = [describe(pid) for pid in left]
            settle(1.0)
        self.rows.append(row)
        self.clear()

    def call(self, process, seed):
        """Has the server run the tree."""
        client = {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "stress", "version": "1"}}
        script = f"{self.child} random-tree {seed} 0"
        for message in (
            {"id": 1, "method": "initialize", "params": client},
            {"method": "notifications/initialized"},
            {"id": 2, "method": "tools/call", "params": {"name": "run", "arguments": {"script": script}}},
        ):
            process.stdin.write(json.dumps({"jsonrpc": "2.0", **message}).encode() + b"\n")
        process.stdin.flush()

    def await_tree(self):
        """Waits until the tree has begun to grow."""
        end = time.monotonic() + LONGEST
        while time.monotonic() < end:
            for pid in living():
                try:
                    if b"random-tree" in open(f"/proc/{pid}/cmdline", "rb").read().split(b"\0")[1:2]:
                        return
                except OSError:
                    pass
            if self.ending == "normal":
                return
            time.sleep(0.005)

    def end(self, process, started):
        """Ends haft; returns what it wrote and how long it took to return."""
        numbers = {"sigint": signal.SIGINT, "sigterm": signal.SIGTERM, "sigkill": signal.SIGKILL}
        begun = time.monotonic()
        if self.ending in numbers:
            process.send_signal(numbers[self.ending])
        try:
            # A pipe that survivors hold must not delay the look at them.
            if self.ending == "client":
                process.stdin.close()
                process.wait(LONGEST)
                output = b""
            elif self.ending == "sigkill":
                process.wait(LONGEST)
                output = b""
            else:
                output, _ = process.communicate(timeout=LONGEST)
        except subprocess.TimeoutExpired:
            output = b"hung"
        return output, time.monotonic() - (started if self.ending in ("normal", "timeout") else begun)

    def claim(self, output):
        """How many survivors haft has reported: a number, `unknown`, or nothing."""
        try:
            tree = json.loads(output)["tree"]
        except (ValueError, KeyError, TypeError):
            return None
        return "unknown" if tree["survivors"] is None else tree["survivors"]

    def clear(self):
        """Kills everything in this namespace, so that one tree does not disturb the next."""
        end = time.monotonic() + LONGEST
        while living() and time.monotonic() < end:
            try:
                os.kill(-1, signal.SIGKILL)
            except ProcessLookupError:
                pass
            reap()
        reap()


def inside(options):
    """The first process of a namespace: runs all trees of one case."""
    if os.getpid() != 1:
        sys.exit("stress: --inside needs a PID namespace of its own")
    if options.mode[0] == "fulldisk":
        fill(options.directory)
    case = Case(options)
    for number in range(options.trees):
        case.run(options.seed + number)
    print(json.dumps(case.rows))


def fill(directory):
    """Makes the directory a full disk."""
    subprocess.run(["mount", "-t", "tmpfs", "-o", "size=16k,mode=1777", "tmpfs", directory], check=True)
    try:
        with open(os.path.join(directory, "full"), "wb") as file:
            while True:
                file.write(bytes(4096))
                file.flush()
    except OSError:
        pass


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seed", type=int, default=1, help="the seed of the first tree")
    parser.add_argument("--trees", type=int, default=20, help="how many trees in each mode and ending")
    parser.add_argument("--mode", action="append", choices=MODES)
    parser.add_argument("--ending", action="append", choices=ENDINGS)
    parser.add_argument("--json", action="store_true", help="print the rows as JSON")
    parser.add_argument("--haft", required=True)
    parser.add_argument("--child", required=True)
    parser.add_argument("--directory", help=argparse.SUPPRESS)
    parser.add_argument("--inside", action="store_true", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.inside:
        return inside(options)
    if os.geteuid() != 0:
        sys.exit("stress: root is needed to make PID namespaces and to become another user")
    with tempfile.TemporaryDirectory(prefix="haft-stress-") as place:
        os.chmod(place, 0o755)
        return every_case(options, place)


def every_case(options, place):
    """Runs all cases and prints the table; fails if a process survived or a claim was wrong."""
    copies = {}
    for name, path in (("haft", options.haft), ("child", options.child)):
        # Where another user can execute it, whatever the directories above the original allow.
        copies[name] = shutil.copy(path, os.path.join(place, f"stress-{name}"))
        os.chmod(copies[name], 0o755)
    header = f"{'mode':9} {'ending':8} {'trees':>5} {'survived':>8} {'wrong':>5} {'unknown':>7} {'hung':>4} {'median s':>8} {'max s':>6}"
    if not options.json:
        print(header, flush=True)
    failed, results = False, []
    for mode in options.mode or MODES:
        for ending in options.ending or ENDINGS:
            rows = one_case(options, place, copies, mode, ending)
            results.append({"mode": mode, "ending": ending, "rows": rows})
            failed |= show(mode, ending, rows, options)
    if options.json:
        print(json.dumps(results))
    return 1 if failed else 0


def one_case(options, place, copies, mode, ending):
    directory = tempfile.mkdtemp(dir=place)
    os.chmod(directory, 0o1777)
    command = ["unshare", "-mpf", "--mount-proc", "--kill-child", sys.executable, os.path.abspath(__file__)]
    command += ["--inside", "--seed", str(options.seed), "--trees", str(options.trees), "--mode", mode]
    command += ["--ending", ending, "--haft", copies["haft"], "--child", copies["child"], "--directory", directory]
    done = subprocess.run(command, stdout=subprocess.PIPE, check=False)
    if done.returncode != 0:
        sys.exit(f"stress: the case '{mode}' '{ending}' failed with status {done.returncode}")
    return json.loads(done.stdout)


def show(mode, ending, rows, options):
    survived = [row for row in rows if row["survivors"]]
    wrong = [row for row in rows if row["wrong"]]
    unknown = sum(row["unknown"] for row in rows)
    times = sorted(row["seconds"] for row in rows)
    hung = sum(seconds >= LONGEST for seconds in times)
    if not options.json:
        print(
            f"{mode:9} {ending:8} {len(rows):5} {len(survived):8} {len(wrong):5} {unknown:7} {hung:4}"
            f" {times[len(times) // 2]:8.2f} {times[-1]:6.2f}",
            flush=True,
        )
        for row in survived[:5]:
            print(f"  seed {row['seed']}: {row['left']}", flush=True)
    # Where haft says that it does not know, nothing was claimed.
    return bool(wrong or hung or any(not row["unknown"] for row in survived))


if __name__ == "__main__":
    sys.exit(main())
