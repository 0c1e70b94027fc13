#!/usr/bin/env python3
"""Measures shells side by side and prints a table of ratios to the first one.

    bench/shells/run.py [--only CASE,…] [--rounds N] [--markdown] [--shell NAME=PATH]…

The shells take turns within every round, so that noise meets all of them alike; the figure is the median. Every shell's
output is compared with the first one's. `--list` names the cases. Without `--shell`: bash, dash and target/release/haft.
"""
import argparse
import os
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from cases import CASES

REPOSITORY = Path(__file__).resolve().parents[2]
LINE = b"the quick brown fox jumps over the lazy dog\n"


def arguments():
    parser = argparse.ArgumentParser(description="Measure shells side by side.")
    parser.add_argument("--shell", action="append", default=[], metavar="NAME=PATH", help="a shell to measure; the first is the baseline")
    parser.add_argument("--only", default="", metavar="CASE,…", help="measure only these cases")
    parser.add_argument("--rounds", type=int, default=7, metavar="N", help="measurements per shell and case (default: 7)")
    parser.add_argument("--markdown", action="store_true", help="print the table as Markdown")
    parser.add_argument("--list", action="store_true", help="list the cases with their scripts and exit")
    return parser.parse_args()


def chosen_shells(options):
    named = options.shell or ["bash=/bin/bash", "dash=/bin/dash", f"haft={REPOSITORY}/target/release/haft"]
    shells = dict(entry.split("=", 1) for entry in named)
    for name, path in shells.items():
        if not os.access(path, os.X_OK):
            sys.exit(f"error: '{path}' ({name}) is not an executable file\nhint: build haft with 'cargo build --release'")
    return shells


def chosen_cases(only):
    names = [name for name in only.split(",") if name]
    known = {case.name for case in CASES}
    for name in names:
        if name not in known:
            sys.exit(f"error: unknown case '{name}'\nhint: --list names all cases")
    return [case for case in CASES if not names or case.name in names]


def run_once(path, script, directory):
    """Runs a script; returns its wall time in seconds and its output."""
    start = time.perf_counter()
    done = subprocess.run([path, "-c", script], cwd=directory, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, check=False)
    return time.perf_counter() - start, done.stdout


def measure(case, name, path, directory):
    script = case.variants.get(name, case.script)
    runs = [run_once(path, script, directory) for _ in range(case.runs)]
    return sum(wall for wall, _ in runs), runs[-1][1]


def medians(case, shells, rounds, directory):
    """The median time of each shell, and the shells whose output differs from the first one's."""
    taking_part = {name: path for name, path in shells.items() if case.variants.get(name, case.script) is not None}
    times = {name: [] for name in taking_part}
    outputs = {}
    for _ in range(rounds):
        for name, path in taking_part.items():
            wall, outputs[name] = measure(case, name, path, directory)
            times[name].append(wall)
    expected = next(iter(outputs.values()))
    wrong = [name for name, output in outputs.items() if output != expected]
    return {name: statistics.median(walls) for name, walls in times.items()}, wrong


def idle_memory(path):
    """The resident memory, in KiB, of a shell that waits for its script on a pipe."""
    with subprocess.Popen([path], stdin=subprocess.PIPE, stdout=subprocess.DEVNULL) as shell:
        time.sleep(0.3)
        status = Path(f"/proc/{shell.pid}/status").read_text()
        shell.stdin.close()
    return int(next(line for line in status.splitlines() if line.startswith("VmRSS")).split()[1])


def print_row(cells, markdown):
    if markdown:
        print("| " + " | ".join(cells) + " |", flush=True)
    else:
        print(f"{cells[0]:<72}" + "".join(f"{cell:>10}" for cell in cells[1:]), flush=True)


def main():
    options = arguments()
    cases = chosen_cases(options.only)
    if options.list:
        for case in cases:
            print(f"{case.name}: {case.script}")
        return
    shells = chosen_shells(options)
    baseline, *others = shells
    print_row(["case", f"{baseline} ms", *others], options.markdown)
    if options.markdown:
        print("|---" * (len(shells) + 1) + "|")
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    with tempfile.TemporaryDirectory() as directory:
        Path(directory, "lines").write_bytes(LINE * (10_000_000 // len(LINE)))
        for case in cases:
            times, wrong = medians(case, shells, options.rounds, directory)
            ratios = [f"{times[name] / times[baseline]:.3f}" + ("!" if name in wrong else "") if name in times else "–" for name in others]
            print_row([case.title, f"{times[baseline] * 1000 / case.runs:.1f}", *ratios], options.markdown)
    memory = {name: idle_memory(path) for name, path in shells.items()}
    print_row(["idle memory (KiB)", str(memory[baseline]), *(f"{memory[name] / memory[baseline]:.2f}" for name in others)], options.markdown)
    print("\nRatios to the first shell's time; less is better. '!' marks a different output.")


if __name__ == "__main__":
    main()
