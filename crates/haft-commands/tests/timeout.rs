//! `timeout`: what it terminates, its exit statuses, and that it behaves like GNU's.

mod support;

use std::time::{Duration, Instant};

use haft_kernel::Kernel;
use haft_test_support::{Marker, Scratch, child, eventually};
use support::{run, run_in, session, session_with};

/// Generous, for a busy machine. Nothing here sleeps this long.
const DEADLINE: Duration = Duration::from_secs(60);

/// Scripts that must behave as under bash with GNU's `timeout`.
const SAME_AS_GNU: &[&str] = &[
    "timeout 20 true",
    "timeout 20 false",
    "timeout 20 sh -c 'exit 7'",
    "timeout 0.1 sleep 60",
    "timeout 0.1s sleep 60",
    "timeout .001m sleep 60",
    "timeout 0 true",
    "timeout 0x10 true",
    "timeout -s KILL 0.1 sleep 60",
    "timeout -s 9 0.1 sleep 60",
    "timeout -sINT 0.1 sleep 60",
    "timeout --signal=HUP 0.1 sleep 60",
    "timeout --sig HUP 0.1 sleep 60",
    "timeout --preserve-status 0.1 sleep 60",
    "timeout --preserve 0.1 sleep 60",
    "timeout -s INT --preserve-status 0.1 sleep 60",
    "timeout -k 0.1 0.9 sh -c 'trap \"\" TERM; while :; do :; done'",
    "timeout -k 20 0.1 sleep 60",
    "timeout --kill-after=0.1 0.9 sh -c 'trap \"\" TERM; while :; do :; done'",
    "timeout 0.9 sh -c 'trap \"echo asked; exit 5\" TERM; while :; do :; done'",
    "timeout --preserve-status 0.9 sh -c 'trap \"echo asked; exit 5\" TERM; while :; do :; done'",
    "timeout --foreground 0.1 sleep 60",
    "timeout 20 sh -c 'kill -TERM $$'",
    "timeout 20 no-such-program",
    "timeout 20 /etc/passwd",
    "timeout 20 /",
    "timeout",
    "timeout 5",
    "timeout x true",
    "timeout 1,5 true",
    "timeout -1 true",
    "timeout -s NOPE 1 true",
    "timeout -k x 1 true",
    "timeout --nope 1 true",
    "timeout -- 20 echo a",
    "timeout 20 echo -n a b",
    "timeout 20 printf '%s\\n' a -b --c",
    "echo in | timeout 20 cat",
    "timeout 20 sh -c 'echo out; echo err >&2' 2>&1",
    "echo \"$(timeout 20 echo x)\"",
    "timeout 20 timeout 0.1 sleep 60",
    "timeout 0.1 timeout 20 sleep 60",
    "A=1 timeout 20 sh -c 'echo $A'",
    "sleep() { echo function; }; timeout 20 sleep 0",
    "echo() { timeout 20 echo \"wrapped $1\"; }; echo x",
    "if timeout 20 false; then echo yes; else echo no; fi",
    "! timeout 20 false; echo $?",
    "(timeout 0.1 sleep 60); echo $?",
    "timeout 0.1 sleep 60 | cat; echo ${PIPESTATUS[0]}",
    "timeout 0.1 sleep 60 & wait $!; echo $?",
    "set -e; timeout 0.1 sleep 60; echo not reached",
    "trap 'timeout 20 echo trapped' EXIT",
    "command timeout 20 echo x",
    "exec timeout 20 echo x",
    "cd /; timeout 20 pwd",
];

#[expect(clippy::disallowed_types, reason = "bash is the oracle, started by the test")]
fn bash(script: &str) -> (i32, String, bool) {
    let output = std::process::Command::new("bash").args(["-c", script]).output().expect("bash runs");
    // bash replaces itself by the last program, so a signal that kills the program kills bash.
    let signal = std::os::unix::process::ExitStatusExt::signal(&output.status);
    let status = output.status.code().or(signal.map(|signal| 128 + signal)).unwrap_or(-1);
    (status, String::from_utf8_lossy(&output.stdout).into_owned(), output.stderr.is_empty())
}

#[test]
fn behaves_like_gnu_timeout() {
    let mut differences = Vec::new();
    for script in SAME_AS_GNU {
        let expected = bash(script);
        let supervised = run(script);
        let got = (supervised.status, supervised.stdout, supervised.stderr.is_empty());
        if got != expected {
            differences.push(format!("{script}: {expected:?}, but {got:?} {}", supervised.stderr));
        }
    }
    assert!(differences.is_empty(), "{}", differences.join("\n"));
}

#[test]
fn functions_builtins_and_commands_are_terminated() {
    let started = Instant::now();
    for (script, expected) in [
        ("f() { while :; do :; done; }; timeout 0.2 f; echo $?", "124\n"),
        ("timeout 0.2 eval 'echo a; while :; do :; done'; echo $?", "a\n124\n"),
        ("timeout 0.2 read < <(sleep 60); echo $?", "124\n"),
        ("f() { sleep 60; }; timeout 0.2 f; echo $?", "124\n"),
        ("f() { sleep 60; }; timeout -s KILL 0.2 f; echo $?", "137\n"),
        ("f() { sleep 60; }; timeout --preserve-status 0.2 f; echo $?", "143\n"),
        ("f() { echo \"$1\"; x=2; return 3; }; x=1; timeout 20 f 'a b'; echo $? $x", "a b\n3 1\n"),
        ("timeout 20 spawn command=echo argv=[\"a b\"]", "a b\n"),
        ("timeout 0.2 spawn command=sleep argv=60; echo $?", "124\n"),
        ("timeout 20 eval 'seq 2 | scatter | echo $ITEM | gather -t'", "1\n2\n"),
        ("x=$(timeout 0.2 eval 'echo kept; sleep 60'); echo \"$x $?\"", "kept 124\n"),
    ] {
        let ran = run(script);
        assert_eq!(ran.stdout, expected, "{script}: {}", ran.stderr);
    }
    assert!(started.elapsed() < DEADLINE);
}

#[test]
fn the_whole_process_group_is_terminated() {
    let (marker, scratch) = (Marker::new(), Scratch::new());
    let pause = format!("{} pause {} {}", child(), marker.as_str(), scratch.text("ready"));
    let ran = run(&format!("timeout 1.5 sh -c '{pause} & {pause}'"));
    assert_eq!(ran.status, 124);
    assert!(eventually(DEADLINE, || marker.count() == 0));
}

#[test]
fn cancellation_ends_the_command() {
    let (marker, scratch) = (Marker::new(), Scratch::new());
    let pause = format!("{} pause {} {}", child(), marker.as_str(), scratch.text("ready"));
    for script in
        [format!("timeout 600 sh -c '{pause} & {pause}'"), format!("f() {{ {pause}; }}; timeout 600 f")]
    {
        let session = session();
        let token = session.cancel_token().clone();
        let running = std::thread::spawn(move || run_in(session, &script));
        assert!(eventually(DEADLINE, || marker.count() > 0));
        token.cancel();
        assert_eq!(running.join().expect("the script ends").status, 130);
        assert!(eventually(DEADLINE, || marker.count() == 0));
    }
}

#[test]
fn works_with_external_commands_disabled() {
    let kernel = || Kernel::builder().commands(haft_commands::TABLE).external(false).build();
    for (script, status, stdout) in [
        ("timeout 0.2 eval 'while :; do :; done'", 124, ""),
        ("timeout 20 echo x", 0, "x\n"),
        ("timeout --nope 20 echo x", 125, ""),
        ("timeout x echo x", 125, ""),
        ("timeout 20 ls", 126, ""),
    ] {
        let ran = run_in(session_with(kernel()), script);
        assert_eq!((ran.status, ran.stdout.as_str()), (status, stdout), "{script}: {}", ran.stderr);
    }
}
