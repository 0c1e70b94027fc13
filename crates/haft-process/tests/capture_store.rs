//! Outputs in memory and in spill files.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::thread;
use std::time::{Duration, Instant};

use haft_process::capture::{CaptureLimits, Decoder, Output, OutputView, SpillDirectory};
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::mount::{MountFlags, UnmountFlags, mount, unmount};

const EVERYTHING: usize = usize::MAX;

fn spilling(limits: CaptureLimits) -> (tempfile::TempDir, Output) {
    let directory = tempfile::tempdir().expect("a directory");
    let output =
        Output::new(limits, Some(SpillDirectory::open(directory.path()).expect("an open directory")));
    (directory, output)
}

fn files(directory: &Path) -> usize {
    fs::read_dir(directory).expect("a directory").count()
}

/// Returns numbered lines.
fn lines(count: usize) -> Vec<u8> {
    (1..=count).flat_map(|number| format!("line {number}\n").into_bytes()).collect()
}

fn bytes(output: &Output, view: &OutputView) -> Vec<u8> {
    output.slice(view, EVERYTHING).expect("a readable output").to_bytes()
}

#[test]
fn small_outputs_are_not_spilled() {
    let (directory, output) = spilling(CaptureLimits::default());
    let content = vec![b'x'; 128 << 10];
    for chunk in content.chunks(1000) {
        output.append(chunk);
    }
    assert_eq!(files(directory.path()), 0);
    assert!(output.is_complete());
    assert_eq!(bytes(&output, &OutputView::HeadAndTail), content);
    output.append(b"y");
    assert_eq!(files(directory.path()), 1);
}

#[test]
fn spill_files_are_private_and_removed_with_the_last_clone() {
    let (directory, output) = spilling(CaptureLimits { head: 10, tail: 10, spill: 1000 });
    let content = lines(20);
    output.append(&content);
    let path = output.spill_path().expect("a spill file");
    assert_eq!(fs::read(&path).expect("a readable spill file"), content);
    assert_eq!(fs::metadata(&path).expect("a spill file").permissions().mode() & 0o7777, 0o600);
    let other = output.clone();
    drop(output);
    assert!(path.exists());
    drop(other);
    assert_eq!(files(directory.path()), 0);
}

#[test]
fn bytes_and_lines_beyond_the_spill_limit_are_counted() {
    let (_directory, output) = spilling(CaptureLimits { head: 100, tail: 300, spill: 10_000 });
    let content = lines(100_000);
    for chunk in content.chunks(777) {
        output.append(chunk);
    }
    output.finish();
    let total = content.len() as u64;
    assert_eq!((output.total_bytes(), output.total_lines()), (total, 100_000));
    assert_eq!(output.retained(), [0..10_000, total - 300..total]);
    assert!(!output.is_complete());
    assert_eq!(output.spill_failure(), None);
    assert_eq!(fs::metadata(output.spill_path().expect("a spill file")).expect("a spill file").len(), 10_000);

    let slice = output.slice(&OutputView::HeadAndTail, EVERYTHING).expect("a readable output");
    assert_eq!(slice.pieces.len(), 2);
    assert_eq!(slice.pieces[0].bytes, content[..10_000]);
    assert_eq!(slice.pieces[1].bytes, content[content.len() - 300..]);
    assert_eq!(slice.omissions.len(), 1);
    assert_eq!(
        (slice.omissions[0].bytes.clone(), slice.omissions[0].lost),
        (10_000..total - 300, total - 10_300)
    );
    assert_eq!(slice.lost_bytes, total - 10_300);

    let slice = output
        .slice(&OutputView::Lines { first: 99_999, last: 99_999 }, EVERYTHING)
        .expect("a readable output");
    assert_eq!((slice.to_bytes(), slice.pieces[0].first_line), (b"line 99999\n".to_vec(), 99_999));
    let slice = output
        .slice(&OutputView::Lines { first: 50_000, last: 50_001 }, EVERYTHING)
        .expect("a readable output");
    assert!(slice.pieces.is_empty() && !slice.is_whole());
}

#[test]
fn without_a_directory_head_and_tail_are_kept() {
    let output = Output::new(CaptureLimits { head: 4, tail: 3, spill: 1 << 20 }, None);
    output.append(b"0123456789");
    assert_eq!(output.retained(), [0..4, 7..10]);
    assert_eq!(
        output.slice(&OutputView::HeadAndTail, 100).expect("memory").to_text().text,
        "0123\n[… 3 bytes not kept …]\n789"
    );
    assert_eq!(output.spill_failure(), None);
}

#[test]
fn a_missing_spill_directory_loses_only_the_middle() {
    let (directory, output) = spilling(CaptureLimits { head: 10, tail: 10, spill: 1000 });
    fs::remove_dir(directory.path()).expect("an empty directory");
    output.append(b"0123456789abcdefghij");
    assert!(output.is_complete());
    output.append(b"ABCDEFGHIJ");
    assert_eq!(bytes(&output, &OutputView::HeadAndTail), b"0123456789ABCDEFGHIJ");
    assert!(output.spill_failure().expect("a reason").contains("No such file"));
    let summary =
        serde_json::to_value(output.summary(&OutputView::HeadAndTail, 100).expect("memory")).expect("JSON");
    assert!(summary["spill_failed"].as_str().expect("a reason").contains("No such file"));
}

/// Mounts a file system of `size` bytes, which is unmounted when it is closed.
fn small_disk(size: usize) -> Option<(tempfile::TempDir, SpillDirectory)> {
    let place = tempfile::tempdir().expect("a directory");
    let options = std::ffi::CString::new(format!("size={size}")).expect("no NUL");
    mount("haft-test", place.path(), "tmpfs", MountFlags::empty(), Some(options.as_c_str())).ok()?;
    let directory = SpillDirectory::open(place.path()).expect("an open directory");
    unmount(place.path(), UnmountFlags::DETACH).expect("unmounted");
    Some((place, directory))
}

#[test]
fn a_full_disk_keeps_the_written_bytes_and_the_tail() {
    let Some((_place, directory)) = small_disk(1 << 20) else {
        eprintln!("not allowed to mount a small disk: skipped");
        return;
    };
    let output = Output::new(CaptureLimits { head: 1000, tail: 1000, spill: 64 << 20 }, Some(directory));
    let content = lines(500_000);
    for chunk in content.chunks(64 << 10) {
        output.append(chunk);
    }
    output.finish();
    let total = content.len() as u64;
    assert!(output.spill_failure().expect("a reason").contains("No space left"));
    assert_eq!((output.total_bytes(), output.total_lines()), (total, 500_000));
    assert_eq!(output.retained(), [0..1 << 20, total - 1000..total]);
    let slice = output.slice(&OutputView::HeadAndTail, EVERYTHING).expect("a readable output");
    assert_eq!(slice.pieces[0].bytes, content[..1 << 20]);
    assert_eq!(slice.pieces[1].bytes, content[content.len() - 1000..]);
}

#[test]
fn output_without_newlines_is_one_line() {
    let (_directory, output) = spilling(CaptureLimits { head: 100, tail: 100, spill: 100_000 });
    output.append(&vec![b'x'; 1_000_000]);
    assert_eq!(output.total_lines(), 1);
    let slice = output.slice(&OutputView::HeadLines(1), 1000).expect("a readable output");
    assert_eq!(slice.to_bytes().len(), 1000);
    assert!(!slice.is_whole());
    let slice = output.slice(&OutputView::TailLines(1), 50).expect("a readable output");
    assert_eq!((slice.pieces[0].start, slice.to_bytes().len()), (999_950, 50));
}

#[test]
fn unfinished_lines_are_counted() {
    let output = Output::new(CaptureLimits::default(), None);
    for (chunk, lines) in [("", 0), ("a", 1), ("\n", 1), ("\n", 2), ("b", 3), ("b\n", 3)] {
        output.append(chunk.as_bytes());
        assert_eq!(output.total_lines(), lines);
    }
}

#[test]
fn the_summary_is_compact_json() {
    let output = Output::new(CaptureLimits::default(), None);
    output.append(b"caf\xc3\xa9\n\xff\n");
    output.finish();
    let json =
        serde_json::to_string(&output.summary(&OutputView::HeadAndTail, 100).expect("memory")).expect("JSON");
    let id = output.id();
    let expected =
        r#"{"text":"café\n�\n","lossy":true,"total_bytes":8,"total_lines":2,"truncated":false,"id":"ID"}"#;
    assert_eq!(json, expected.replace("ID", id.as_str()));

    output.append(&lines(1000));
    let json =
        serde_json::to_value(output.summary(&OutputView::HeadAndTail, 60).expect("memory")).expect("JSON");
    assert_eq!(json["truncated"], true);
    let omitted = &json["omitted"];
    assert_eq!(omitted["lines"], 1002 - 5 - 3);
    assert!(
        json["text"].as_str().expect("text").ends_with("omitted …]\nline 998\nline 999\nline 1000\n"),
        "{json}"
    );
}

#[test]
fn readers_can_follow_a_growing_output() {
    for limits in [CaptureLimits::default(), CaptureLimits { head: 1000, tail: 1000, spill: 16 << 20 }] {
        let (_directory, output) = spilling(limits);
        let content = lines(300_000);
        let writer = output.clone();
        let sent = content.clone();
        let thread = thread::spawn(move || {
            for chunk in sent.chunks(10_007) {
                writer.append(chunk);
            }
            writer.finish();
        });
        let deadline = Instant::now() + Duration::from_secs(60);
        let mut seen = Vec::new();
        let mut decoder = Decoder::new();
        let mut text = String::new();
        loop {
            assert!(output.wait_since(seen.len() as u64, Some(deadline)), "the writer stopped");
            let growth = output.read_since(seen.len() as u64, 4096).expect("a readable output");
            assert_eq!((growth.start, growth.lost), (seen.len() as u64, 0));
            decoder.push(&growth.bytes, &mut text);
            seen.extend(growth.bytes);
            let view = output.slice(&OutputView::TailLines(1), 100).expect("a readable output");
            assert!(content[..view.total_bytes as usize].ends_with(&view.to_bytes()));
            if growth.finished {
                break;
            }
        }
        thread.join().expect("a writer that ended");
        assert!(seen == content && text.as_bytes() == content);
    }
}

#[test]
fn late_readers_learn_how_many_bytes_were_lost() {
    let output = Output::new(CaptureLimits { head: 4, tail: 3, spill: 0 }, None);
    output.append(b"0123456789");
    let growth = output.read_since(2, 100).expect("memory");
    assert_eq!((growth.bytes.as_slice(), growth.next, growth.lost), (b"23".as_slice(), 4, 0));
    let growth = output.read_since(4, 100).expect("memory");
    assert_eq!((growth.bytes.as_slice(), growth.start, growth.lost), (b"789".as_slice(), 7, 3));
    assert!(!growth.finished);
    output.finish();
    let growth = output.read_since(10, 100).expect("memory");
    assert!(growth.finished && growth.bytes.is_empty());
    assert_eq!(output.read_since(1000, 100).expect("memory").next, 10);
}

#[test]
fn waits_end_at_their_deadline() {
    let output = Output::new(CaptureLimits::default(), None);
    assert!(!output.wait_since(0, Some(Instant::now() + Duration::from_millis(20))));
    output.finish();
    assert!(output.wait_since(0, None));
}

fn is_readable(watch: &haft_process::capture::OutputWatch, milliseconds: i64) -> bool {
    let timeout = Timespec { tv_sec: milliseconds / 1000, tv_nsec: milliseconds % 1000 * 1_000_000 };
    poll(&mut [PollFd::new(watch, PollFlags::IN)], Some(&timeout)).expect("a poll") == 1
}

#[test]
fn watches_wake_poll() {
    let output = Output::new(CaptureLimits::default(), None);
    let watch = output.watch().expect("a watch");
    assert!(!is_readable(&watch, 0));
    let writer = output.clone();
    let thread = thread::spawn(move || writer.append(b"x"));
    assert!(is_readable(&watch, 10_000));
    thread.join().expect("a writer that ended");
    watch.clear();
    assert!(!is_readable(&watch, 0));
    output.append(b"y");
    output.append(b"z");
    assert!(is_readable(&watch, 0));
    watch.clear();
    output.finish();
    assert!(is_readable(&watch, 0));
    drop(watch);
    output.append(b"without a watch");
    assert!(is_readable(&output.watch().expect("a watch"), 0));
}
