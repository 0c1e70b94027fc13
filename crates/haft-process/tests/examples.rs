//! The programs in `examples/` run.

#[path = "../examples/supervise.rs"]
#[expect(dead_code, reason = "the test calls what `main` calls")]
mod supervise;

#[test]
fn the_supervise_example_kills_the_whole_tree() {
    let outcome = supervise::run().unwrap();
    let report = outcome.report(1024).to_string();
    assert!(report.starts_with("timed out after "), "{report}");
    assert!(report.contains("1 process started") && report.contains("none survived"), "{report}");
    assert!(report.ends_with("--- stdout: 8 bytes, 1 line\nstarted\n"), "{report}");
    assert!(outcome.tree.killed >= 2, "{report}");
}
