//! Detecting processes that wait for input.

use std::sync::Arc;
use std::time::Duration;

use haft_process::{Command, Host, Input, JobHandle, Streams, Task, TerminalSize};
use haft_test_support::{Scratch, child, eventually, process};

const LONG_TIMEOUT: Duration = Duration::from_secs(20);

fn start<A: AsRef<str>>(
    arguments: impl IntoIterator<Item = A>,
    change: impl FnOnce(Task) -> Task,
) -> JobHandle {
    let mut command = Command::new(child());
    command.arguments(arguments.into_iter().map(|argument| argument.as_ref().to_owned()));
    change(Task::new(command).input(Input::Pipe)).start(&Host::plain()).unwrap().background().unwrap()
}

fn waits(handle: &JobHandle) -> bool {
    eventually(LONG_TIMEOUT, || handle.controller().needs_input() == Some(handle.controller().pid()))
}

/// Whether no process is reported to wait, for a while.
fn never_waits(handle: &JobHandle) -> bool {
    !eventually(Duration::from_millis(200), || handle.controller().needs_input().is_some())
}

#[test]
fn all_blocking_reads_and_polls_are_recognised() {
    for way in ["read", "poll", "select", "epoll", "thread"] {
        for terminal in [false, true] {
            let handle = start(["await-input", way], |task| {
                if terminal { task.streams(Streams::Terminal(TerminalSize::default())) } else { task }
            });
            assert!(waits(&handle), "{way}, on a terminal: {terminal}");
            handle.controller().write(b"x\n".as_slice());
            let outcome = handle.wait().unwrap();
            assert!(outcome.exit.success(), "{way}, on a terminal: {terminal}");
        }
    }
}

#[test]
fn computing_sleeping_and_writing_processes_do_not_wait_for_input() {
    let scratch = Scratch::new();
    for arguments in
        [&["sleep"][..], &["burn"], &["wait-for", &scratch.text("never")], &["flood", "1099511627776"]]
    {
        let handle = start(arguments, |task| task);
        assert!(never_waits(&handle), "{arguments:?}");
        handle.end().unwrap();
    }
}

#[test]
fn a_printed_question_alone_does_not_count() {
    let mut command = Command::new("/bin/sh");
    command.arguments(["-c", "printf 'Password: '; exec sleep 60"]);
    let task = Task::new(command).input(Input::Pipe).grace(Duration::from_millis(100));
    let handle = task.start(&Host::plain()).unwrap().background().unwrap();
    let output = handle.controller().captured().stdout.clone().unwrap();
    assert!(eventually(LONG_TIMEOUT, || output.total_bytes() == 10));
    assert!(never_waits(&handle));
    handle.end().unwrap();
}

#[test]
fn waiting_descendants_are_found() {
    let mut command = Command::new("/bin/sh");
    command.arguments(["-c", &format!("{} await-input read; :", child())]);
    let handle = Task::new(command).input(Input::Pipe).start(&Host::plain()).unwrap().background().unwrap();
    assert!(eventually(LONG_TIMEOUT, || handle.controller().needs_input().is_some()));
    let waiting = handle.controller().needs_input().unwrap();
    assert_eq!(process::parent(waiting), Some(handle.controller().pid()));
    handle.controller().close_input();
    assert!(handle.wait().unwrap().exit.success());
}

#[test]
fn reading_another_file_does_not_count() {
    let scratch = Scratch::new();
    let fifo = scratch.text("fifo");
    let mut command = Command::new("/bin/sh");
    command.arguments(["-c", "mkfifo \"$1\" && exec cat <> \"$1\"", "sh", &fifo]);
    command.environment(haft_process::Environment::from_pairs([("PATH", "/usr/bin:/bin")]).unwrap());
    let task = Task::new(command).input(Input::Pipe).grace(Duration::from_millis(100));
    let handle = task.start(&Host::plain()).unwrap().background().unwrap();
    assert!(eventually(LONG_TIMEOUT, || std::fs::metadata(&fifo).is_ok()));
    assert!(never_waits(&handle));
    handle.end().unwrap();
}

#[test]
fn timeouts_report_that_the_job_waited_for_input() {
    let run = |arguments: &[&str], input: Input| {
        let mut command = Command::new(child());
        command.arguments(arguments.iter().copied());
        Task::new(command).input(input).timeout(Duration::from_millis(500)).run(&Host::plain()).unwrap()
    };
    let waiting = run(&["await-input", "read"], Input::Pipe);
    assert!(waiting.timed_out && waiting.needed_input);
    let sleeping = run(&["sleep"], Input::Pipe);
    assert!(sleeping.timed_out && !sleeping.needed_input);
}

#[test]
fn input_files_are_recognised_too() {
    let (near, far) = rustix::pipe::pipe().unwrap();
    let handle = start(["await-input", "read"], |task| task.input(Input::File(Arc::new(near))));
    assert!(waits(&handle));
    drop(far);
    assert!(handle.wait().unwrap().exit.success());
}
