//! `tail -f` without programs.

#[expect(dead_code, reason = "other tests use the rest")]
mod support;

use haft_commands::with_gnu_commands;
use haft_kernel::{Kernel, Session};
use support::{ScriptResult, run_in};

/// Runs a script in a session that cannot start programs, in a directory of its own.
fn run(script: &str) -> ScriptResult {
    let directory = tempfile::tempdir().expect("a temporary directory");
    let mut session = Session::new(with_gnu_commands(Kernel::builder()).external(false).build());
    session.set_directory(directory.path());
    run_in(session, script)
}

/// Copies a line of the input.
const NEXT: &str = "next() { IFS= read -r line && printf '%s\\n' \"$line\"; }; ";

#[test]
fn tail_f_shows_what_is_added_and_ends_with_its_reader() {
    let script = "echo 1 > f; tail -f f | { next; echo 2 >> f; next; echo 3 >> f; next; }";
    let result = run(&format!("{NEXT}{script}"));
    assert_eq!(result.stdout, "1\n2\n3\n", "{result:?}");
}

#[test]
fn tail_f_starts_again_in_a_truncated_file() {
    let result = run(&format!("{NEXT} echo first > f; tail -f f | {{ next; echo x > f; next; }}"));
    assert_eq!((result.stdout.as_str(), result.stderr.as_str()), ("first\nx\n", "tail: f: file truncated\n"));
}

#[test]
fn tail_capital_f_follows_a_file_that_is_replaced() {
    let result = run(&format!("{NEXT} echo 1 > f; tail -F f | {{ next; echo other > g; mv g f; next; }}"));
    let message = "tail: 'f' has been replaced;  following new file\n";
    assert_eq!((result.stdout.as_str(), result.stderr.as_str()), ("1\nother\n", message));
}

#[test]
fn tail_capital_f_waits_for_a_file() {
    let result = run(&format!(
        "{NEXT} tail -F f 2> log | {{ until grep -q cannot log 2> /dev/null; do :; done; echo here > f; next; }}; cat log"
    ));
    let messages = "tail: cannot open 'f' for reading: No such file or directory\ntail: 'f' has appeared;  following new file\n";
    assert_eq!(result.stdout, format!("here\n{messages}"), "{result:?}");
}

#[test]
fn tail_f_names_the_file_that_changed() {
    let script = "echo a > f; echo b > g; tail -f f g | { for i in 1 2 3 4 5; do next; done; echo c >> f; for i in 1 2 3; do next; done; }";
    let result = run(&format!("{NEXT}{script}"));
    assert_eq!(result.stdout, "==> f <==\na\n\n==> g <==\nb\n\n==> f <==\nc\n", "{result:?}");
}

#[test]
fn tail_f_fails_if_there_is_no_file() {
    let result = run("tail -f missing");
    assert_eq!(result.status, 1);
    let messages =
        "tail: cannot open 'missing' for reading: No such file or directory\ntail: no files remaining\n";
    assert_eq!(result.stderr, messages);
}

#[test]
fn tail_f_of_a_pipe_ends_with_the_pipe() {
    let result = run("printf 'a\\nb\\n' | tail -n 1 -f");
    assert_eq!((result.status, result.stdout.as_str()), (0, "b\n"));
}
