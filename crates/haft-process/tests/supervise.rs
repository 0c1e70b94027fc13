//! Supervised jobs: input, output, deadlines and cancellation.

use std::os::fd::OwnedFd;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use haft_process::capture::{CaptureLimits, Output, OutputView};
use haft_process::{
    CancelToken, Command, Exit, Host, Input, JobOutcome, OutputCallback, Signals, StreamKind, Streams, Task,
    TerminalSize,
};
use haft_test_support::{Scratch, child, eventually, measure, process};

const MIB: usize = 1 << 20;

fn task<A: AsRef<str>>(arguments: impl IntoIterator<Item = A>) -> Task {
    let mut command = Command::new(child());
    command.arguments(arguments.into_iter().map(|argument| argument.as_ref().to_owned()));
    Task::new(command).timeout(Duration::from_secs(60))
}

fn bytes(output: Option<&Output>) -> Vec<u8> {
    output.unwrap().slice(&OutputView::HeadAndTail, usize::MAX >> 1).unwrap().to_bytes()
}

fn run(task: Task) -> JobOutcome {
    let outcome = task.run(&Host::plain()).unwrap();
    assert!(!outcome.timed_out, "the job hangs");
    outcome
}

/// Returns what the child prints about its input: size and checksum.
fn counted(input: &[u8]) -> String {
    let sum = input.iter().fold(0u64, |sum, &byte| sum.wrapping_mul(31).wrapping_add(u64::from(byte)));
    format!("{} {sum}\n", input.len())
}

#[test]
fn large_input_is_complete() {
    let input: Arc<[u8]> = (0..8 * MIB).map(|index| (index * 7) as u8).collect();
    let outcome = run(task(["count"]).input(Input::Bytes(input.clone())));
    assert_eq!(bytes(outcome.captured.stderr.as_ref()), counted(&input).as_bytes());
}

#[test]
fn unread_input_does_not_block() {
    let input: Arc<[u8]> = vec![b'x'; 8 * MIB].into();
    let outcome = run(task(["deaf"]).input(Input::Bytes(input.clone())));
    assert_eq!((outcome.exit, outcome.cancelled), (Exit::Code(0), false));
    assert_eq!(bytes(outcome.captured.stdout.as_ref()), b"not listening\n");
    let scratch = Scratch::new();
    let job = task(["deaf", &scratch.text("go")]).input(Input::Bytes(input)).start(&Host::plain()).unwrap();
    let handle = job.background().unwrap();
    assert!(!handle.wait_for(Duration::from_millis(100)), "the child waits for the file");
    scratch.touch("go");
    assert_eq!(handle.wait().unwrap().exit, Exit::Code(0));
}

#[test]
fn children_can_write_much_before_they_read_much() {
    let input: Arc<[u8]> = vec![b'y'; 8 * MIB].into();
    let count = (8 * MIB).to_string();
    let limits = CaptureLimits { head: 16 * MIB, ..CaptureLimits::default() };
    let outcome =
        run(task(["flood-then-count", &count]).input(Input::Bytes(input.clone())).capture_limits(limits));
    assert_eq!(bytes(outcome.captured.stdout.as_ref()).len(), 8 * MIB);
    assert_eq!(bytes(outcome.captured.stderr.as_ref()), counted(&input).as_bytes());
}

#[test]
fn input_is_empty_by_default() {
    let outcome = run(task(["count"]));
    assert_eq!(bytes(outcome.captured.stderr.as_ref()), b"0 0\n");
    let outcome = run(task(["count"]).input(Input::Bytes(Arc::from([]))));
    assert_eq!(bytes(outcome.captured.stderr.as_ref()), b"0 0\n");
}

#[test]
fn files_can_be_input() {
    let scratch = Scratch::new();
    std::fs::write(scratch.file("input"), "from a file").unwrap();
    let open = || Arc::new(std::fs::File::open(scratch.file("input")).unwrap().into());
    for input in [Input::File(open()), Input::Forward(open())] {
        let outcome = run(task(["count"]).input(input));
        assert_eq!(bytes(outcome.captured.stderr.as_ref()), counted(b"from a file").as_bytes());
    }
}

#[test]
fn input_can_be_inherited_from_the_command() {
    let scratch = Scratch::new();
    std::fs::write(scratch.file("input"), "from the command\n").unwrap();
    let counted = counted(b"from the command\n");
    for streams in [Streams::Separate, Streams::Terminal(TerminalSize::default())] {
        let file: OwnedFd = std::fs::File::open(scratch.file("input")).unwrap().into();
        let mut command = Command::new(child());
        command.argument("count").descriptor(0, file);
        let task = Task::new(command).input(Input::Inherit).streams(streams);
        let outcome = run(task.timeout(Duration::from_secs(60)));
        let output = outcome.captured.stderr.as_ref().or(outcome.captured.output.as_ref());
        let text = String::from_utf8(bytes(output)).unwrap().replace('\r', "");
        assert!(text.ends_with(&counted), "{text:?}");
    }
}

#[test]
fn input_can_be_written_while_the_job_runs() {
    let job = task(["count"]).input(Input::Pipe).start(&Host::plain()).unwrap();
    let handle = job.background().unwrap();
    handle.controller().write(b"one ".as_slice());
    handle.controller().write(b"two".as_slice());
    assert!(!handle.wait_for(Duration::from_millis(50)), "the input is still open");
    handle.controller().close_input();
    let outcome = handle.wait().unwrap();
    assert_eq!(bytes(outcome.captured.stderr.as_ref()), counted(b"one two").as_bytes());
}

#[test]
fn streams_are_captured_separately_or_merged_in_order() {
    let apart = run(task(["interleave", "3"]));
    assert_eq!(bytes(apart.captured.stdout.as_ref()), b"out 0\nout 1\nout 2\n");
    assert_eq!(bytes(apart.captured.stderr.as_ref()), b"err 0\nerr 1\nerr 2\n");
    let merged = run(task(["interleave", "500"]).streams(Streams::Merged));
    let expected: String = (0..500).map(|number| format!("out {number}\nerr {number}\n")).collect();
    assert_eq!(bytes(merged.captured.output.as_ref()), expected.as_bytes());
    assert!(merged.captured.stdout.is_none() && merged.captured.stderr.is_none());
}

#[test]
fn binary_output_is_captured_unchanged() {
    let outcome = run(task(["bytes", "fffe00c3"]));
    assert_eq!(bytes(outcome.captured.stdout.as_ref()), [0xff, 0xfe, 0, 0xc3]);
    let stdout = outcome.report(100).outputs.stdout.unwrap();
    assert!(stdout.lossy && !stdout.truncated);
    assert_eq!((stdout.total_bytes, stdout.total_lines), (4, 1));
    let outcome = run(task(["bytes", "c3a9"]));
    let stdout = outcome.report(100).outputs.stdout.unwrap();
    assert_eq!((stdout.text.as_str(), stdout.lossy, stdout.total_lines), ("é", false, 1));
}

#[test]
fn the_callback_sees_bytes_as_they_arrive() {
    let seen = Arc::new(Mutex::new(Vec::<(StreamKind, Vec<u8>)>::new()));
    let sink = seen.clone();
    let callback = OutputCallback::new(move |kind, bytes| sink.lock().unwrap().push((kind, bytes.to_vec())));
    let handle =
        task(["drip", "3", "200"]).on_output(callback).start(&Host::plain()).unwrap().background().unwrap();
    assert!(eventually(Duration::from_secs(10), || !seen.lock().unwrap().is_empty()));
    assert!(!handle.is_finished(), "the first line was not passed before the end");
    handle.wait().unwrap();
    let all: Vec<u8> = seen.lock().unwrap().iter().flat_map(|(_, bytes)| bytes.clone()).collect();
    assert_eq!(all, b"drip 0\ndrip 1\ndrip 2\n");
    assert!(seen.lock().unwrap().iter().all(|(kind, _)| *kind == StreamKind::Stdout));
}

#[test]
fn outcomes_report_time_and_resource_usage() {
    let outcome = run(task(["allocate", &(64 * MIB).to_string()]));
    assert!(outcome.usage.max_rss > 64 * MIB as u64, "{:?}", outcome.usage);
    let (outcome, time) = measure(|| task(["burn"]).timeout(Duration::from_millis(300)).run(&Host::plain()));
    let outcome = outcome.unwrap();
    assert!(outcome.timed_out);
    assert!(outcome.usage.user > Duration::from_millis(1), "{:?}", outcome.usage);
    assert!(outcome.wall >= Duration::from_millis(300) && outcome.wall <= outcome.duration);
    assert!(outcome.duration <= time);
}

#[test]
fn timeouts_keep_the_output() {
    let (outcome, time) =
        measure(|| task(["drip", "1", "60000"]).timeout(Duration::from_millis(300)).run(&Host::plain()));
    let outcome = outcome.unwrap();
    assert!(outcome.timed_out && !outcome.cancelled);
    assert_eq!(outcome.code(), 124);
    assert_eq!(outcome.exit, Exit::Signal(Signals::TERM));
    assert_eq!(bytes(outcome.captured.stdout.as_ref()), b"drip 0\n");
    assert_eq!((outcome.tree.killed, outcome.tree.survivors.pids()), (1, [].as_slice()));
    assert!(time < Duration::from_millis(1800), "the job waited for the grace period: {time:?}");
}

#[test]
fn programs_can_clean_up_during_the_grace_period() {
    let scratch = Scratch::new();
    let token = CancelToken::new();
    let polite = task(["polite", &scratch.text("ready"), "7"]).cancel(&token).start(&Host::plain()).unwrap();
    let handle = polite.background().unwrap();
    scratch.await_lines("ready", 1);
    token.cancel();
    let outcome = handle.wait().unwrap();
    assert_eq!((outcome.exit, outcome.code(), outcome.cancelled), (Exit::Code(7), 130, true));
    assert_eq!(bytes(outcome.captured.stdout.as_ref()), b"goodbye\n");
}

#[test]
fn an_already_cancelled_token_ends_the_job_at_once() {
    let token = CancelToken::new();
    token.cancel();
    let (outcome, time) = measure(|| task(["sleep"]).cancel(&token).run(&Host::plain()).unwrap());
    assert!(outcome.cancelled && time < Duration::from_secs(1), "{time:?}");
}

#[test]
fn waiting_uses_no_cpu() {
    haft_test_support::own::alone("waiting_uses_no_cpu", || {
        let own = std::process::id() as i32;
        let scratch = Scratch::new();
        let input = Input::Bytes(vec![b'x'; MIB].into());
        let handle = task(["deaf", &scratch.text("go")]).input(input).start(&Host::plain()).unwrap();
        let handle = handle.background().unwrap();
        let before = process::cpu_time(own);
        assert!(!handle.wait_for(Duration::from_secs(1)));
        let used = process::cpu_time(own) - before;
        scratch.touch("go");
        handle.wait().unwrap();
        assert!(used <= Duration::from_millis(20), "{used:?} of CPU time in a second");
    });
}

#[test]
fn children_that_close_their_output_are_waited_for() {
    let scratch = Scratch::new();
    let mut command = Command::new("/bin/sh");
    command.arguments(["-c", "exec >&- 2>&-; while [ ! -e \"$1\" ]; do :; done; exit 4", "sh"]);
    command.argument(scratch.file("go"));
    let handle = Task::new(command).start(&Host::plain()).unwrap().background().unwrap();
    assert!(!handle.wait_for(Duration::from_millis(300)), "the child still runs");
    scratch.touch("go");
    assert_eq!(handle.wait().unwrap().exit, Exit::Code(4));
}

#[test]
fn panicking_callbacks_leave_no_process() {
    haft_test_support::own::alone("panicking_callbacks_leave_no_process", || {
        let callback = OutputCallback::new(|_, _| panic!("intended"));
        let job =
            task(["flood", &(1usize << 40).to_string()]).on_output(callback).start(&Host::plain()).unwrap();
        let pid = job.controller().pid();
        assert!(job.background().unwrap().wait().is_none(), "an outcome was returned");
        assert_eq!(process::state(pid), None);
    });
}
