#!/usr/bin/env python3
"""Measures overlays: opening, commands, listing, discard, commit, and real work with and without an overlay.

    python3 bench/overlay/run.py --haft target/release/haft [--work DIR] [--rounds N] [CASE...]

Every case runs with and without an overlay in turn, and the medians are compared. The directory for the trees should be on
the file system of the state directory, which this script puts beside them.
"""
import argparse
import hashlib
import json
import os
import shutil
import statistics
import subprocess
import sys
import time
from pathlib import Path

FILES = 100_000
FILES_PER_DIRECTORY = 100


class Bench:
    def __init__(self, haft, work, rounds):
        self.haft, self.work, self.rounds = haft, work, rounds
        home = work / "home"
        home.mkdir(parents=True, exist_ok=True)
        # The toolchain is found through the home directory.
        rust = {name: os.environ.get(name, str(Path.home() / default)) for name, default in [("CARGO_HOME", ".cargo"), ("RUSTUP_HOME", ".rustup")]}
        self.env = dict(
            os.environ, **rust, HOME=str(home), XDG_STATE_HOME=str(home / "state"), XDG_CACHE_HOME=str(home / "cache"),
            GIT_AUTHOR_NAME="a", GIT_AUTHOR_EMAIL="a@example.org", GIT_COMMITTER_NAME="a", GIT_COMMITTER_EMAIL="a@example.org",
        )  # fmt: skip

    def run(self, words, directory):
        """Runs a command; returns its seconds and its output."""
        begin = time.perf_counter()
        done = subprocess.run(words, cwd=directory, env=self.env, capture_output=True, text=True)
        seconds = time.perf_counter() - begin
        if done.returncode != 0:
            sys.exit(f"{words}: status {done.returncode}\n{done.stdout[-2000:]}{done.stderr[-2000:]}")
        return seconds, done.stdout

    def script(self, script, directory, overlay):
        words = [self.haft, "run", *(["--overlay=."] if overlay else []), "--json", "-c", script]
        seconds, output = self.run(words, directory)
        return seconds, json.loads(output)

    def medians(self, *actions):
        """The medians of actions that run in turn."""
        times = [[] for _ in actions]
        for _ in range(self.rounds):
            for action, found in zip(actions, times):
                found.append(action())
        return [statistics.median(found) for found in times]

    def tree(self):
        """A tree of 100,000 small files."""
        tree = self.work / "tree"
        if not tree.exists():
            for number in range(FILES // FILES_PER_DIRECTORY):
                directory = tree / f"d{number // 100}" / f"d{number}"
                directory.mkdir(parents=True)
                for file in range(FILES_PER_DIRECTORY):
                    (directory / f"f{file}").write_text(f"{number} {file}\n")
        return tree


def report(name, value, target, is_met):
    print(f"{name:44} {value:>24}   target {target:<12} {'met' if is_met else 'MISSED'}", flush=True)


def milliseconds(seconds):
    return f"{seconds * 1000:.2f} ms"


def opening(bench):
    tree = bench.tree()
    run = lambda script, overlay: lambda: bench.script(script, tree, overlay)[0]
    many = "for i in {1..400}; do /bin/true; done"
    plain, inside, plain_many, inside_many = bench.medians(
        run("true", False), run("true", True), run(many, False), run(many, True)
    )
    cost = inside - plain
    report("open, look, close: 100,000 files", milliseconds(cost), "2 ms", cost <= 0.002)
    each = ((inside_many - inside) - (plain_many - plain)) / 400
    report("each command", f"+{milliseconds(each)}", "+0.1 ms", each <= 0.0001)


def listing(bench):
    tree = bench.tree()
    script = "for f in d1/*/f*; do :; done; i=0; for f in d[1-4]/d*/f[0-9]; do echo changed > $f; done"
    shows, discards = [], []
    for _ in range(max(3, bench.rounds // 3)):
        result = bench.script(script, tree, True)[1]
        overlay = result["overlay"]
        assert overlay["counts"]["modified"] == 4000, overlay["counts"]
        for _ in range(3):
            shows.append(bench.run([bench.haft, "changes", "show", overlay["id"], "--json"], tree)[0])
        discards.append(bench.run([bench.haft, "changes", "discard", overlay["id"]], tree)[0])
    show, discard = statistics.median(shows), statistics.median(discards)
    report("list 4,000 changes", milliseconds(show), "50 ms", show <= 0.05)
    report("discard 4,000 changes", milliseconds(discard), "50 ms", discard <= 0.05)


def commit(bench):
    tree, copy = bench.tree(), bench.work / "copy"
    times, copies = [], []
    script = "for f in d5/d5[0-9][0-9]/f1[0-9]; do echo changed > $f; done"
    for _ in range(max(3, bench.rounds // 3)):
        overlay = bench.script(script, tree, True)[1]["overlay"]
        assert overlay["counts"]["modified"] == 1000, overlay["counts"]
        upper = next((bench.work / "home").glob(f"**/{overlay['id']}/0/upper"))
        shutil.rmtree(copy, ignore_errors=True)
        copies.append(bench.run(["cp", "-a", str(upper), str(copy)], tree)[0])
        times.append(bench.run([bench.haft, "changes", "commit", overlay["id"]], tree)[0])
        bench.run([bench.haft, "changes", "undo", overlay["id"]], tree)
        bench.run([bench.haft, "changes", "discard", overlay["id"]], tree)
    time_of, copy_of = statistics.median(times), statistics.median(copies)
    ratio = time_of / copy_of
    value = f"{milliseconds(time_of)} / {milliseconds(copy_of)}"
    report("commit 1,000 files / cp -a", f"{value} = {ratio:.2f}", "0.50", ratio <= 0.5)


def alternatives(bench):
    """A run of 200 changes that is thrown away: haft against a copy, git and fuse-overlayfs, on 20,000 files in a repository."""
    tree = bench.work / "repository"
    if not tree.exists():
        tree.mkdir()
        prepare = "for d in {1..200}; do mkdir d$d; for f in {1..100}; do echo $d $f > d$d/f$f; done; done; git init -q; git config gc.auto 0; git add .; git commit -qm one"
        bench.run(["bash", "-ec", prepare], tree)
    script = "for f in d[1-9]/f*[05]; do echo changed > $f; done; echo new > added; rm d10/f1"
    shell = lambda text: lambda: bench.run(["bash", "-ec", text], tree)[0]
    copy, lower, upper, work, merged = (bench.work / name for name in ["copy", "repository", "fuse-upper", "fuse-work", "fuse-merged"])
    contenders = {
        "haft run --overlay, discard": lambda: bench.run(
            ["bash", "-ec", f"id=$({bench.haft} run --overlay --json -c '{script}' | jq -r .overlay.id); {bench.haft} changes discard $id"], tree)[0],
        "cp -a, rm -rf": shell(f"cp -a . {copy}; cd {copy}; {script}; cd ..; rm -rf {copy}"),
        "git stash -u, drop": shell(f"{script}; git stash -qu; git stash drop -q"),
    }  # fmt: skip
    if shutil.which("fuse-overlayfs"):
        contenders["fuse-overlayfs"] = shell(
            f"mkdir -p {upper} {work} {merged}; fuse-overlayfs -o lowerdir={lower},upperdir={upper},workdir={work} {merged}; "
            f"(cd {merged}; {script}); fusermount -u {merged}; rm -rf {upper} {work}"
        )
    else:
        print("fuse-overlayfs is not installed")
    times = bench.medians(*contenders.values())
    for name, seconds in zip(contenders, times):
        print(f"{'try 200 changes: ' + name:44} {milliseconds(seconds):>24}   {seconds / times[0]:.2f} of haft's", flush=True)


def digest(directory, ignored):
    """A digest of all names and contents, without those that differ from run to run."""
    total = hashlib.sha256()
    for path in sorted(directory.rglob("*")):
        name = str(path.relative_to(directory))
        if any(part in ignored for part in path.relative_to(directory).parts):
            continue
        total.update(name.encode())
        if path.is_symlink():
            total.update(os.readlink(path).encode())
        elif path.is_file():
            total.update(path.read_bytes())
    return total.hexdigest()


def real_work(bench, name, prepare, script, ignored=()):
    """Runs a script with and without an overlay on equal trees, and compares times and results."""
    times, results = {False: [], True: []}, {}
    origin = bench.work / f"{name}-origin"
    if not origin.exists():
        origin.mkdir(parents=True)
        bench.run(["sh", "-ec", prepare], origin)
    # The same path, because some results contain it.
    tree = bench.work / f"{name}-tree"
    for number in range(max(3, bench.rounds // 2)):
        for overlay in [number % 2 == 0, number % 2 == 1]:
            shutil.rmtree(tree, ignore_errors=True)
            bench.run(["cp", "-a", str(origin), str(tree)], bench.work)
            bench.run(["sync"], bench.work)
            seconds, result = bench.script(script, tree, overlay)
            if result["status"]["code"] != 0:
                sys.exit(f"{name}: {result}")
            times[overlay].append(seconds)
            if overlay:
                bench.run([bench.haft, "changes", "commit", result["overlay"]["id"]], tree)
                bench.run([bench.haft, "changes", "discard", result["overlay"]["id"]], tree)
            results[overlay] = digest(tree, ignored)
    plain, inside = statistics.median(times[False]), statistics.median(times[True])
    same = "identical" if results[False] == results[True] else "DIFFERENT"
    value = f"{inside:.2f} s / {plain:.2f} s = {inside / plain:.2f}"
    report(f"{name} ({same})", value, "1.10", inside <= 1.10 * plain and same == "identical")


CARGO = """mkdir src; printf '[package]\\nname = "small"\\nversion = "0.1.0"\\nedition = "2021"\\n' > Cargo.toml
for i in $(seq 40); do echo "pub fn f$i(x: Vec<u64>) -> u64 { x.iter().map(|y| y * $i).sum() }" > src/m$i.rs; echo "pub mod m$i;"; done > src/lib.rs"""
GIT = """git init -q -b main; for i in $(seq 300); do echo $i > f$i; done; git add .; git commit -qm one
git checkout -qb work; for i in $(seq 40); do echo changed >> f$i; git commit -qam "c$i"; done
git checkout -q main; for i in $(seq 200 240); do echo main >> f$i; git commit -qam "m$i"; done; git checkout -q work"""
MAKE = """for i in $(seq 60); do { echo '#include <stdio.h>'; for j in $(seq 100); do echo "int f${i}_$j(int x) { return printf(\\"%d\\", x * $j); }"; done; } > s$i.c; done
{ printf 'all:'; for i in $(seq 60); do printf ' s%s.o' $i; done; printf '\\n%%.o: %%.c\\n\\tcc -O1 -c $< -o $@\\n'; } > Makefile"""
SED = """for d in $(seq 100); do mkdir d$d; for i in $(seq 100); do echo "one two three $i" > d$d/f$i; done; done"""

REAL = {
    "cargo": lambda bench: real_work(bench, "cargo build", CARGO, "cargo build --offline -q", ["target"]),
    "git": lambda bench: real_work(bench, "git rebase", GIT, "git rebase -q main", [".git"]),
    "make": lambda bench: real_work(bench, "make -j2", MAKE, "make -s -j2"),
    "sed": lambda bench: real_work(bench, "sed -i over 10,000 files", SED, "find . -type f -print0 | xargs -0 sed -i s/two/2/"),
    "tree": lambda bench: real_work(
        bench, "20,000 files written", "echo x > x",
        "for d in {1..200}; do mkdir -p node_modules/p$d; for i in {1..100}; do echo $d $i > node_modules/p$d/f$i; done; done",
    ),
}  # fmt: skip
CASES = {"opening": opening, "listing": listing, "commit": commit, "alternatives": alternatives, **REAL}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--haft", type=Path, required=True)
    parser.add_argument("--work", type=Path, default=Path("target/bench-overlay"))
    parser.add_argument("--rounds", type=int, default=15)
    parser.add_argument("cases", nargs="*", choices=[*CASES, []])
    arguments = parser.parse_args()
    arguments.work.mkdir(parents=True, exist_ok=True)
    bench = Bench(str(arguments.haft.resolve()), arguments.work.resolve(), arguments.rounds)
    for name in arguments.cases or CASES:
        CASES[name](bench)


main()
