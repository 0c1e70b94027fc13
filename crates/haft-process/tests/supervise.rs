//! One loop that feeds, reads and waits: nothing makes it hang, and nothing is lost.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use haft_process::capture::{CaptureLimits, Output, OutputView};
use haft_process::{
    CancelToken, Command, Exit, Host, Input, JobOutcome, OutputCallback, StreamKind, Streams, Task,
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
    assert!(!outcome.timed_out, "it hangs");
    outcome
}

/// What the child says of its input: how much, and a sum over it.
fn counted(input: &[u8]) -> String {
    let sum = input.iter().fold(0u64, |sum, &byte| sum.wrapping_mul(31).wrapping_add(u64::from(byte)));
    format!("{} {sum}\n", input.len())
}

#[test]
fn input_of_8_mib_arrives_whole() {
    let input: Arc<[u8]> = (0..8 * MIB).map(|index| (index * 7) as u8).collect();
    let outcome = run(task(["count"]).input(Input::Bytes(input.clone())));
    assert_eq!(bytes(outcome.captured.stderr.as_ref()), counted(&input).as_bytes());
}

#[test]
fn input_of_8_mib_to_a_child_that_never_reads_is_no_problem() {
    let input: Arc<[u8]> = vec![b'x'; 8 * MIB].into();
    let outcome = run(task(["deaf"]).input(Input::Bytes(input.clone())));
    assert_eq!((outcome.exit, outcome.cancelled), (Exit::Code(0), false));
    assert_eq!(bytes(outcome.captured.stdout.as_ref()), b"not listening\n");
    let scratch = Scratch::new();
    let job = task(["deaf", &scratch.text("go")]).input(Input::Bytes(input)).start(&Host::plain()).unwrap();
    let handle = job.background().unwrap();
    assert!(!handle.wait_for(Duration::from_millis(100)), "it has to wait for the file");
    scratch.touch("go");
    assert_eq!(handle.wait().unwrap().exit, Exit::Code(0));
}

#[test]
fn a_child_that_writes_8_mib_before_it_reads_8_mib_gets_and_gives_all() {
    let input: Arc<[u8]> = vec![b'y'; 8 * MIB].into();
    let count = (8 * MIB).to_string();
    let limits = CaptureLimits { head: 16 * MIB, ..CaptureLimits::default() };
    let outcome =
        run(task(["flood-then-count", &count]).input(Input::Bytes(input.clone())).capture_limits(limits));
    assert_eq!(bytes(outcome.captured.stdout.as_ref()).len(), 8 * MIB);
    assert_eq!(bytes(outcome.captured.stderr.as_ref()), counted(&input).as_bytes());
}

#[test]
fn input_is_at_its_end_unless_there_is_some() {
    let outcome = run(task(["count"]));
    assert_eq!(bytes(outcome.captured.stderr.as_ref()), b"0 0\n");
    let outcome = run(task(["count"]).input(Input::Bytes(Arc::from([]))));
    assert_eq!(bytes(outcome.captured.stderr.as_ref()), b"0 0\n");
}

#[test]
fn a_file_is_given_as_it_is() {
    let scratch = Scratch::new();
    std::fs::write(scratch.file("input"), "from a file").unwrap();
    let open = || Arc::new(std::fs::File::open(scratch.file("input")).unwrap().into());
    for input in [Input::File(open()), Input::Forward(open())] {
        let outcome = run(task(["count"]).input(input));
        assert_eq!(bytes(outcome.captured.stderr.as_ref()), counted(b"from a file").as_bytes());
    }
}

#[test]
fn input_can_be_written_while_it_runs() {
    let job = task(["count"]).input(Input::Pipe).start(&Host::plain()).unwrap();
    let handle = job.background().unwrap();
    handle.controller().write(b"one ".as_slice());
    handle.controller().write(b"two".as_slice());
    assert!(!handle.wait_for(Duration::from_millis(50)), "its input is still open");
    handle.controller().close_input();
    let outcome = handle.wait().unwrap();
    assert_eq!(bytes(outcome.captured.stderr.as_ref()), counted(b"one two").as_bytes());
}

#[test]
fn streams_are_kept_apart_or_merged_in_true_order() {
    let apart = run(task(["interleave", "3"]));
    assert_eq!(bytes(apart.captured.stdout.as_ref()), b"out 0\nout 1\nout 2\n");
    assert_eq!(bytes(apart.captured.stderr.as_ref()), b"err 0\nerr 1\nerr 2\n");
    let merged = run(task(["interleave", "500"]).streams(Streams::Merged));
    let expected: String = (0..500).map(|number| format!("out {number}\nerr {number}\n")).collect();
    assert_eq!(bytes(merged.captured.output.as_ref()), expected.as_bytes());
    assert!(merged.captured.stdout.is_none() && merged.captured.stderr.is_none());
}

#[test]
fn output_that_is_no_text_or_has_no_newline_stays_as_it_is() {
    let outcome = run(task(["bytes", "fffe00c3"]));
    assert_eq!(bytes(outcome.captured.stdout.as_ref()), [0xff, 0xfe, 0, 0xc3]);
    let stdout = outcome.report(100).shown.stdout.unwrap();
    assert!(stdout.lossy && !stdout.truncated);
    assert_eq!((stdout.total_bytes, stdout.total_lines), (4, 1));
    let outcome = run(task(["bytes", "c3a9"]));
    let stdout = outcome.report(100).shown.stdout.unwrap();
    assert_eq!((stdout.text.as_str(), stdout.lossy, stdout.total_lines), ("é", false, 1));
}

#[test]
fn bytes_are_seen_as_they_arrive() {
    let seen = Arc::new(Mutex::new(Vec::<(StreamKind, Vec<u8>)>::new()));
    let sink = seen.clone();
    let live = OutputCallback::new(move |kind, bytes| sink.lock().unwrap().push((kind, bytes.to_vec())));
    let handle =
        task(["drip", "3", "200"]).on_output(live).start(&Host::plain()).unwrap().background().unwrap();
    assert!(eventually(Duration::from_secs(10), || !seen.lock().unwrap().is_empty()));
    assert!(!handle.is_finished(), "the first line was not shown before the end");
    handle.wait().unwrap();
    let all: Vec<u8> = seen.lock().unwrap().iter().flat_map(|(_, bytes)| bytes.clone()).collect();
    assert_eq!(all, b"drip 0\ndrip 1\ndrip 2\n");
    assert!(seen.lock().unwrap().iter().all(|(kind, _)| *kind == StreamKind::Stdout));
}

#[test]
fn an_outcome_says_how_long_it_took_and_what_it_used() {
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
fn a_deadline_that_comes_first_is_a_timeout_and_what_was_written_is_kept() {
    let (outcome, time) =
        measure(|| task(["drip", "1", "60000"]).timeout(Duration::from_millis(300)).run(&Host::plain()));
    let outcome = outcome.unwrap();
    assert!(outcome.timed_out && !outcome.cancelled);
    assert_eq!(outcome.code(), 124);
    assert_eq!(outcome.exit, Exit::Signal(15));
    assert_eq!(bytes(outcome.captured.stdout.as_ref()), b"drip 0\n");
    assert_eq!((outcome.tree.killed, outcome.tree.survivors.pids()), (1, [].as_slice()));
    assert!(time < Duration::from_millis(1800), "the grace was waited for in vain: {time:?}");
}

#[test]
fn the_grace_is_for_those_who_use_it() {
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
fn a_token_that_was_cancelled_before_ends_the_job_at_once() {
    let token = CancelToken::new();
    token.cancel();
    let (outcome, time) = measure(|| task(["sleep"]).cancel(&token).run(&Host::plain()).unwrap());
    assert!(outcome.cancelled && time < Duration::from_secs(1), "{time:?}");
}

#[test]
fn waiting_costs_no_time_on_the_processor() {
    haft_test_support::own::alone("waiting_costs_no_time_on_the_processor", || {
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
        assert!(used <= Duration::from_millis(20), "{used:?} in a second of waiting");
    });
}

#[test]
fn a_child_that_closes_its_output_is_waited_for_all_the_same() {
    let scratch = Scratch::new();
    let mut command = Command::new("/bin/sh");
    command.arguments(["-c", "exec >&- 2>&-; while [ ! -e \"$1\" ]; do :; done; exit 4", "sh"]);
    command.argument(scratch.file("go"));
    let handle = Task::new(command).start(&Host::plain()).unwrap().background().unwrap();
    assert!(!handle.wait_for(Duration::from_millis(300)), "it still runs");
    scratch.touch("go");
    assert_eq!(handle.wait().unwrap().exit, Exit::Code(4));
}

#[test]
fn a_live_callback_that_panics_leaves_nothing_running() {
    haft_test_support::own::alone("a_live_callback_that_panics_leaves_nothing_running", || {
        let live = OutputCallback::new(|_, _| panic!("as it was told to"));
        let job = task(["flood", &(1usize << 40).to_string()]).on_output(live).start(&Host::plain()).unwrap();
        let pid = job.controller().pid();
        assert!(job.background().unwrap().wait().is_none(), "there is no outcome");
        assert_eq!(process::state(pid), None);
    });
}
