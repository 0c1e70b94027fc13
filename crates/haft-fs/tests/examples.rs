//! The programs in `examples/` run.

use std::path::Path;

#[path = "../examples/mounts.rs"]
#[expect(dead_code, reason = "the test calls what `main` calls")]
mod mounts;

#[test]
fn the_mounts_example_lists_memory_and_machine() {
    let files = mounts::mount(Path::new("/usr")).unwrap();
    let lines = mounts::list(&files, Path::new("/work")).unwrap();
    assert_eq!(lines, ["/work/machine (/usr)", "/work/note (in memory)"]);
    let below = mounts::list(&files, Path::new("/work/machine")).unwrap();
    assert!(below.contains(&"/work/machine/bin (/usr/bin)".to_owned()), "{below:?}");
}
