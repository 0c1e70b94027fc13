//! An ancestor that outlives this process, and ends what it has left behind.
//!
//! Where no control group can be made, nothing but descent proves that a process belongs to a run: environments can be
//! cleared, sessions and groups changed. So the application runs in a child of the process that was started. The
//! outer process is the *guardian*: a subreaper that does nothing but pass on signals and wait. If the inner process is killed,
//! the kernel hands all its descendants to the guardian, which ends them. If the guardian is killed, the inner process ends its
//! own descendants and itself. To a caller, the guardian ends as the inner process did.

use std::os::fd::{AsRawFd as _, OwnedFd};
use std::sync::OnceLock;
use std::sync::atomic::{AtomicI32, Ordering};
use std::time::Duration;

use rustix::event::{PollFd, PollFlags, poll};
use rustix::pipe::{PipeFlags, pipe_with};
use rustix::process::{Pid, PidfdFlags, Signal, kill_process, pidfd_open};

use crate::cgroup::Hierarchies;
use crate::error::Error;
use crate::reaper;
use crate::scope::Scope;
use crate::shield::{Tracing, protect_process};
use crate::signal::Signals;
use crate::sys::{self, ForkSide, GuardEvent};

/// How long the processes of a dead run are given to end by themselves. A killed run shall be gone within a second.
const GRACE: Duration = Duration::from_millis(300);

/// The name of the guardian in process lists. It differs from the program's, so that to kill that by name does not kill
/// both.
const NAME: &std::ffi::CStr = c"tree-guardian";

/// The signals that are passed on, unless they are ignored.
const PASSED_ON: [i32; 8] = [
    libc::SIGHUP,
    libc::SIGINT,
    libc::SIGQUIT,
    libc::SIGTERM,
    libc::SIGUSR1,
    libc::SIGUSR2,
    libc::SIGTSTP,
    libc::SIGCONT,
];

/// The line to the guardian: process numbers that it has to spare, four bytes each. Those of processes that were let go are
/// negative.
static LINE: OnceLock<OwnedFd> = OnceLock::new();
/// The parent that this process had before it got a guardian; 0 without one.
static PARENT: AtomicI32 = AtomicI32::new(0);

/// Whether runs of this process are held together by nothing but descent, or it has children already whose orphans would be
/// taken for those of its runs.
pub fn needs_guardian() -> bool {
    let writable = rustix::fs::Access::WRITE_OK | rustix::fs::Access::EXEC_OK;
    let group = Hierarchies::discover().unified;
    sys::has_children() || group.is_none_or(|path| rustix::fs::access(path, writable).is_err())
}

/// Goes on in a child of this process, and makes this one its guardian: a subreaper that passes signals on, ends as the
/// child ends, and ends all that the child leaves behind. The child ends with its descendants if the guardian dies.
///
/// An application calls this before it starts a thread. A process that has children already gets a guardian below itself, so that
/// these and their orphans stay what they are.
///
/// # Errors
/// If there are threads, or the system refuses; this process goes on as it is then.
pub fn enter_guarded() -> Result<(), Error> {
    if sys::has_other_threads() {
        return Err(Error::system("start a guardian", rustix::io::Errno::BUSY));
    }
    let parent = rustix::process::getppid().map_or(0, Pid::as_raw_pid);
    if sys::has_children() {
        split(Role::Relay)?;
    }
    split(Role::Guardian)?;
    PARENT.store(parent, Ordering::Relaxed);
    watch_guardian()
}

/// The parent of this process, as its caller sees it: that of the guardian if there is one.
pub fn parent_process() -> i32 {
    match PARENT.load(Ordering::Relaxed) {
        0 => rustix::process::getppid().map_or(0, Pid::as_raw_pid),
        parent => parent,
    }
}

/// Whether a process is the guardian of this one: to a caller it is this process.
pub fn is_guardian(pid: i32) -> bool {
    PARENT.load(Ordering::Relaxed) != 0
        && rustix::process::getppid().is_some_and(|parent| parent.as_raw_pid() == pid)
}

/// Has the guardian spare these processes, and their descendants, when this process has ended: the watcher deals with them, or
/// is one of them.
pub(crate) fn spare(pids: impl IntoIterator<Item = i32>) {
    tell(pids);
}

/// Has the guardian spare processes that were let go.
pub(crate) fn let_go(pids: impl IntoIterator<Item = i32>) {
    tell(pids.into_iter().map(|pid| -pid));
}

fn tell(pids: impl IntoIterator<Item = i32>) {
    if let Some(line) = LINE.get() {
        for pid in pids {
            let _ = rustix::io::write(line, &pid.to_ne_bytes());
        }
    }
}

/// What the outer process of a split does.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Role {
    /// It waits and passes signals on.
    Relay,
    /// It also inherits orphans, and ends them.
    Guardian,
}

/// Forks: returns in the child, while this process becomes its relay or guardian.
fn split(role: Role) -> Result<(), Error> {
    let failed = |error| Error::system("start a guardian", error);
    let (far, near) = pipe_with(PipeFlags::CLOEXEC | PipeFlags::NONBLOCK).map_err(failed)?;
    let ignored = Signals::ignored_now();
    let passed_on = PASSED_ON.into_iter().filter(|&signal| !ignored.contains(signal));
    let passed_on = passed_on.fold(Signals::none(), Signals::with);
    match sys::split(NAME, passed_on.raw()).map_err(|error| Error::system("start a guardian", error))? {
        ForkSide::Inner => {
            if role == Role::Guardian {
                let _ = LINE.set(near);
            }
            Ok(())
        }
        ForkSide::Outer(inner) => {
            drop(near);
            Guard { role, inner, passed_on, line: far }.serve()
        }
    }
}

/// The outer process of a split.
struct Guard {
    role: Role,
    inner: i32,
    passed_on: Signals,
    line: OwnedFd,
}

impl Guard {
    fn serve(self) -> ! {
        if self.role == Role::Guardian {
            let _ = reaper::become_subreaper();
        }
        // Whatever else the program has open is the inner process's alone, and so is its environment.
        sys::close_all_but(self.line.as_raw_fd());
        let _ = protect_process(Tracing::Allowed);
        let end = loop {
            match sys::next_guard_event(self.inner, self.passed_on.raw()) {
                GuardEvent::Ended(end) => break end,
                GuardEvent::Orphaned => {
                    let _ = sys::kill(self.inner, libc::SIGKILL);
                }
            }
        };
        if self.role == Role::Guardian {
            reaper::release(self.inner);
            self.end_descendants(end.code.is_some());
        }
        sys::end_as(&end)
    }

    /// Ends what the inner process has left. If it ended in order and has let processes go, it has ended the others itself.
    fn end_descendants(&self, in_order: bool) {
        let told = self.told();
        let has_let_go = told.iter().any(|pid| *pid < 0);
        if !sys::has_children() || (in_order && has_let_go) {
            return;
        }
        let spared: Vec<i32> = told.into_iter().map(i32::abs).collect();
        if reaper::orphans().iter().any(|pid| !spared.contains(pid)) {
            Scope::descendants(spared).end(GRACE);
        }
    }

    /// What the inner process has told.
    fn told(&self) -> Vec<i32> {
        let mut told = Vec::new();
        let mut buffer = [0; 4096];
        while let Ok(count @ 1..) = rustix::io::read(&self.line, &mut buffer) {
            told.extend_from_slice(&buffer[..count]);
        }
        told.chunks_exact(4).filter_map(|bytes| Some(i32::from_ne_bytes(bytes.try_into().ok()?))).collect()
    }
}

/// Starts a thread that ends this process, with all its descendants, when its guardian has died.
fn watch_guardian() -> Result<(), Error> {
    let failed = |error| Error::system("watch the guardian", error);
    let guardian = rustix::process::getppid().ok_or_else(|| failed(rustix::io::Errno::SRCH))?;
    let pidfd = pidfd_open(guardian, PidfdFlags::empty()).map_err(failed)?;
    // Signals are for the application's own threads.
    let _held = sys::HeldSignals::all();
    let builder = std::thread::Builder::new().name("guardian-watch".to_owned()).stack_size(256 * 1024);
    let watch = move || {
        while poll(&mut [PollFd::new(&pidfd, PollFlags::IN)], None).is_err() {}
        end_unguarded();
    };
    builder.spawn(watch).map(drop).map_err(|error| Error::system("watch the guardian", error))
}

/// Ends all descendants of this process, but those that were let go, and then this process. Its watcher sees that it did not end in
/// order, and removes its files.
fn end_unguarded() {
    reaper::forbid_starts();
    let _ = reaper::become_subreaper();
    let departed = crate::attribution::departed().into_iter().map(|(pid, _)| pid);
    let spared = departed.chain(crate::watcher::pids()).collect();
    Scope::descendants(spared).end(GRACE);
    let _ = kill_process(rustix::process::getpid(), Signal::KILL);
}
