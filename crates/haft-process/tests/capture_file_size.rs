//! The file size limit, which would kill the process with `SIGXFSZ`, only ends spilling. The limit applies to the whole
//! process, so this test has its own.

use haft_process::capture::{CaptureLimits, Output, OutputView, SpillDirectory};
use rustix::process::{Resource, Rlimit, setrlimit};

#[test]
fn the_file_size_limit_ends_only_spilling() {
    setrlimit(Resource::Fsize, Rlimit { current: Some(10_000), maximum: None }).expect("a lower limit");
    let directory = tempfile::tempdir().expect("a directory");
    let spill = SpillDirectory::open(directory.path()).expect("an open directory");
    let output = Output::new(CaptureLimits { head: 100, tail: 100, spill: 1 << 20 }, Some(spill));
    for _ in 0..100 {
        output.append(&[b'x'; 3000]);
    }
    assert_eq!(output.retained(), [0..9000, 299_900..300_000]);
    assert!(output.spill_failure().is_some());
    assert_eq!(
        output.slice(&OutputView::HeadAndTail, usize::MAX).expect("a readable output").to_bytes().len(),
        9100
    );
}
