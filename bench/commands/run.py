#!/usr/bin/env python3
"""Measures commands of haft that run in-process against bash with GNU's programs.

    bench/commands/run.py [--only CASE,…] [--rounds N] [--megabytes N] [--files N] [--markdown] [--haft PATH]

bash and haft take turns within every round, so that noise meets both alike; the figure is the median. Both run the same script with a file as
output, and the files are compared. `--list` names the cases. `memory` is the largest resident size of the shell and its programs.
"""
import argparse
import hashlib
import os
import random
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

REPOSITORY = Path(__file__).resolve().parents[2]

# Names, scripts, and the largest ratio that is wanted.
CASES = [
    ("small-pipeline", "for ((i = 0; i < 1000; i++)); do cat small | grep x | wc -l; done", 0.05),
    ("basename", "for ((i = 0; i < 1000; i++)); do x=$(basename /a/b/c.txt .txt); done; echo $x", 0.05),
    ("mkdir-touch-rm", "for ((i = 0; i < 500; i++)); do mkdir -p d/e; touch d/e/f; rm -rf d; done", 0.1),
    ("grep-count", "grep -c fox lines", 0.7),
    ("grep-regex", "grep -c 'f[aeiou]x.*d' lines", 0.7),
    ("grep-only", "grep -oE '[a-z]+ing' lines | wc -l", 0.7),
    ("grep-none", "grep -c zzzz lines", 0.7),
    ("grep-ignore-case", "grep -ci FOX lines", 0.7),
    ("wc-lines", "wc -l lines", 0.7),
    ("wc", "wc lines", 0.7),
    ("sort", "sort lines", 0.7),
    ("sort-number", "sort -n numbers", 0.7),
    ("sort-uniq", "sort words | uniq -c", 0.7),
    ("cut", "cut -d, -f3 table", 0.7),
    ("tr", "tr a-z A-Z < lines", 0.7),
    ("sed", "sed s/a/b/ lines", 0.7),
    ("awk", "awk '{s+=$3} END {print s}' columns", 0.7),
    ("find", "find tree | wc -l", 0.7),
    ("find-name", "find tree -type f -name '*7.txt' | wc -l", 0.7),
    ("sha256sum", "sha256sum lines", 0.7),
    ("jq", "jq -c '.items[] | select(.id % 1000 == 0) | .name' data.json | md5sum", 0.7),
]

WORDS = "the quick brown fox jumps over lazy dog sing bringing fax while running data value error warning table index".split()


def arguments():
    parser = argparse.ArgumentParser(description="Measure in-process commands against GNU's programs.")
    parser.add_argument("--haft", default=str(REPOSITORY / "target/release/haft"), metavar="PATH", help="the haft to measure")
    parser.add_argument("--only", default="", metavar="CASE,…", help="measure only these cases")
    parser.add_argument("--rounds", type=int, default=5, metavar="N", help="measurements per case (default: 5)")
    parser.add_argument("--megabytes", type=int, default=100, metavar="N", help="the size of each file (default: 100)")
    parser.add_argument("--files", type=int, default=100_000, metavar="N", help="the number of files for find (default: 100000)")
    parser.add_argument("--markdown", action="store_true", help="print the table as Markdown")
    parser.add_argument("--list", action="store_true", help="list the cases with their scripts and exit")
    return parser.parse_args()


def chosen_cases(only):
    names = [name for name in only.split(",") if name]
    known = {name for name, _, _ in CASES}
    for name in names:
        if name not in known:
            sys.exit(f"error: unknown case '{name}'\nhint: --list names all cases")
    return [case for case in CASES if not names or case[0] in names]


def repeated(path, block, size):
    """Writes a block again and again up to a size."""
    with open(path, "wb") as file:
        for _ in range(max(1, size // len(block))):
            file.write(block)


def make_text(directory, size):
    """Lines of random words, numbers and fields. A block of a mebibyte is repeated, except for what is sorted."""
    generator = random.Random(1)
    line = lambda: " ".join(generator.choices(WORDS, k=generator.randint(4, 12))) + f" {generator.randrange(10**6)}\n"
    block = "".join(line() for _ in range(16_000)).encode()
    repeated(directory / "lines", block, size)
    repeated(directory / "words", "".join(f"{generator.choice(WORDS)}{generator.randrange(50)}\n" for _ in range(100_000)).encode(), size // 4)
    row = lambda: f"{generator.randrange(10**5)},{generator.choice(WORDS)},{generator.random():.6f},{generator.choice(WORDS)}\n"
    table = "".join(row() for _ in range(30_000)).encode()
    repeated(directory / "table", table, size)
    repeated(directory / "columns", table.replace(b",", b" "), size)
    with open(directory / "numbers", "w", encoding="ascii") as file:
        for _ in range(size // 16):
            file.write(f"{generator.randrange(10**9)}\n")
    (directory / "small").write_text("x\ny\nxyz\n")


def make_json(directory, size):
    generator = random.Random(2)
    with open(directory / "data.json", "w", encoding="ascii") as file:
        file.write('{"items":[')
        for number in range(size // 100):
            name = " ".join(generator.choices(WORDS, k=3))
            file.write(f'{"," if number else ""}{{"id":{number},"name":"{name}","value":{generator.random():.6f},"tags":["a","b"]}}')
        file.write("]}\n")


def make_tree(directory, count):
    for number in range(count):
        parent = directory / "tree" / str(number // 10_000) / str(number // 100)
        if number % 100 == 0:
            parent.mkdir(parents=True)
        (parent / f"{number}.txt").touch()


def run_once(shell, script, directory):
    """Runs a script; returns its wall time in seconds, the digest of its output and its largest resident size in KiB."""
    environment = {"PATH": "/usr/bin:/bin", "LC_ALL": "C"}
    path = directory / "output"
    with open(path, "wb") as output:
        start = time.perf_counter()
        with subprocess.Popen([shell, "-c", script], cwd=directory, env=environment, stdin=subprocess.DEVNULL, stdout=output) as child:
            _, _, usage = os.wait4(child.pid, 0)
            child.returncode = 0
        wall = time.perf_counter() - start
    with open(path, "rb") as output:
        digest = hashlib.file_digest(output, "sha256").hexdigest()
    path.unlink()
    return wall, digest, usage.ru_maxrss


def measure(case, shells, rounds, directory):
    """The median times of both shells, whether their outputs are equal, and the resident size of the second."""
    times, outputs, memory = {name: [] for name in shells}, {}, 0
    for _ in range(rounds):
        for name, path in shells.items():
            wall, outputs[name], memory = run_once(path, case[1], directory)
            times[name].append(wall)
    expected, found = outputs.values()
    return [statistics.median(walls) for walls in times.values()], expected == found, memory


def print_row(cells, markdown):
    if markdown:
        print("| " + " | ".join(cells) + " |", flush=True)
    else:
        print(f"{cells[0]:<20}" + "".join(f"{cell:>12}" for cell in cells[1:]), flush=True)


def main():
    options = arguments()
    cases = chosen_cases(options.only)
    if options.list:
        for name, script, wanted in cases:
            print(f"{name} (≤ {wanted}): {script}")
        return
    if not os.access(options.haft, os.X_OK):
        sys.exit(f"error: '{options.haft}' is not an executable file\nhint: build haft with 'cargo build --release'")
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    names = {name for name, _, _ in cases}
    print_row(["case", "bash ms", "haft ms", "ratio", "wanted", "memory MiB"], options.markdown)
    if options.markdown:
        print("|---" * 6 + "|")
    with tempfile.TemporaryDirectory() as temporary:
        directory = Path(temporary)
        make_text(directory, options.megabytes << 20)
        if "jq" in names:
            make_json(directory, options.megabytes << 20)
        if names & {"find", "find-name"}:
            make_tree(directory, options.files)
        for case in cases:
            (bash, haft), is_equal, memory = measure(case, {"bash": "/bin/bash", "haft": options.haft}, options.rounds, directory)
            mark = "" if is_equal else "!"
            print_row([case[0], f"{bash * 1000:.1f}", f"{haft * 1000:.1f}", f"{haft / bash:.3f}{mark}", str(case[2]), f"{memory / 1024:.0f}"], options.markdown)
    print("\nRatios of haft's time to that of bash; less is better. '!' marks a different output.")


if __name__ == "__main__":
    main()
