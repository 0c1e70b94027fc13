//! Captured output needs bounded memory.

use haft_process::capture::{CaptureLimits, Output, OutputView, SpillDirectory};

/// Returns the resident memory in bytes.
fn resident() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").expect("a status");
    let line = status.lines().find(|line| line.starts_with("VmRSS:")).expect("a line for resident memory");
    line.split_whitespace().nth(1).and_then(|number| number.parse::<u64>().ok()).expect("a number") * 1024
}

#[test]
fn capturing_4_gib_needs_less_than_16_mib_of_memory() {
    let directory = tempfile::tempdir().expect("a directory");
    let spill = SpillDirectory::open(directory.path()).expect("an open directory");
    let output = Output::new(CaptureLimits::default(), Some(spill));
    let mut buffer = vec![b'x'; 256 << 10];
    buffer[1000] = b'\n';
    let before = resident();
    for round in 0..16 << 10 {
        if round % 2 == 0 {
            output.append(&buffer);
        } else {
            let mut copy = buffer.clone();
            output.append_buffer(&mut copy, 256 << 10);
        }
    }
    output.finish();
    assert_eq!((output.total_bytes(), output.total_lines()), (4 << 30, (16 << 10) + 1));
    let slice = output.slice(&OutputView::HeadAndTail, 32 << 10).expect("a readable output");
    assert_eq!(slice.to_bytes().len(), 32 << 10);
    let grown = resident().saturating_sub(before);
    assert!(grown < 16 << 20, "memory grew by {grown} bytes");
}
