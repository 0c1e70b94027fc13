//! Jobs on a terminal.

use std::sync::Arc;
use std::time::Duration;

use haft_process::capture::{Output, OutputView};
use haft_process::{Command, Exit, Host, Input, JobHandle, Signals, Streams, Task, TerminalSize};
use haft_test_support::{ChildReport, child, eventually, process};

const LONG_TIMEOUT: Duration = Duration::from_secs(20);
const TERMINAL_SIZE: TerminalSize = TerminalSize { rows: 40, columns: 120 };

fn task<A: AsRef<str>>(arguments: impl IntoIterator<Item = A>) -> Task {
    let mut command = Command::new(child());
    command.arguments(arguments.into_iter().map(|argument| argument.as_ref().to_owned()));
    Task::new(command).streams(Streams::Terminal(TERMINAL_SIZE)).timeout(Duration::from_secs(60))
}

fn background(task: Task) -> JobHandle {
    task.start(&Host::plain()).unwrap().background().unwrap()
}

fn text(output: Option<&Output>) -> String {
    let bytes = output.unwrap().slice(&OutputView::HeadAndTail, 1 << 20).unwrap().to_bytes();
    String::from_utf8_lossy(&bytes).into_owned()
}

fn shown(handle: &JobHandle) -> String {
    text(handle.controller().captured().output.as_ref())
}

#[test]
fn the_child_leads_a_session_with_a_controlling_terminal() {
    let outcome = task(["report"]).run(&Host::plain()).unwrap();
    let seen = ChildReport::parse(text(outcome.captured.output.as_ref()));
    assert_eq!(seen.number("sid"), seen.number("pid"));
    assert_ne!(seen.number("tty"), 0);
    assert_eq!(seen.number("foreground"), seen.number("pid"));
    let terminals = seen.descriptors();
    assert_eq!(terminals.len(), 3);
    assert!(terminals.iter().all(|(_, target)| target.starts_with("/dev/pts/")), "{terminals:?}");
    assert_eq!(outcome.captured.terminal, Some(TERMINAL_SIZE));
    assert!(outcome.captured.stdout.is_none());
}

#[test]
fn questions_can_be_answered() {
    for (source, echoed) in [("tty", true), ("stdin", true), ("stdin-hidden", false)] {
        let handle = background(task(["ask", source, "Your name? "]).input(Input::Pipe));
        assert!(eventually(LONG_TIMEOUT, || shown(&handle) == "Your name? "), "{}", shown(&handle));
        assert!(
            eventually(LONG_TIMEOUT, || handle.controller().needs_input().is_some()),
            "no process waits for input"
        );
        handle.controller().write(b"Ada\n".as_slice());
        let outcome = handle.wait().unwrap();
        assert_eq!(outcome.exit, Exit::Code(0));
        let typed = if echoed { "Ada\r\n" } else { "\r\n" };
        let expected = format!("Your name? {typed}answer: Ada\r\n");
        assert_eq!(text(outcome.captured.output.as_ref()), expected, "{source}");
    }
}

#[test]
fn programs_that_ask_without_input_get_end_of_file() {
    let outcome = task(["ask", "tty", "Go on? "]).run(&Host::plain()).unwrap();
    assert!(!outcome.timed_out);
    assert!(text(outcome.captured.output.as_ref()).starts_with("Go on? "), "{outcome:?}");
    assert!(text(outcome.captured.output.as_ref()).ends_with("answer: \r\n"), "{outcome:?}");
    assert!(outcome.wall < Duration::from_secs(10));
}

#[test]
fn initial_input_reaches_the_terminal() {
    let input = Input::Bytes(Arc::from(b"first\n".as_slice()));
    let outcome = task(["ask", "stdin", "? "]).input(input).run(&Host::plain()).unwrap();
    assert!(text(outcome.captured.output.as_ref()).ends_with("answer: first\r\n"));
}

#[test]
fn the_terminal_has_the_requested_size_and_can_be_resized() {
    let handle = background(task(["window"]).input(Input::Pipe));
    assert!(eventually(LONG_TIMEOUT, || shown(&handle) == "120x40\r\n"), "{}", shown(&handle));
    handle.controller().resize(TerminalSize { rows: 10, columns: 50 });
    assert!(eventually(LONG_TIMEOUT, || shown(&handle) == "120x40\r\n50x10\r\n"), "{}", shown(&handle));
    assert!(handle.end().unwrap().cancelled);
}

#[test]
fn raw_bytes_are_kept_and_the_report_is_rendered() {
    let mut command = Command::new("/bin/sh");
    command.arguments(["-c", r"printf '10%%\r20%%\r100%%\n\033[31mred\033[0m\nab\bc\n'"]);
    let outcome = Task::new(command).streams(Streams::Terminal(TERMINAL_SIZE)).run(&Host::plain()).unwrap();
    assert_eq!(
        text(outcome.captured.output.as_ref()),
        "10%\r20%\r100%\r\n\u{1b}[31mred\u{1b}[0m\r\nab\u{8}c\r\n"
    );
    assert_eq!(outcome.report(1 << 16).outputs.output.unwrap().text, "100%\nred\nac\n");
}

#[test]
fn ctrl_c_interrupts() {
    let handle = background(task(["sleep"]).input(Input::Pipe));
    let pid = handle.controller().pid();
    assert!(eventually(LONG_TIMEOUT, || process::state(pid) == Some('S')));
    handle.controller().write(b"\x03".as_slice());
    assert_eq!(handle.wait().unwrap().exit, Exit::Signal(Signals::INT));
}

#[test]
fn large_input_and_output_do_not_block_each_other() {
    let line = [b'x'; 63].as_slice();
    let input: Vec<u8> = [line, b"\n"].concat().repeat(4096);
    let mut command = Command::new("/bin/sh");
    command.arguments(["-c", "stty raw -echo; head -c 262144 | wc -c; seq 100000 | tail -n 1"]);
    command.environment(haft_process::Environment::from_pairs([("PATH", "/usr/bin:/bin")]).unwrap());
    let task = Task::new(command).streams(Streams::Terminal(TERMINAL_SIZE)).timeout(Duration::from_secs(60));
    let handle = background(task.input(Input::Pipe));
    // Input that is typed before the program has configured its terminal is lost.
    assert!(eventually(LONG_TIMEOUT, || handle.controller().needs_input().is_some()));
    handle.controller().write(input);
    let outcome = handle.wait().unwrap();
    assert!(!outcome.timed_out, "{}", text(outcome.captured.output.as_ref()));
    let seen = text(outcome.captured.output.as_ref());
    assert!(seen.contains("262144") && seen.contains("100000"), "{seen}");
}

#[test]
fn background_processes_do_not_keep_the_terminal() {
    let mut command = Command::new("/bin/sh");
    command.arguments(["-c", "trap '' HUP; sleep 60 & echo done"]);
    let outcome = Task::new(command).streams(Streams::Terminal(TERMINAL_SIZE)).run(&Host::plain()).unwrap();
    assert_eq!(text(outcome.captured.output.as_ref()), "done\r\n");
    assert!(outcome.duration < Duration::from_secs(5));
    drop(outcome.adopted);
}

#[test]
fn output_after_reopening_the_terminal_is_captured() {
    let mut command = Command::new("/bin/sh");
    command.arguments(["-c", "echo one; exec <&- >&- 2>&-; sleep 0.2; exec >/dev/tty; echo two"]);
    command.environment(haft_process::Environment::from_pairs([("PATH", "/usr/bin:/bin")]).unwrap());
    let outcome = Task::new(command).streams(Streams::Terminal(TERMINAL_SIZE)).run(&Host::plain()).unwrap();
    assert_eq!(text(outcome.captured.output.as_ref()), "one\r\ntwo\r\n");
}

#[test]
fn terminals_are_released_at_the_end() {
    haft_test_support::own::alone("terminals_are_released_at_the_end", || {
        task(["exit", "0"]).run(&Host::plain()).unwrap();
        let before = haft_test_support::own::resources();
        for _ in 0..50 {
            task(["exit", "0"]).run(&Host::plain()).unwrap();
        }
        assert_eq!(haft_test_support::own::resources(), before);
    });
}
