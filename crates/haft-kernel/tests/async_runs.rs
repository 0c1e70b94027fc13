//! Runs as futures: results, cancellation by dropping, panics.

use std::future::Future;
use std::pin::{Pin, pin};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, mpsc};
use std::task::{Context, Poll, Wake, Waker};
use std::thread::{self, Thread};
use std::time::{Duration, Instant};

use haft_kernel::run::{AsyncSession, Host, OutputCallback, Run};
use haft_kernel::{Kernel, Session};

/// A generous limit for things that happen at once on a quiet machine.
const LIMIT: Duration = Duration::from_secs(60);

/// Wakes a thread, and remembers that it did.
struct ThreadWaker {
    thread: Thread,
    is_woken: AtomicBool,
}

impl Wake for ThreadWaker {
    fn wake(self: Arc<Self>) {
        self.is_woken.store(true, Ordering::Release);
        self.thread.unpark();
    }
}

fn block_on<F: Future>(future: F) -> F::Output {
    let woken = Arc::new(ThreadWaker { thread: thread::current(), is_woken: AtomicBool::new(true) });
    let waker = Waker::from(Arc::clone(&woken));
    let begun = Instant::now();
    let mut future = pin!(future);
    loop {
        if woken.is_woken.swap(false, Ordering::Acquire)
            && let Poll::Ready(output) = future.as_mut().poll(&mut Context::from_waker(&waker))
        {
            return output;
        }
        assert!(begun.elapsed() < LIMIT, "the future was not woken");
        thread::park_timeout(LIMIT);
    }
}

fn poll_once<F: Future>(future: Pin<&mut F>) -> bool {
    future.poll(&mut Context::from_waker(Waker::noop())).is_ready()
}

fn session() -> AsyncSession {
    let session = Session::with_environment(Kernel::builder().build(), [("PATH", "/usr/bin:/bin")], "/");
    AsyncSession::new(Host::plain(), session)
}

/// An observer of the output, and what it receives.
fn observed() -> (OutputCallback, mpsc::Receiver<Vec<u8>>) {
    let (sender, receiver) = mpsc::channel();
    (OutputCallback::new(move |_, bytes| drop(sender.send(bytes.to_vec()))), receiver)
}

#[test]
fn a_session_keeps_its_state_between_futures() {
    let mut session = session();
    block_on(async {
        session.run(Run::new("x=1; f() { echo $x; }")).await.unwrap();
        let outcome = session.run(Run::new("f | cat; exit 3")).await.unwrap();
        assert_eq!((outcome.stdout(), outcome.code()), (b"1\n".to_vec(), 3));
    });
    assert!(session.into_session().is_ok());
}

#[test]
fn a_future_that_is_not_polled_runs_nothing() {
    let mut session = session();
    let (callback, output) = observed();
    drop(session.run(Run::new("echo ran").on_output(callback)));
    assert!(output.recv().is_err());
}

#[test]
fn dropping_a_future_ends_the_processes_of_its_run() {
    let mut session = session();
    let (callback, output) = observed();
    let script = "x=kept; sh -c 'echo $$; exec sleep 1000' & wait";
    let mut future =
        Box::pin(session.run(Run::new(script).on_output(callback).grace(Duration::from_millis(100))));
    assert!(!poll_once(future.as_mut()));
    let pid = String::from_utf8(output.recv_timeout(LIMIT).unwrap()).unwrap();
    drop(future);
    let outcome = block_on(session.run(Run::new("echo $x"))).unwrap();
    assert_eq!(outcome.stdout(), b"kept\n");
    let alive = std::fs::read_to_string(format!("/proc/{}/cmdline", pid.trim()));
    assert!(!alive.is_ok_and(|line| line.starts_with("sleep")), "process {pid} is alive");
}

#[test]
fn a_future_dropped_right_after_its_start_ends_too() {
    let mut session = session();
    for _ in 0..20 {
        let mut future = Box::pin(session.run(Run::new("while :; do :; done")));
        assert!(!poll_once(future.as_mut()));
    }
    assert_eq!(block_on(session.run(Run::new("exit 5"))).unwrap().code(), 5);
}

#[test]
fn a_session_in_use_is_not_given_back() {
    let mut session = session();
    let mut future = Box::pin(session.run(Run::new("sleep 1000").grace(Duration::from_millis(100))));
    assert!(!poll_once(future.as_mut()));
    drop(future);
    // Whether the run has ended by now is a matter of time; afterwards the session is free in any case.
    let mut session = match session.into_session() {
        Ok(session) => AsyncSession::new(Host::plain(), session),
        Err(session) => *session,
    };
    assert_eq!(block_on(session.run(Run::new("exit 6"))).unwrap().code(), 6);
}
