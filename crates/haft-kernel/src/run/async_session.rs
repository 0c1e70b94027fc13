//! Runs as futures, for any async runtime.

use std::future::Future;
use std::io;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::pin::Pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll, Waker};
use std::thread;

use haft_process::{Error, Host};

use super::Run;
use super::control::Controller;
use super::outcome::Outcome;
use super::running::SCRIPT_STACK_BYTES;
use crate::session::Session;

/// A session whose runs are futures. It works with every async runtime, because the work is done by a thread of its own.
///
/// Dropping the future of a run cancels the run. Its processes are ended in the background, and the next run waits until
/// none is left. The session keeps the changes of a cancelled script.
///
/// ```
/// use haft_kernel::run::{AsyncSession, Host, Run};
/// use haft_kernel::{Kernel, Session};
///
/// # fn block_on<F: std::future::Future>(future: F) -> F::Output {
/// #     struct Unpark(std::thread::Thread);
/// #     impl std::task::Wake for Unpark {
/// #         fn wake(self: std::sync::Arc<Self>) { self.0.unpark() }
/// #     }
/// #     let waker = std::sync::Arc::new(Unpark(std::thread::current())).into();
/// #     let mut future = std::pin::pin!(future);
/// #     loop {
/// #         match future.as_mut().poll(&mut std::task::Context::from_waker(&waker)) {
/// #             std::task::Poll::Ready(output) => return output,
/// #             std::task::Poll::Pending => std::thread::park(),
/// #         }
/// #     }
/// # }
/// let session = Session::with_environment(Kernel::builder().build(), [("PATH", "/usr/bin:/bin")], "/");
/// let mut session = AsyncSession::new(Host::plain(), session);
/// # block_on(async {
/// session.run(Run::new("x=1")).await?;
/// let outcome = session.run(Run::new("echo $x | cat")).await?;
/// assert_eq!(outcome.stdout(), b"1\n");
/// # Ok::<(), haft_kernel::run::Error>(())
/// # })?;
/// # Ok::<(), haft_kernel::run::Error>(())
/// ```
#[derive(Debug)]
pub struct AsyncSession {
    host: Host,
    slot: Arc<Mutex<SessionSlot>>,
}

/// The session between runs.
#[derive(Debug)]
struct SessionSlot {
    state: SlotState,
    /// The future that waits for the end of a run.
    waiting: Option<Waker>,
}

#[derive(Debug)]
enum SlotState {
    Idle(Box<Session>),
    Running,
    /// A run panicked.
    Lost,
}

impl AsyncSession {
    /// Makes the runs of `session` futures.
    #[must_use]
    pub fn new(host: Host, session: Session) -> AsyncSession {
        let slot = SessionSlot { state: SlotState::Idle(Box::new(session)), waiting: None };
        AsyncSession { host, slot: Arc::new(Mutex::new(slot)) }
    }

    /// Runs a script. It starts when the future is first polled.
    ///
    /// The future fails if there are too many open files or threads, or if an earlier run panicked. It panics if the run
    /// does, for example in an added command.
    pub fn run(&mut self, run: Run) -> RunFuture<'_> {
        RunFuture { session: self, state: FutureState::Waiting(Box::new(run)) }
    }

    /// Returns the session.
    ///
    /// # Errors
    /// Returns itself if a cancelled run has not ended yet, or if a run panicked.
    pub fn into_session(self) -> Result<Session, Box<AsyncSession>> {
        let state = std::mem::replace(&mut lock(&self.slot).state, SlotState::Running);
        match state {
            SlotState::Idle(session) => Ok(*session),
            state => {
                lock(&self.slot).state = state;
                Err(Box::new(self))
            }
        }
    }
}

/// A run of an [`AsyncSession`]. Dropping it cancels the run.
#[must_use = "a run does nothing until it is awaited"]
#[derive(Debug)]
pub struct RunFuture<'a> {
    session: &'a mut AsyncSession,
    state: FutureState,
}

#[derive(Debug)]
enum FutureState {
    /// Waits until the session is free.
    Waiting(Box<Run>),
    Started(Arc<Mutex<StartedRun>>),
    Finished,
}

/// State that the thread of a run shares with its future.
#[derive(Debug, Default)]
struct StartedRun {
    controller: Option<Controller>,
    /// Set if the future was dropped before there was a controller.
    is_cancelled: bool,
    result: Option<thread::Result<Result<Outcome, Error>>>,
}

impl StartedRun {
    fn hold(&mut self, controller: &Controller) {
        if self.is_cancelled {
            controller.cancel();
        }
        self.controller = Some(controller.clone());
    }

    fn cancel(&mut self) {
        self.is_cancelled = true;
        if let Some(controller) = &self.controller {
            controller.cancel();
        }
    }
}

impl Future for RunFuture<'_> {
    type Output = Result<Outcome, Error>;

    /// # Panics
    /// If the run panicked.
    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Self::Output> {
        // Registered first, so that the end of a run between the checks below is not missed.
        lock(&self.session.slot).waiting = Some(context.waker().clone());
        if let FutureState::Waiting(_) = self.state
            && let Some(failed) = self.start_if_idle()
        {
            return Poll::Ready(Err(failed));
        }
        let FutureState::Started(started) = &self.state else { return Poll::Pending };
        let result = lock(started).result.take();
        match result {
            None => Poll::Pending,
            Some(result) => {
                self.state = FutureState::Finished;
                Poll::Ready(result.unwrap_or_else(|panic| resume_unwind(panic)))
            }
        }
    }
}

impl RunFuture<'_> {
    /// Starts the run if no other uses the session. Returns an error if the run cannot start.
    fn start_if_idle(&mut self) -> Option<Error> {
        let mut slot = lock(&self.session.slot);
        match std::mem::replace(&mut slot.state, SlotState::Running) {
            SlotState::Running => None,
            SlotState::Lost => {
                slot.state = SlotState::Lost;
                Some(Error::system("use the session", io::Error::other("an earlier run panicked")))
            }
            SlotState::Idle(session) => {
                drop(slot);
                self.start(session)
            }
        }
    }

    fn start(&mut self, session: Box<Session>) -> Option<Error> {
        let FutureState::Waiting(run) = std::mem::replace(&mut self.state, FutureState::Finished) else {
            unreachable!("a run is started once")
        };
        let started = Arc::new(Mutex::new(StartedRun::default()));
        // The thread takes the session from here, because a thread that cannot be started drops its closure.
        let passed = Arc::new(Mutex::new(Some(session)));
        let body = {
            let (host, slot) = (self.session.host.clone(), Arc::clone(&self.session.slot));
            let (started, passed) = (Arc::clone(&started), Arc::clone(&passed));
            move || {
                let session = lock(&passed).take().expect("the session is passed to one thread");
                work(*run, &host, session, &started, &slot);
            }
        };
        let thread =
            thread::Builder::new().name("script".to_owned()).stack_size(SCRIPT_STACK_BYTES).spawn(body);
        match thread {
            Ok(_) => {
                self.state = FutureState::Started(started);
                None
            }
            Err(error) => {
                if let Some(session) = lock(&passed).take() {
                    lock(&self.session.slot).state = SlotState::Idle(session);
                }
                Some(Error::system("start a thread for the run", error))
            }
        }
    }
}

impl Drop for RunFuture<'_> {
    fn drop(&mut self) {
        if let FutureState::Started(started) = &self.state {
            lock(started).cancel();
        }
    }
}

/// Runs a script, and returns the session to its slot.
fn work(
    run: Run,
    host: &Host,
    mut session: Box<Session>,
    started: &Mutex<StartedRun>,
    slot: &Mutex<SessionSlot>,
) {
    let hold = |controller: &Controller| lock(started).hold(controller);
    let result = catch_unwind(AssertUnwindSafe(|| run.run_held(host, &mut session, hold)));
    let state = if result.is_ok() { SlotState::Idle(session) } else { SlotState::Lost };
    lock(started).result = Some(result);
    let mut slot = lock(slot);
    slot.state = state;
    let waiting = slot.waiting.take();
    drop(slot);
    if let Some(waker) = waiting {
        waker.wake();
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
