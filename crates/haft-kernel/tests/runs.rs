//! Runs: what their outcome tells, and what becomes of the session.

use std::path::Path;
use std::time::{Duration, Instant};

use haft_kernel::run::{Input, Outcome, Run, Stage, StageKind, Status, Streams};
use haft_kernel::{CancelToken, Kernel, Session};
use haft_process::{Exit, Host, TerminalSize};

/// Longer than anything here takes on the slowest machine.
const LONG: Duration = Duration::from_secs(60);

fn session() -> Session {
    Session::with_environment(Kernel::builder().build(), [("PATH", "/usr/bin:/bin")], "/")
}

fn outcome(run: Run) -> Outcome {
    run.run(&Host::plain(), &mut session()).expect("it runs")
}

fn words(stage: &Stage) -> String {
    stage.argv.iter().map(|word| word.lossy().into_owned()).collect::<Vec<_>>().join(" ")
}

#[test]
fn output_status_and_directory_are_in_the_outcome() {
    let outcome = outcome(Run::new("echo out; echo err >&2; cd /usr; exit 7"));
    assert_eq!(outcome.status, Status::Code(7));
    assert_eq!((outcome.stdout(), outcome.stderr()), (b"out\n".to_vec(), b"err\n".to_vec()));
    assert_eq!(outcome.cwd, Path::new("/usr"));
    assert!(outcome.jobs.is_empty());
}

#[test]
fn merged_output_is_in_true_order() {
    let outcome = outcome(
        Run::new("echo 1; echo 2 >&2; /bin/echo 3; sh -c 'echo 4 >&2'; echo 5").streams(Streams::Merged),
    );
    assert_eq!(outcome.stdout(), b"1\n2\n3\n4\n5\n");
}

#[test]
fn every_stage_has_its_kind_and_status() {
    let script =
        "f() { return 4; }; x=1; f | sh -c 'exit 5' | { exit 6; } | true; f; for i in 1; do false; done";
    let outcome = outcome(Run::new(script));
    let found: Vec<_> =
        outcome.stages.iter().map(|stage| (stage.pipeline, stage.kind, stage.exit.code())).collect();
    let expected = [
        (0, StageKind::Compound, 0),
        (1, StageKind::Assignment, 0),
        (2, StageKind::Function, 4),
        (2, StageKind::External, 5),
        (2, StageKind::Compound, 6),
        (2, StageKind::Builtin, 0),
        (3, StageKind::Function, 4),
        (4, StageKind::Compound, 1),
    ];
    assert_eq!(found, expected);
    assert_eq!(words(&outcome.stages[3]), "sh -c exit 5");
    assert!(outcome.stages[3].usage.is_some_and(|usage| usage.max_rss > 0));
}

#[test]
fn who_closed_on_whom() {
    let outcome = outcome(Run::new("yes | head -n1; while :; do echo y; done | head -n1"));
    for first in [0, 2] {
        assert_eq!(outcome.stages[first].exit, Exit::Signal(13), "{:?}", outcome.stages[first]);
        assert_eq!(outcome.stages[first].closed_by, Some(1));
    }
    assert_eq!(outcome.stdout(), b"y\ny\n");
}

#[test]
fn very_many_stages_are_counted_and_the_latest_kept() {
    let outcome = outcome(Run::new(":\n".repeat(1000) + "false"));
    assert_eq!(outcome.stages.len() + outcome.stages_omitted, 1001);
    assert_eq!(outcome.stages.last().map(|stage| stage.exit), Some(Exit::Code(1)));
}

#[test]
fn the_session_keeps_its_state_between_runs() {
    let (host, mut session) = (Host::plain(), session());
    let first = Run::new("x=1; f() { echo \"f $x $1\"; }; cd /usr; set -- kept; exec 5< /dev/null; exit 3");
    assert_eq!(first.run(&host, &mut session).unwrap().code(), 3);
    let second = Run::new("f $1; pwd; echo $0 $V; [ -e /dev/fd/5 ]").name("me").variable("V", "v");
    let outcome = second.run(&host, &mut session).unwrap();
    assert_eq!(outcome.stdout(), b"f 1 kept\n/usr\nme v\n");
    assert_eq!(outcome.code(), 0);
    let third = Run::new("echo $#${V-unset}; sh -c 'echo $#'")
        .arguments(["a", "b"])
        .run(&host, &mut session)
        .unwrap();
    assert_eq!(third.stdout(), b"2unset\n0\n");
}

#[test]
fn input_comes_from_where_it_is_said_to_come_from() {
    assert_eq!(outcome(Run::new("cat; read x; echo $?")).stdout(), b"1\n");
    let bytes = Input::Bytes(b"one\ntwo\nthree\n".as_slice().into());
    assert_eq!(outcome(Run::new("read x; echo $x; cat").input(bytes)).stdout(), b"one\ntwo\nthree\n");
}

#[test]
fn a_run_in_the_background_is_written_to_and_gives_the_session_back() {
    let run = Run::new("x=before; while read line; do echo \"got $line\"; done; x=after").input(Input::Pipe);
    let running = run.start(&Host::plain(), session()).unwrap();
    let controller = running.controller().clone();
    controller.write(b"one\n".as_slice());
    let change = controller.wait_change(0, Some(Instant::now() + LONG));
    assert_eq!((change.bytes, change.finished), (8, false));
    assert!(!running.is_finished());
    controller.write(b"two\n".as_slice());
    controller.close_input();
    assert!(running.wait_for(LONG));
    let (mut session, outcome) = running.finish();
    assert_eq!(outcome.stdout(), b"got one\ngot two\n");
    let after = Run::new("echo $x").run(&Host::plain(), &mut session).unwrap();
    assert_eq!(after.stdout(), b"after\n");
}

#[test]
fn a_read_that_waits_is_seen_to_need_input() {
    for script in ["read x", "cat", "x=$(head -n1)"] {
        let running = Run::new(script).input(Input::Pipe).start(&Host::plain(), session()).unwrap();
        let controller = running.controller().clone();
        let seen = haft_test_support::eventually(LONG, || controller.needs_input().is_some());
        assert!(seen, "{script}");
        controller.write(b"x\n".as_slice());
        controller.close_input();
        assert_eq!(running.finish().1.code(), 0, "{script}");
    }
}

#[test]
fn a_terminal_is_one_for_builtins_and_programs() {
    let size = TerminalSize { rows: 30, columns: 70 };
    let script = "[ -t 0 ] && [ -t 1 ] && echo shell; test -t 2 && stty size; tty > /dev/null && (: < /dev/tty) && echo tty; sh -c ': < /dev/tty && echo controlling'";
    let outcome = outcome(Run::new(script).streams(Streams::Terminal(size)));
    let text = String::from_utf8(outcome.stdout()).unwrap();
    for expected in ["shell", "30 70", "controlling"] {
        assert!(text.contains(expected), "'{expected}' is missing in {text:?}");
    }
}

#[test]
fn cancelling_and_the_deadline_are_told_apart() {
    let token = CancelToken::new();
    token.cancel();
    let cancelled = outcome(Run::new("echo never; sleep 100").cancel(&token));
    assert_eq!((cancelled.status, cancelled.code()), (Status::Cancelled, 130));
    let late = outcome(Run::new("echo before; sleep 100").timeout(Duration::from_millis(200)));
    assert_eq!((late.status, late.code()), (Status::TimedOut, 124));
    assert_eq!(late.stdout(), b"before\n");
    assert!(late.tree.killed >= 1 && late.tree.survivors.pids().is_empty(), "{:?}", late.tree);
}

#[test]
fn the_json_form_has_everything() {
    let report = outcome(Run::new("echo hello | cat; cd usr")).report(1024);
    let json = serde_json::to_value(&report).unwrap();
    assert_eq!(json["status"]["code"], 0);
    assert_eq!(json["stdout"]["text"], "hello\n");
    assert_eq!(json["stages"][1]["argv"][0], "cat");
    assert_eq!(json["stages"][1]["bytes_out"], 6);
    assert_eq!((&json["started_in"], &json["cwd"]), (&"/".into(), &"/usr".into()));
    assert_eq!(json["tree"]["killed"], 0);
    // A plain host proves nothing about orphans.
    assert!(json["tree"]["survivors"].is_null() && json["tree"]["survivors_unknown"].is_string());
}
