//! Background jobs of a plain shell go on after the shell has ended, as in bash.

use std::time::Duration;

use haft_test_support::{Haft, Scratch, child, eventually};

const SOON: Duration = Duration::from_secs(20);

/// Does not wait for the end of its output.
const QUIET: &str = "> /dev/null 2>&1";

fn shell(script: &str) -> Haft {
    Haft::new(env!("CARGO_BIN_EXE_haft")).args(["-c", script])
}

#[test]
fn a_background_program_outlives_the_shell_and_does_not_block_its_caller() {
    let ways = [
        "(WORK) QUIET &",
        "{ WORK; } QUIET &",
        "f() { WORK; }; f QUIET &",
        "while WORK; do break; done QUIET &",
    ];
    for way in ways {
        let scratch = Scratch::new();
        let work =
            format!("{} wait-for {} && echo done > {}", child(), scratch.text("go"), scratch.text("out"));
        let script = way.replace("WORK", &work).replace("QUIET", QUIET);
        shell(&script).run().status(0).stdout("").within(SOON);
        assert_eq!(scratch.lines("out"), 0, "{script}");
        scratch.touch("go");
        assert!(eventually(SOON, || scratch.lines("out") == 1), "{script}");
    }
}

/// The signal goes to the shell only, as in bash.
#[test]
fn a_background_program_outlives_a_shell_killed_by_a_signal() {
    for pipeline in ["PROGRAM QUIET", "PROGRAM QUIET | cat QUIET", "true | PROGRAM QUIET"] {
        let scratch = Scratch::new();
        let program = format!(
            "sh -c 'echo > {}; {} wait-for {}; echo > {}'",
            scratch.text("on"),
            child(),
            scratch.text("go"),
            scratch.text("out")
        );
        let script = format!(
            "trap 'echo cleanup >&2' EXIT; {}; echo no",
            pipeline.replace("PROGRAM", &program).replace("QUIET", QUIET)
        );
        let running = shell(&script).start();
        assert!(eventually(SOON, || scratch.lines("on") == 1), "{script}");
        running.signal(15);
        let _ = running.finish().killed_by(15).stderr("cleanup\n");
        scratch.touch("go");
        assert!(eventually(SOON, || scratch.lines("out") == 1), "{script}");
    }
}

#[test]
fn the_whole_output_of_a_background_program_can_be_read() {
    shell("(sleep 0.2; echo late) & echo soon").run().status(0).stdout("soon\nlate\n");
}

#[test]
fn the_pid_of_a_background_job_is_a_process() {
    let script = "{ trap 'echo caught; exit 3' TERM; echo ready > READY; while :; do sleep 0.01; done; } &
        while [ ! -s READY ]; do sleep 0.01; done; sh -c \"kill $!\"; wait $!; echo $?";
    let scratch = Scratch::new();
    let script = script.replace("READY", &scratch.text("ready"));
    shell(&script).run().status(0).stdout("caught\n3\n").within(SOON);
}
