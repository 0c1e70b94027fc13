//! A limit on the size of files, which would end the process by a signal, ends spilling only. It holds for the whole
//! process, so this test has one of its own.

use haft_process::capture::{CaptureLimits, Output, OutputView, SpillDirectory};
use rustix::process::{Resource, Rlimit, setrlimit};

#[test]
fn a_limit_on_file_size_ends_spilling_and_nothing_else() {
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
