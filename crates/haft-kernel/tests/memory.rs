//! The memory of a session in a program that does not count its allocations, and panics of its commands.

use std::sync::Arc;
use std::time::Duration;

use haft_kernel::builtins::Context;
use haft_kernel::memory::{LimitHit, MemoryLimit};
use haft_kernel::run::{Outcome, Run, Status};
use haft_kernel::{Bytes, Command, Flow, Kernel, Session};
use haft_process::Host;

/// No run takes longer, also on a loaded machine.
const LONGEST: Duration = Duration::from_secs(80);

/// Panics.
#[derive(Debug)]
struct Boom;

impl Command for Boom {
    fn name(&self) -> &str {
        "boom"
    }

    fn run(&self, _: &mut Context<'_>, arguments: &[Bytes]) -> Flow {
        panic!("the fuse burnt {}", arguments.len());
    }
}

fn session() -> Session {
    let kernel = Kernel::builder().command(Arc::new(Boom)).build();
    Session::with_environment(kernel, [("PATH", "/usr/bin:/bin")], "/")
}

fn run_in(session: &mut Session, script: &str, limit: u64) -> Outcome {
    let run = Run::new(script).memory_limit(MemoryLimit::Bytes(limit)).timeout(LONGEST);
    run.run(&Host::plain(), session).expect("it can be started")
}

fn output(script: &str) -> (i32, String, String) {
    let outcome = run_in(&mut session(), script, 1 << 30);
    let text = |bytes: Vec<u8>| String::from_utf8_lossy(&bytes).into_owned();
    (outcome.code(), text(outcome.stdout()), text(outcome.stderr()))
}

#[test]
fn the_limit_holds_where_allocations_are_not_counted() {
    for script in [
        "s=aaaaaaaa; while :; do s=$s$s; done",
        "s=aaaaaaaa; while :; do s+=$s; done",
        "x=$(cat /dev/zero)",
        "x=$(</dev/zero)",
        "a=({1..900000000})",
        "a=(a); while :; do a+=(\"${a[@]}\"); done",
        "mapfile x < <(yes aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa)",
        "printf -v x '%200000000s' a",
    ] {
        let outcome = run_in(&mut session(), script, 64 << 20);
        let Status::LimitReached(LimitHit::Memory(hit)) = outcome.status else {
            panic!("{script}: {outcome:?}")
        };
        assert_eq!((hit.limit, outcome.code()), (64 << 20, 137), "{script}");
        assert!(String::from_utf8_lossy(&outcome.stderr()).contains("memory limit reached: "), "{script}");
    }
}

#[test]
fn a_session_that_has_reached_its_limit_can_be_used_again() {
    let mut session = session();
    assert_eq!(run_in(&mut session, "x=1; s=aaaaaaaa; while :; do s=$s$s; done", 64 << 20).code(), 137);
    let outcome = run_in(&mut session, "unset s; echo $x", 64 << 20);
    assert_eq!((outcome.code(), outcome.stdout()), (0, b"1\n".to_vec()));
}

#[test]
fn a_command_that_panics_fails_with_a_message_and_the_script_goes_on() {
    let (code, stdout, stderr) = output("boom a b; echo $?; (boom); echo $?; x=$(boom); echo $?; exit 3");
    assert_eq!((code, stdout.as_str()), (3, "134\n134\n134\n"), "{stderr}");
    assert!(stderr.contains("boom: internal error: the fuse burnt 2"), "{stderr}");
}

#[test]
fn a_stage_that_panics_ends_alone_and_its_neighbours_see_it() {
    let (code, stdout, _) = output("boom | cat; echo ${PIPESTATUS[@]}");
    assert_eq!((code, stdout.as_str()), (0, "134 0\n"));
    let (_, stdout, _) = output("yes | boom; echo ${PIPESTATUS[@]}");
    assert_eq!(stdout, "141 134\n");
    let (_, stdout, _) = output("echo a | { boom; cat; } | boom | cat; echo ${PIPESTATUS[@]}");
    assert!(stdout.ends_with(" 134 0\n"), "{stdout}");
    let (_, stdout, _) =
        output("boom & wait $!; echo $?; cat <(boom); coproc boom; wait $COPROC_PID; echo end");
    assert_eq!(stdout, "134\nend\n");
}
