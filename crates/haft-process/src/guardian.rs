//! A parent process that ends the descendants of this process if this process is killed.
//!
//! Without control groups, only descent proves that a process belongs to a run: a process can clear its environment and
//! change its session and group. The application therefore runs in a child of the process that was started. The parent is the
//! *guardian*: a subreaper that only forwards signals and waits. If the child is killed, the guardian inherits all its
//! descendants and ends them. If the guardian is killed, the child ends its descendants and itself. The guardian exits with
//! the status of the child.

use std::os::fd::{AsRawFd as _, OwnedFd};
use std::sync::OnceLock;
use std::sync::atomic::{AtomicI32, Ordering};
use std::time::Duration;

use rustix::event::{PollFd, PollFlags, poll};
use rustix::pipe::{PipeFlags, pipe_with};
use rustix::process::{Pid, PidfdFlags, Signal, kill_process, pidfd_open};

use crate::cgroup::Hierarchies;
use crate::error::Error;
use crate::protection::{Tracing, protect_process};
use crate::reaper;
use crate::scope::Scope;
use crate::signal::Signals;
use crate::sys::{self, ForkSide, GuardEvent};

/// Grace period for the processes of a dead run, which must end within a second.
const ORPHAN_GRACE: Duration = Duration::from_millis(300);

/// The name of the guardian in process lists. It differs from that of the program, so that `pkill` of the program does not
/// kill both.
const GUARDIAN_NAME: &std::ffi::CStr = c"tree-guardian";

/// The signals that the guardian forwards, unless they are ignored.
const FORWARDED_SIGNALS: [i32; 8] = [
    libc::SIGHUP,
    libc::SIGINT,
    libc::SIGQUIT,
    libc::SIGTERM,
    libc::SIGUSR1,
    libc::SIGUSR2,
    libc::SIGTSTP,
    libc::SIGCONT,
];

/// A pipe to the guardian, for pids that it must spare, four bytes each. The pids of released processes are negated.
static GUARDIAN_PIPE: OnceLock<OwnedFd> = OnceLock::new();
/// The parent of the guardian; 0 without a guardian.
static ORIGINAL_PARENT: AtomicI32 = AtomicI32::new(0);

/// Whether this process needs a guardian: it cannot create control groups, or it already has children, whose orphans would be
/// taken for those of its runs.
pub fn needs_guardian() -> bool {
    sys::has_children() || !has_control_groups()
}

/// Whether this process can create control groups.
pub fn has_control_groups() -> bool {
    let writable = rustix::fs::Access::WRITE_OK | rustix::fs::Access::EXEC_OK;
    let group = Hierarchies::discover().unified;
    group.is_some_and(|path| rustix::fs::access(path, writable).is_ok())
}

/// Continues in a child of this process and makes this process the guardian: a subreaper that forwards signals, exits with
/// the child's status, and ends the descendants that the child leaves. The child ends with its descendants if the guardian
/// dies.
///
/// An application must call this before it starts threads. If the process already has children, it gets one more process in
/// between, so that the guardian does not inherit their orphans.
///
/// # Errors
/// Fails if there are other threads or a system call fails. This process continues without a guardian then.
pub fn enter_guarded() -> Result<(), Error> {
    if sys::has_other_threads() {
        return Err(Error::system("start a guardian", rustix::io::Errno::BUSY));
    }
    let parent = rustix::process::getppid().map_or(0, Pid::as_raw_pid);
    if sys::has_children() {
        split(GuardRole::Relay)?;
    }
    split(GuardRole::Guardian)?;
    ORIGINAL_PARENT.store(parent, Ordering::Relaxed);
    watch_guardian()
}

/// Returns the pid of this process's parent, or that of the guardian's parent if there is a guardian.
pub fn parent_process() -> i32 {
    match ORIGINAL_PARENT.load(Ordering::Relaxed) {
        0 => rustix::process::getppid().map_or(0, Pid::as_raw_pid),
        parent => parent,
    }
}

/// Whether a process is the guardian of this process.
pub fn is_guardian(pid: i32) -> bool {
    ORIGINAL_PARENT.load(Ordering::Relaxed) != 0
        && rustix::process::getppid().is_some_and(|parent| parent.as_raw_pid() == pid)
}

/// Makes the guardian spare these processes and their descendants: the watcher, and processes that the watcher ends.
pub(crate) fn spare(pids: impl IntoIterator<Item = i32>) {
    send(pids);
}

/// Makes the guardian spare released processes and their descendants.
pub(crate) fn spare_released(pids: impl IntoIterator<Item = i32>) {
    send(pids.into_iter().map(|pid| -pid));
}

fn send(pids: impl IntoIterator<Item = i32>) {
    if let Some(pipe) = GUARDIAN_PIPE.get() {
        for pid in pids {
            let _ = rustix::io::write(pipe, &pid.to_ne_bytes());
        }
    }
}

/// The role of a parent that was split off.
#[derive(Clone, Copy, PartialEq, Eq)]
enum GuardRole {
    /// Forwards signals and waits.
    Relay,
    /// Also inherits orphans and ends them.
    Guardian,
}

/// Forks. Returns only in the child; the parent becomes its relay or guardian.
fn split(role: GuardRole) -> Result<(), Error> {
    let failed = |error| Error::system("start a guardian", error);
    let (reader, writer) = pipe_with(PipeFlags::CLOEXEC | PipeFlags::NONBLOCK).map_err(failed)?;
    let ignored = Signals::ignored_now();
    let forwarded = FORWARDED_SIGNALS.into_iter().filter(|&signal| !ignored.contains(signal));
    let forwarded = forwarded.fold(Signals::none(), Signals::with);
    match sys::split(GUARDIAN_NAME, forwarded.raw())
        .map_err(|error| Error::system("start a guardian", error))?
    {
        ForkSide::Inner => {
            if role == GuardRole::Guardian {
                let _ = GUARDIAN_PIPE.set(writer);
            }
            Ok(())
        }
        ForkSide::Outer(inner) => {
            drop(writer);
            GuardProcess { role, inner, forwarded, pipe: reader }.serve()
        }
    }
}

/// A relay or guardian.
struct GuardProcess {
    role: GuardRole,
    /// The pid of the child.
    inner: i32,
    forwarded: Signals,
    /// The read end of the child's [`GUARDIAN_PIPE`].
    pipe: OwnedFd,
}

impl GuardProcess {
    fn serve(self) -> ! {
        if self.role == GuardRole::Guardian {
            let _ = reaper::become_subreaper();
        }
        // All other descriptors, and the environment, belong only to the child.
        sys::close_all_but(self.pipe.as_raw_fd());
        let _ = protect_process(Tracing::Allowed);
        let end = loop {
            match sys::next_guard_event(self.inner, self.forwarded.raw()) {
                GuardEvent::Ended(end) => break end,
                GuardEvent::ParentDied => {
                    let _ = sys::kill(self.inner, libc::SIGKILL);
                }
            }
        };
        if self.role == GuardRole::Guardian {
            reaper::release(self.inner);
            self.end_descendants(end.code.is_some());
        }
        sys::end_as(&end)
    }

    /// Ends the descendants that the child has left. A child that exited normally after it released processes has ended all
    /// others itself.
    fn end_descendants(&self, exited: bool) {
        let received = self.received_pids();
        let has_released = received.iter().any(|pid| *pid < 0);
        if !sys::has_children() || (exited && has_released) {
            return;
        }
        let spared: Vec<i32> = received.into_iter().map(i32::abs).collect();
        if reaper::orphans().iter().any(|pid| !spared.contains(pid)) {
            Scope::descendants(spared).end(ORPHAN_GRACE);
        }
    }

    /// Returns the pids that the child has sent.
    fn received_pids(&self) -> Vec<i32> {
        let mut received = Vec::new();
        let mut buffer = [0; 4096];
        while let Ok(count @ 1..) = rustix::io::read(&self.pipe, &mut buffer) {
            received.extend_from_slice(&buffer[..count]);
        }
        received
            .chunks_exact(4)
            .filter_map(|bytes| Some(i32::from_ne_bytes(bytes.try_into().ok()?)))
            .collect()
    }
}

/// Starts a thread that ends this process and all its descendants when the guardian dies.
fn watch_guardian() -> Result<(), Error> {
    let failed = |error| Error::system("watch the guardian", error);
    let guardian = rustix::process::getppid().ok_or_else(|| failed(rustix::io::Errno::SRCH))?;
    let pidfd = pidfd_open(guardian, PidfdFlags::empty()).map_err(failed)?;
    // The application's own threads receive signals.
    let _held = sys::HeldSignals::all();
    let builder = std::thread::Builder::new().name("guardian-watch".to_owned()).stack_size(256 * 1024);
    let watch = move || {
        while poll(&mut [PollFd::new(&pidfd, PollFlags::IN)], None).is_err() {}
        end_unguarded();
    };
    builder.spawn(watch).map(drop).map_err(|error| Error::system("watch the guardian", error))
}

/// Ends all descendants of this process, except released ones, and then this process. The watcher removes its files.
fn end_unguarded() {
    reaper::forbid_starts();
    let _ = reaper::become_subreaper();
    let released = crate::attribution::released().into_iter().map(|(pid, _)| pid);
    let spared = released.chain(crate::watcher::pids()).collect();
    Scope::descendants(spared).end(ORPHAN_GRACE);
    let _ = kill_process(rustix::process::getpid(), Signal::KILL);
}
