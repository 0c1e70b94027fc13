"""The benchmark cases: each script as bash runs it, with a variant for a shell that needs other words.

Programs are named by absolute path, so that every shell starts the same process.
"""
from dataclasses import dataclass, field


@dataclass(frozen=True)
class Case:
    name: str
    title: str  # the row of the table in docs/benchmarks.md
    script: str
    variants: dict = field(default_factory=dict)  # shell name -> its script, or None to leave the shell out
    runs: int = 1  # runs per measurement, for scripts that end in a few milliseconds


def repeat(count, body):
    return f"for i in $(seq 1 {count}); do {body}; done"


WAIT_FOR_ONE = (
    "n=0; for i in $(seq 1 1000); do /bin/true & n=$((n+1)); "
    "if [ $n -ge 2 ]; then wait -n; n=$((n-1)); fi; done; wait"
)

CASES = [
    Case("start", "start and end: `true`", "true", runs=30),
    Case("programs", "1,000 programs in a loop", repeat(1000, "/bin/true")),
    Case("programs_path", "1,000 programs in a loop, found in `PATH`", repeat(1000, "arch >/dev/null")),
    Case("pipelines", "500 pipelines of two programs", repeat(500, "/bin/echo hi | /bin/cat >/dev/null")),
    Case("background", "1,000 programs in the background, then `wait`", repeat(1000, "/bin/true &").replace("&;", "&") + "; wait"),
    Case("for", "`for` over 100,000 words", repeat(100_000, ":")),
    Case(
        "while",
        "`while` with arithmetic, 100,000 rounds",
        "i=0; while [[ $i -lt 100000 ]]; do i=$((i+1)); done; echo $i",
        {"dash": "i=0; while [ $i -lt 100000 ]; do i=$((i+1)); done; echo $i"},
    ),
    Case("arithmetic_for", "`for ((…))`, 100,000 rounds", "for ((i = 0; i < 100000; i++)); do :; done", {"dash": None}),
    Case("echo", "100,000 times `echo`", repeat(100_000, "echo $i")),
    Case("function", "50,000 calls of a function", "f() { x=$1; }; " + repeat(50_000, "f $i") + "; echo $x"),
    Case("append", "20,000 times appending to a string", "s=; " + repeat(20_000, 's="${s}x"') + "; echo ${#s}"),
    Case(
        "pipe_1g",
        "1 GiB through three pipes (no shell is involved: this shows the noise)",
        "/usr/bin/head -c 1073741824 /dev/zero | /usr/bin/cat | /usr/bin/cat | /usr/bin/wc -c",
    ),
    Case("early_exit", "a pipeline whose reader leaves early", "/usr/bin/cat lines | /usr/bin/head -n 1", runs=10),
    Case("read_10m", "10 MB into a variable", "x=$(/usr/bin/cat lines); echo ${#x}"),
    Case("substitution", "10,000 times `$(echo hi)`", repeat(10_000, "x=$(echo hi)") + "; echo $x"),
    Case("substitution_program", "1,000 times `$(/bin/echo hi)`", repeat(1000, "x=$(/bin/echo hi)") + "; echo $x"),
    Case(
        "fan_out",
        "1,000 programs, two at a time (`scatter`; bash: `wait -n`)",
        WAIT_FOR_ONE,
        {
            "dash": "for i in $(seq 1 500); do /bin/true & /bin/true & wait; done",
            "haft": "seq 1 1000 | scatter --limit 2 | /bin/true | gather >/dev/null",
        },
    ),
]
