//! Programs that want a terminal.

use std::sync::Arc;
use std::time::Duration;

use haft_process::capture::{Output, OutputView};
use haft_process::{Command, Exit, Host, Input, JobHandle, Streams, Task, TerminalSize};
use haft_test_support::{Report, child, eventually, process};

const SOON: Duration = Duration::from_secs(20);
const SIZE: TerminalSize = TerminalSize { rows: 40, columns: 120 };

fn task<A: AsRef<str>>(arguments: impl IntoIterator<Item = A>) -> Task {
    let mut command = Command::new(child());
    command.arguments(arguments.into_iter().map(|argument| argument.as_ref().to_owned()));
    Task::new(command).streams(Streams::Terminal(SIZE)).timeout(Duration::from_secs(60))
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
fn the_child_leads_a_session_with_the_terminal_as_its_own() {
    let outcome = task(["report"]).run(&Host::plain()).unwrap();
    let seen = Report::parse(text(outcome.captured.output.as_ref()));
    assert_eq!(seen.number("sid"), seen.number("pid"));
    assert_ne!(seen.number("tty"), 0);
    assert_eq!(seen.number("foreground"), seen.number("pid"));
    let terminals = seen.descriptors();
    assert_eq!(terminals.len(), 3);
    assert!(terminals.iter().all(|(_, target)| target.starts_with("/dev/pts/")), "{terminals:?}");
    assert_eq!(outcome.captured.terminal, Some(SIZE));
    assert!(outcome.captured.stdout.is_none());
}

#[test]
fn a_question_is_answered_while_it_runs() {
    for (source, echoed) in [("tty", true), ("stdin", true), ("stdin-hidden", false)] {
        let handle = background(task(["ask", source, "Your name? "]).input(Input::Pipe));
        assert!(eventually(SOON, || shown(&handle) == "Your name? "), "{}", shown(&handle));
        assert!(eventually(SOON, || handle.controller().needs_input().is_some()), "nobody waits for input");
        handle.controller().write(b"Ada\n".as_slice());
        let outcome = handle.wait().unwrap();
        assert_eq!(outcome.exit, Exit::Code(0));
        let typed = if echoed { "Ada\r\n" } else { "\r\n" };
        let expected = format!("Your name? {typed}answer: Ada\r\n");
        assert_eq!(text(outcome.captured.output.as_ref()), expected, "{source}");
    }
}

#[test]
fn who_asks_where_nobody_answers_is_told_that_there_is_no_more_input() {
    let outcome = task(["ask", "tty", "Go on? "]).run(&Host::plain()).unwrap();
    assert!(!outcome.timed_out);
    assert!(text(outcome.captured.output.as_ref()).starts_with("Go on? "), "{outcome:?}");
    assert!(text(outcome.captured.output.as_ref()).ends_with("answer: \r\n"), "{outcome:?}");
    assert!(outcome.wall < Duration::from_secs(10));
}

#[test]
fn input_given_beforehand_is_typed() {
    let input = Input::Bytes(Arc::from(b"first\n".as_slice()));
    let outcome = task(["ask", "stdin", "? "]).input(input).run(&Host::plain()).unwrap();
    assert!(text(outcome.captured.output.as_ref()).ends_with("answer: first\r\n"));
}

#[test]
fn the_window_has_the_size_asked_for_and_can_be_resized() {
    let handle = background(task(["window"]).input(Input::Pipe));
    assert!(eventually(SOON, || shown(&handle) == "120x40\r\n"), "{}", shown(&handle));
    handle.controller().resize(TerminalSize { rows: 10, columns: 50 });
    assert!(eventually(SOON, || shown(&handle) == "120x40\r\n50x10\r\n"), "{}", shown(&handle));
    assert!(handle.end().unwrap().cancelled);
}

#[test]
fn the_raw_bytes_are_kept_and_the_report_shows_what_one_would_see() {
    let mut command = Command::new("/bin/sh");
    command.arguments(["-c", r"printf '10%%\r20%%\r100%%\n\033[31mred\033[0m\nab\bc\n'"]);
    let outcome = Task::new(command).streams(Streams::Terminal(SIZE)).run(&Host::plain()).unwrap();
    assert_eq!(
        text(outcome.captured.output.as_ref()),
        "10%\r20%\r100%\r\n\u{1b}[31mred\u{1b}[0m\r\nab\u{8}c\r\n"
    );
    assert_eq!(outcome.report(1 << 16).shown.output.unwrap().text, "100%\nred\nac\n");
}

#[test]
fn control_c_typed_on_the_terminal_interrupts() {
    let handle = background(task(["sleep"]).input(Input::Pipe));
    let pid = handle.controller().pid();
    assert!(eventually(SOON, || process::state(pid) == Some('S')));
    handle.controller().write(b"\x03".as_slice());
    assert_eq!(handle.wait().unwrap().exit, Exit::Signal(2));
}

#[test]
fn much_output_and_much_input_at_once_do_not_block_each_other() {
    let line = [b'x'; 63].as_slice();
    let input: Vec<u8> = [line, b"\n"].concat().repeat(4096);
    let mut command = Command::new("/bin/sh");
    command.arguments(["-c", "stty raw -echo; head -c 262144 | wc -c; seq 100000 | tail -n 1"]);
    command.environment(haft_process::Environment::from_pairs([("PATH", "/usr/bin:/bin")]).unwrap());
    let task = Task::new(command).streams(Streams::Terminal(SIZE)).timeout(Duration::from_secs(60));
    let handle = background(task.input(Input::Pipe));
    // What is typed before the program has set up its terminal is not its input.
    assert!(eventually(SOON, || handle.controller().needs_input().is_some()));
    handle.controller().write(input);
    let outcome = handle.wait().unwrap();
    assert!(!outcome.timed_out, "{}", text(outcome.captured.output.as_ref()));
    let seen = text(outcome.captured.output.as_ref());
    assert!(seen.contains("262144") && seen.contains("100000"), "{seen}");
}

#[test]
fn a_background_process_does_not_hold_the_terminal_after_the_end() {
    let mut command = Command::new("/bin/sh");
    command.arguments(["-c", "trap '' HUP; sleep 60 & echo done"]);
    let outcome = Task::new(command).streams(Streams::Terminal(SIZE)).run(&Host::plain()).unwrap();
    assert_eq!(text(outcome.captured.output.as_ref()), "done\r\n");
    assert!(outcome.duration < Duration::from_secs(5));
    drop(outcome.adopted);
}

#[test]
fn what_a_program_writes_after_it_has_let_go_of_its_terminal_and_taken_it_again_is_kept() {
    let mut command = Command::new("/bin/sh");
    command.arguments(["-c", "echo one; exec <&- >&- 2>&-; sleep 0.2; exec >/dev/tty; echo two"]);
    command.environment(haft_process::Environment::from_pairs([("PATH", "/usr/bin:/bin")]).unwrap());
    let outcome = Task::new(command).streams(Streams::Terminal(SIZE)).run(&Host::plain()).unwrap();
    assert_eq!(text(outcome.captured.output.as_ref()), "one\r\ntwo\r\n");
}

#[test]
fn a_terminal_is_given_back_when_the_job_is_over() {
    haft_test_support::own::alone("a_terminal_is_given_back_when_the_job_is_over", || {
        task(["exit", "0"]).run(&Host::plain()).unwrap();
        let before = haft_test_support::own::holdings();
        for _ in 0..50 {
            task(["exit", "0"]).run(&Host::plain()).unwrap();
        }
        assert_eq!(haft_test_support::own::holdings(), before);
    });
}
