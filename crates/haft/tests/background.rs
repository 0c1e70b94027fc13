//! Background work of a plain shell: it goes on when the shell has ended, as bash's does.

use std::time::Duration;

use haft_test_support::{Haft, Scratch, child, eventually};

const SOON: Duration = Duration::from_secs(20);

/// Nobody waits for the end of its output.
const QUIET: &str = "> /dev/null 2>&1";

fn shell(script: &str) -> Haft {
    Haft::new(env!("CARGO_BIN_EXE_haft")).args(["-c", script])
}

#[test]
fn it_outlives_the_shell_and_does_not_hold_up_its_caller() {
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

/// The signal is for the shell, as it is for bash.
#[test]
fn a_program_outlives_the_shell_that_a_signal_has_ended() {
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
fn who_reads_its_output_reads_all_of_it() {
    shell("(sleep 0.2; echo late) & echo soon").run().status(0).stdout("soon\nlate\n");
}

#[test]
fn its_number_is_that_of_a_process() {
    let script = "{ trap 'echo caught; exit 3' TERM; echo ready > READY; while :; do sleep 0.01; done; } &
        while [ ! -s READY ]; do sleep 0.01; done; sh -c \"kill $!\"; wait $!; echo $?";
    let scratch = Scratch::new();
    let script = script.replace("READY", &scratch.text("ready"));
    shell(&script).run().status(0).stdout("caught\n3\n").within(SOON);
}
