//! Sessions stop when they are told to, whatever they do; and nesting without end is an error, not a crash.

use std::sync::mpsc;
use std::thread;
use std::time::{Duration, Instant};

use haft_kernel::{CancelToken, Flow, Kernel, Session, Unwind};

/// How long a session may take to stop.
const PROMPTLY: Duration = Duration::from_secs(1);

fn session() -> Session {
    let mut session = Session::new(Kernel::builder().build());
    session.import_environment([("PATH", "/usr/bin:/bin")]);
    session
}

/// Runs a script that would go on for ever, cancels it, and yields what came of it.
fn cancelled(script: &'static str) -> Flow {
    let token = CancelToken::new();
    let (sender, receiver) = mpsc::channel();
    let held = token.clone();
    thread::spawn(move || {
        let mut session = session();
        session.set_cancel_token(held);
        let result = session.run_main(script.as_bytes());
        let _ = sender.send(result);
    });
    assert!(receiver.recv_timeout(Duration::from_millis(150)).is_err(), "{script} ended by itself");
    let told = Instant::now();
    token.cancel();
    let result = receiver.recv_timeout(Duration::from_secs(10)).expect(script);
    assert!(told.elapsed() < PROMPTLY, "{script} took {:?}", told.elapsed());
    result
}

#[test]
fn loops_stop() {
    assert_eq!(cancelled("while :; do :; done"), Err(Unwind::Cancelled));
    assert_eq!(cancelled("for ((;;)); do x=1; done"), Err(Unwind::Cancelled));
    assert_eq!(cancelled("f() { while :; do :; done; }; (f)"), Err(Unwind::Cancelled));
}

#[test]
fn expansions_stop() {
    assert_eq!(cancelled("echo {1..100000000} > /dev/null"), Err(Unwind::Cancelled));
    assert_eq!(cancelled("x=$(while :; do :; done)"), Err(Unwind::Cancelled));
}

#[test]
fn waiting_stops() {
    assert_eq!(cancelled("sleep 1000"), Err(Unwind::Cancelled));
    assert_eq!(cancelled("sleep 1000 | cat"), Err(Unwind::Cancelled));
    assert_eq!(cancelled("sleep 1000 & wait"), Err(Unwind::Cancelled));
    assert_eq!(cancelled("x=$(sleep 1000)"), Err(Unwind::Cancelled));
    assert_eq!(cancelled("read x < <(sleep 1000)"), Err(Unwind::Cancelled));
    assert_eq!(cancelled("yes > /dev/null | while :; do :; done"), Err(Unwind::Cancelled));
}

#[test]
fn recursion_without_end_is_an_error() {
    let mut session = session();
    assert_eq!(session.run_main(b"f() { f; }; f"), Ok(1));
    assert_eq!(session.run_main(b"f() { x=$(f); }; f; true"), Ok(0));
}

#[test]
fn thousands_of_calls_work() {
    let mut session = session();
    assert_eq!(session.run_main(b"f() { (($1)) && f $(($1-1)) || return 7; }; f 5000"), Ok(7));
}
