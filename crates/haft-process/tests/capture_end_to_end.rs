//! Captured output, from the pipe to a view.

use std::os::unix::fs::PermissionsExt as _;
use std::time::Duration;

use haft_process::capture::{CaptureLimits, LineSearch, OutputView};
use haft_process::{Command, Host, JobOutcome, Task};
use haft_test_support::{Scratch, child, eventually};

const MIB: u64 = 1 << 20;
const LONG_TIMEOUT: Duration = Duration::from_secs(20);

fn task<A: AsRef<str>>(arguments: impl IntoIterator<Item = A>) -> Task {
    let mut command = Command::new(child());
    command.arguments(arguments.into_iter().map(|argument| argument.as_ref().to_owned()));
    Task::new(command).timeout(Duration::from_secs(60))
}

fn flood(bytes: u64, limits: CaptureLimits, host: &Host) -> JobOutcome {
    let outcome = task(["flood", &bytes.to_string()]).capture_limits(limits).run(host).unwrap();
    assert!(outcome.exit.success());
    outcome
}

#[test]
fn output_within_the_spill_limit_is_complete() {
    let scratch = Scratch::new();
    let host = Host::builder().run_directory(scratch.file("runs")).build();
    let outcome = flood(16 * MIB, CaptureLimits::default(), &host);
    let stdout = outcome.captured.stdout.unwrap();
    assert!(stdout.is_complete() && stdout.is_finished());
    assert_eq!((stdout.total_bytes(), stdout.total_lines()), (16 * MIB, 16 * MIB / 64));
    let file = stdout.spill_path().unwrap();
    assert!(file.starts_with(scratch.file("runs")));
    let metadata = std::fs::metadata(&file).unwrap();
    assert_eq!((metadata.permissions().mode() & 0o7777, metadata.len()), (0o600, 16 * MIB));
    let directory = std::fs::metadata(file.parent().unwrap()).unwrap();
    assert_eq!(directory.permissions().mode() & 0o7777, 0o700);
    let middle = stdout.slice(&OutputView::Bytes(8 * MIB..8 * MIB + 64), 100).unwrap().to_bytes();
    assert_eq!(middle, [[b'x'; 63].as_slice(), b"\n"].concat());
    drop(stdout);
    assert!(!file.exists(), "the spill file is removed with the output");
    drop(host);
    assert_eq!(scratch.listing(), ["runs"]);
}

#[test]
fn bytes_beyond_the_spill_limit_are_counted_and_the_tail_is_kept() {
    let scratch = Scratch::new();
    let host = Host::builder().run_directory(scratch.file("runs")).build();
    let limits = CaptureLimits { head: 4096, tail: 4096, spill: MIB };
    let outcome = flood(8 * MIB + 1, limits, &host);
    let report = outcome.report(64 << 10).outputs.stdout.unwrap();
    assert!(report.truncated);
    assert_eq!((report.total_bytes, report.total_lines), (8 * MIB + 1, 8 * MIB / 64 + 1));
    assert_eq!(report.omitted.unwrap().lost_bytes, 7 * MIB + 1 - 4096);
    let stdout = outcome.captured.stdout.unwrap();
    assert_eq!(std::fs::metadata(stdout.spill_path().unwrap()).unwrap().len(), MIB);
    assert_eq!(stdout.retained(), [0..MIB, 8 * MIB + 1 - 4096..8 * MIB + 1]);
    assert_eq!(stdout.slice(&OutputView::TailBytes(1), 10).unwrap().to_bytes(), b"x");
}

#[test]
fn without_a_spill_directory_head_and_tail_are_kept() {
    let outcome = flood(MIB, CaptureLimits::default(), &Host::plain());
    let stdout = outcome.captured.stdout.unwrap();
    assert!(!stdout.is_complete() && stdout.spill_path().is_none());
    assert_eq!(stdout.retained(), [0..64 << 10, MIB - (64 << 10)..MIB]);
}

#[test]
fn an_unwritable_run_directory_is_only_a_warning() {
    let host = Host::builder().run_directory("/proc/no/such/place").build();
    assert_eq!(host.warnings().len(), 1);
    assert!(host.warnings()[0].contains("/proc/no/such"), "{:?}", host.warnings());
    let stdout = flood(MIB, CaptureLimits::default(), &host).captured.stdout.unwrap();
    assert_eq!(stdout.total_bytes(), MIB);
}

#[test]
fn a_removed_run_directory_is_replaced_by_a_memory_file() {
    let scratch = Scratch::new();
    let host = Host::builder().run_directory(scratch.file("runs")).build();
    std::fs::remove_dir_all(scratch.file("runs")).unwrap();
    let outcome = flood(MIB, CaptureLimits::default(), &host);
    let stdout = outcome.captured.stdout.as_ref().unwrap();
    assert_eq!((stdout.total_bytes(), stdout.is_complete()), (MIB, true));
    assert_eq!((stdout.spill_failure(), stdout.spill_path()), (None, None));
    assert_eq!(stdout.slice(&OutputView::HeadAndTail, 2 << 20).unwrap().to_bytes().len() as u64, MIB);
}

#[test]
fn all_views_work_on_a_growing_output() {
    let scratch = Scratch::new();
    let mut command = Command::new("/bin/sh");
    command.arguments([
        "-c",
        "\"$1\" lines 1000; exec \"$1\" wait-for \"$2\"",
        "sh",
        child(),
        &scratch.text("go"),
    ]);
    let handle = Task::new(command).start(&Host::plain()).unwrap().background().unwrap();
    let output = handle.controller().captured().stdout.clone().unwrap();
    assert!(eventually(LONG_TIMEOUT, || output.total_lines() == 1000));
    assert!(!output.is_finished());
    let view =
        |view: OutputView| String::from_utf8(output.slice(&view, 1 << 20).unwrap().to_bytes()).unwrap();
    assert_eq!(view(OutputView::HeadLines(2)), "line 1\nline 2\n");
    assert_eq!(view(OutputView::TailLines(1)), "line 1000\n");
    assert_eq!(view(OutputView::Lines { first: 500, last: 501 }), "line 500\nline 501\n");
    assert_eq!(view(OutputView::Bytes(0..4)), "line");
    assert_eq!(
        view(OutputView::Matches(LineSearch::new("^line 77.$").unwrap().limit(2))),
        "line 770\nline 771\n"
    );
    scratch.touch("go");
    assert!(handle.wait().unwrap().exit.success());
    assert!(output.is_finished());
}

#[test]
fn large_stdout_and_stderr_are_both_complete() {
    let scratch = Scratch::new();
    let host = Host::builder().run_directory(scratch.file("runs")).build();
    let mut command = Command::new("/bin/sh");
    command.arguments(["-c", "\"$1\" flood 5000000 & \"$1\" flood 6000000 >&2; wait", "sh", child()]);
    let outcome = Task::new(command).run(&host).unwrap();
    assert_eq!(outcome.captured.stdout.unwrap().total_bytes(), 5_000_000);
    assert_eq!(outcome.captured.stderr.unwrap().total_bytes(), 6_000_000);
}
