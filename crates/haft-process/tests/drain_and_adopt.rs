//! Processes that keep the output open after the foreground process has ended.

use std::time::{Duration, Instant};

use haft_process::capture::{Output, OutputView};
use haft_process::{Command, Exit, Host, Task};
use haft_test_support::own::{alone, resources};
use haft_test_support::{Marker, Scratch, child, eventually, measure, process};

/// Timeout for events without a defined time limit.
const LONG_TIMEOUT: Duration = Duration::from_secs(20);

fn task<A: AsRef<str>>(arguments: impl IntoIterator<Item = A>) -> Task {
    let mut command = Command::new(child());
    command.arguments(arguments.into_iter().map(|argument| argument.as_ref().to_owned()));
    Task::new(command).grace(Duration::from_millis(200))
}

fn shell(script: &str) -> Task {
    let mut command = Command::new("/bin/sh");
    command.arguments(["-c", script]);
    Task::new(command)
}

fn bytes(output: Option<&Output>) -> Vec<u8> {
    output.unwrap().slice(&OutputView::HeadAndTail, 1 << 20).unwrap().to_bytes()
}

#[test]
fn daemons_with_open_output_do_not_block_the_call_and_are_captured() {
    let scratch = Scratch::new();
    let (first, second) = (scratch.text("first"), scratch.text("second"));
    let task = task(["daemon", &scratch.text("ready"), &first, &second]);
    let mut outcome = task.run(&Host::plain()).unwrap();
    assert_eq!(outcome.exit, Exit::Code(0));
    assert_eq!(bytes(outcome.captured.stdout.as_ref()), b"started\n");
    let after_exit = outcome.duration - outcome.wall;
    assert!(after_exit < Duration::from_millis(300), "returned {after_exit:?} after the exit");

    let left = outcome.adopted.take().unwrap();
    let output = outcome.captured.stdout.unwrap();
    assert!(!left.is_finished() && !output.is_finished() && !left.id().is_empty());
    assert_eq!(left.controller().members().len(), 1);
    scratch.touch("first");
    let expected = format!("started\n{first}\n");
    assert!(eventually(LONG_TIMEOUT, || bytes(Some(&output)) == expected.as_bytes()));
    scratch.touch("second");
    let end = left.wait().unwrap();
    assert_eq!(bytes(Some(&output)), format!("{expected}{second}\n").as_bytes());
    assert!(output.is_finished());
    assert_eq!((end.tree.killed, end.tree.survivors.pids(), end.adopted.is_none()), (0, [].as_slice(), true));
}

#[test]
fn output_shortly_after_the_exit_belongs_to_the_result() {
    let outcome = shell("(sleep 0.03; echo late) & echo now").run(&Host::plain()).unwrap();
    assert_eq!(bytes(outcome.captured.stdout.as_ref()), b"now\nlate\n");
    assert!(outcome.adopted.is_none());
}

#[test]
fn endless_writers_do_not_block_the_call() {
    let outcome = shell("while :; do echo more; sleep 0.01; done & exit 3").run(&Host::plain()).unwrap();
    assert_eq!(outcome.exit, Exit::Code(3));
    let after_exit = outcome.duration - outcome.wall;
    assert!(after_exit < Duration::from_millis(500), "returned {after_exit:?} after the exit");
    let left = outcome.adopted.unwrap();
    let end = left.end().unwrap();
    assert!(end.tree.killed >= 1 && end.tree.survivors.pids().is_empty(), "{:?}", end.tree);
}

#[test]
fn dropping_an_adopted_job_ends_it() {
    let (scratch, marker) = (Scratch::new(), Marker::new());
    let task = task(["daemon", &scratch.text("ready"), marker.as_str()]);
    let outcome = task.run(&Host::plain()).unwrap();
    assert_eq!(marker.count(), 1);
    drop(outcome);
    assert_eq!(marker.count(), 0);
}

#[test]
fn cancelled_adopted_jobs_report_it() {
    let (scratch, marker) = (Scratch::new(), Marker::new());
    let outcome = task(["daemon", &scratch.text("ready"), marker.as_str()]).run(&Host::plain()).unwrap();
    assert!(!outcome.cancelled);
    let end = outcome.adopted.unwrap().end().unwrap();
    assert!(end.cancelled);
    assert_eq!((end.tree.killed, end.tree.survivors.pids(), marker.count()), (1, [].as_slice(), 0));
}

#[test]
fn no_job_is_adopted_if_no_process_is_left() {
    for _ in 0..20 {
        let (outcome, time) = measure(|| task(["exit", "0"]).run(&Host::plain()).unwrap());
        assert!(outcome.adopted.is_none());
        assert!(time < LONG_TIMEOUT);
    }
}

#[test]
fn exits_during_adoption_are_noticed_at_once() {
    alone("exits_during_adoption_are_noticed_at_once", || {
        let before = resources();
        let mut adopted = 0;
        for step in 0..40 {
            // Close to the quiet period of 100 ms, after which processes are adopted.
            let pause = 80 + step;
            let outcome = shell(&format!("(sleep 0.{pause:03}; echo end) & :")).run(&Host::plain()).unwrap();
            let output = outcome.captured.stdout.clone();
            if let Some(left) = outcome.adopted {
                adopted += 1;
                let start = Instant::now();
                assert!(left.wait_for(LONG_TIMEOUT), "the adopted job never ends");
                assert!(start.elapsed() < Duration::from_secs(2));
            }
            assert_eq!(bytes(output.as_ref()), b"end\n");
        }
        println!("{adopted} of 40 were adopted");
        assert!(
            eventually(LONG_TIMEOUT, || resources() == before),
            "{:?} instead of {before:?}",
            resources()
        );
    });
}

#[test]
fn waiting_for_an_adopted_job_uses_no_cpu() {
    alone("waiting_for_an_adopted_job_uses_no_cpu", || {
        let (scratch, marker) = (Scratch::new(), Marker::new());
        let outcome = task(["daemon", &scratch.text("ready"), marker.as_str()]).run(&Host::plain()).unwrap();
        let own = std::process::id() as i32;
        let before = process::cpu_time(own);
        assert!(!outcome.adopted.as_ref().unwrap().wait_for(Duration::from_secs(1)));
        let used = process::cpu_time(own) - before;
        assert!(used <= Duration::from_millis(50), "{used:?} in a second of waiting");
    });
}

#[test]
fn subreapers_adopt_orphans_without_open_output() {
    alone("subreapers_adopt_orphans_without_open_output", || {
        let (scratch, marker) = (Scratch::new(), Marker::new());
        let host = Host::builder().subreaper().build();
        let task = task(["bystander", &scratch.text(marker.as_str())]);
        let outcome = task.run(&host).unwrap();
        let left = outcome.adopted.expect("the daemon is adopted");
        let pids = left.controller().members();
        assert_eq!(pids.len(), 1);
        let end = left.end().unwrap();
        assert_eq!((end.tree.killed, end.tree.survivors.count()), (1, Some(0)));
        assert_eq!(process::state(pids[0]), None, "the process or its zombie still exists");
    });
}
