#!/usr/bin/env python3
"""Measures `scatter on=ssh:…`: against GNU parallel on two hosts on loopback, and the collecting side alone.

    python3 bench/scatter-ssh/run.py --haft target/release/haft [--commands N] [--records N] [--rounds N]

Needs sshd (Debian: openssh-server) and GNU parallel. Each connection starts an sshd with private keys and configuration.
For the collecting side, a program that answers every item at once takes the place of ssh.
"""
import argparse
import os
import re
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

SSHD = "/usr/sbin/sshd"
READY = b'{"ready":{"version":"0","protocol":1,"node":"node","processors":8}}\n'


def write_program(path, text):
    path.write_text(text)
    path.chmod(0o755)


def set_up_hosts(directory, haft):
    """Makes the hosts 'one' and 'two' and a program 'ssh' that finds them."""
    for key in ("host-key", "user-key"):
        subprocess.run(["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", directory / key], check=True)
    Path("/run/sshd").mkdir(parents=True, exist_ok=True)
    config = ""
    for name in ("one", "two"):
        home = directory / f"home-{name}"
        home.mkdir()
        (directory / f"sshd-{name}").write_text(
            f"HostKey {directory}/host-key\nAuthorizedKeysFile {directory}/user-key.pub\nStrictModes no\nUsePAM no\n"
            f"PidFile none\nPermitRootLogin yes\nPasswordAuthentication no\n"
            f"SetEnv HOME={home} PATH={haft.parent}:/usr/bin:/bin\n"
        )  # fmt: skip
        write_program(directory / f"serve-{name}", f"#!/bin/sh\nexec {SSHD} -i -e -f {directory}/sshd-{name} 2>/dev/null\n")
        config += f"Host {name}\n  ProxyCommand {directory}/serve-{name}\n"
    config += (
        f"Host *\n  IdentityFile {directory}/user-key\n  IdentitiesOnly yes\n  StrictHostKeyChecking no\n"
        f"  UserKnownHostsFile /dev/null\n  LogLevel ERROR\n"
    )  # fmt: skip
    (directory / "config").write_text(config)
    (directory / "bin").mkdir()
    write_program(directory / "bin/ssh", f'#!/bin/sh\nexec /usr/bin/ssh -F {directory}/config "$@"\n')


def seconds_of(words, environment, expected):
    begin = time.perf_counter()
    done = subprocess.run(words, env=environment, capture_output=True, text=True, stdin=subprocess.DEVNULL)
    seconds = time.perf_counter() - begin
    if done.stdout != expected:
        sys.exit(f"{words}: wrong output\n{done.stdout[-500:]}{done.stderr[-500:]}")
    return seconds


def compare_with_parallel(arguments, directory):
    """The ratio of the times for short commands, in the order of the input, two at a time on each host."""
    set_up_hosts(directory, arguments.haft)
    environment = dict(os.environ, PATH=f"{directory}/bin:/usr/bin:/bin", HOME=str(directory))
    (directory / ".parallel").mkdir()
    (directory / ".parallel/will-cite").touch()
    count = arguments.commands
    expected = "".join(f"{item}\n" for item in range(1, count + 1))
    script = f"seq {count} | scatter on=ssh:one=2,two=2 | /bin/echo $ITEM | gather -t"
    own = [arguments.haft, "run", "-c", script]
    parallel = ["sh", "-c", f"seq {count} | parallel -k -S 2/one,2/two /bin/echo"]
    times = {"haft": [], "parallel": []}
    for _ in range(arguments.rounds):
        times["haft"].append(seconds_of(own, environment, expected))
        times["parallel"].append(seconds_of(parallel, environment, expected))
    haft, other = (statistics.median(times[name]) for name in ("haft", "parallel"))
    print(f"{count} short commands: haft {haft:.2f} s, parallel {other:.2f} s, ratio {haft / other:.2f}")


def answer():
    """Takes the place of ssh and a worker: answers every item with a record."""
    os.write(1, READY)
    source, index = sys.stdin.buffer, re.compile(rb'"index":(\d+)')
    source.readline()
    os.write(1, b'"started"\n')
    rest = b""
    while chunk := os.read(0, 1 << 16):
        lines, _, rest = (rest + chunk).rpartition(b"\n")
        if not lines:
            continue
        records = [
            b'{"record":{"index":%b,"attempts":1,"status":0,"stdout":"a line of output\\n","stderr":"","started":'
            b'{"secs_since_epoch":1,"nanos_since_epoch":0},"duration":{"secs":0,"nanos":1000}}}\n' % found
            for found in index.findall(lines)
        ]
        sent = memoryview(b"".join(records))
        while sent:
            sent = sent[os.write(1, sent):]


def collect(arguments, directory):
    """The rate and the memory of the collecting side."""
    (directory / "bin").mkdir()
    write_program(directory / "bin/ssh", f"#!/bin/sh\nexec {sys.executable} {os.path.abspath(__file__)} --answer\n")
    environment = dict(os.environ, PATH=f"{directory}/bin:/usr/bin:/bin", HOME=str(directory))
    count = arguments.records
    for option in ("", f"resume={directory}/records"):
        script = f"seq {count} | scatter on=ssh:a=64,b=64,c=64,d=64 {option} | : | gather > {directory}/out"
        begin = time.perf_counter()
        done = subprocess.Popen([arguments.haft, "-c", script], env=environment, stdin=subprocess.DEVNULL)
        _, status, usage = os.wait4(done.pid, 0)
        seconds = time.perf_counter() - begin
        with open(directory / "out", "rb") as out:
            lines = sum(1 for _ in out)
        if status or lines != count:
            sys.exit(f"status {status}, {lines} records")
        name = "with a file of records" if option else "alone"
        print(f"{count} records {name}: {count / seconds:,.0f}/s, {usage.ru_maxrss / 1024:.0f} MiB")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--haft", type=lambda path: Path(path).resolve())
    parser.add_argument("--commands", type=int, default=1000)
    parser.add_argument("--records", type=int, default=1_000_000)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--answer", action="store_true", help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.answer:
        return answer()
    if not arguments.haft:
        parser.error("--haft is required")
    for measure in (compare_with_parallel, collect):
        with tempfile.TemporaryDirectory(prefix="scatter-") as directory:
            measure(arguments, Path(directory))


if __name__ == "__main__":
    main()
