//! Starting a process. All processes of haft are started by [`spawn`].

use std::cell::RefCell;
use std::ffi::{CStr, CString};
use std::io;
use std::mem::MaybeUninit;
use std::os::fd::{AsFd as _, OwnedFd, RawFd};
use std::ptr;
use std::sync::atomic::{AtomicBool, Ordering};

use super::SpawnStep;
use super::child::{self, ChildContext, ChildFailure};
use super::clone::{self, ClonedChild};
use super::descriptors::DescriptorMoves;
use super::plan::SpawnPlan;
use super::protection;
use super::signal::{self, SignalSet};

/// Size of the stack that a child uses until exec.
const CHILD_STACK_BYTES: usize = 32 * 1024;

/// Set after the first failure of `clone3`, so that it is not tried again.
static CLONE3_REFUSED: AtomicBool = AtomicBool::new(false);

thread_local! {
    // The parent's thread sleeps while the child uses this stack, so one per thread is enough.
    static CHILD_STACK: RefCell<Vec<MaybeUninit<u8>>> = const { RefCell::new(Vec::new()) };
}

/// A child that runs its program.
#[derive(Debug)]
pub(crate) struct Spawned {
    pub(crate) pid: i32,
    /// `None` if the plan leaves it out.
    pub(crate) pidfd: Option<OwnedFd>,
}

/// The step that failed before a program was executed, and why.
#[derive(Debug)]
pub(crate) struct SpawnError {
    pub(crate) step: SpawnStep,
    /// Index of the descriptor or limit that failed.
    pub(crate) index: usize,
    pub(crate) error: io::Error,
}

/// Starts a process. When this returns, the child either runs its program or has been reaped.
pub(crate) fn spawn(plan: &SpawnPlan<'_>) -> Result<Spawned, SpawnError> {
    let argv = pointers(plan.program.argv.iter().map(CString::as_c_str));
    let envp = pointers(plan.program.environment.iter().copied());
    let filters = seccomp_programs(plan.restrictions.seccomp);
    let mut descriptors = DescriptorMoves::new(plan.descriptors);
    let mut context = ChildContext {
        plan,
        argv: argv.as_ptr(),
        envp: envp.as_ptr(),
        descriptors: &mut descriptors,
        parent: std::process::id().cast_signed(),
        cgroup_directory: None,
        withhold_tracing: protection::is_tracing_withheld() && !plan.restrictions.keep_tracing,
        seccomp: &filters,
        reset_signals: SignalSet::ALL,
        failure: ChildFailure::NONE,
    };
    let child = with_signals_blocked(|| clone_child(&mut context)).map_err(|error| SpawnError {
        step: SpawnStep::Clone,
        index: 0,
        error,
    })?;
    finish(&context, child)
}

/// Runs `action` with all signals blocked, because a signal handler must not run on memory that parent and child share.
fn with_signals_blocked<T>(action: impl FnOnce() -> T) -> T {
    let old = signal::set_mask(SignalSet::ALL);
    let result = action();
    signal::set_mask(old);
    result
}

fn clone_child(context: &mut ChildContext<'_>) -> io::Result<ClonedChild> {
    CHILD_STACK.with_borrow_mut(|stack| {
        stack.resize_with(CHILD_STACK_BYTES, MaybeUninit::uninit);
        let cgroup: Option<RawFd> = context.plan.cgroups.directory;
        let pointer = ptr::from_mut(context).cast();
        let with_pidfd = !(context.plan.pidfd_on_demand && keeps_ended_children());
        if !CLONE3_REFUSED.load(Ordering::Relaxed) {
            if let Some(known) = signal::known_ignored() {
                // `clone3` resets handlers, so only signals that are ignored in one of the two need a change.
                context.reset_signals = SignalSet(known.0 ^ context.plan.attributes.ignored_signals.0);
            }
            // SAFETY: only this thread uses the stack, the context is what `enter` expects, signals are blocked.
            match unsafe { clone::clone3_child(stack, cgroup, with_pidfd, child::enter, pointer) } {
                Err(error) if is_clone3_refused(&error) => CLONE3_REFUSED.store(true, Ordering::Relaxed),
                result => return result,
            }
        }
        context.cgroup_directory = cgroup;
        context.reset_signals = SignalSet::ALL;
        // SAFETY: as above.
        unsafe { clone::clone_child(stack, with_pidfd, child::enter, pointer) }
    })
}

/// Whether an ended child is certain to keep its pid until it is reaped, so that a pidfd can be opened later. If `SIGCHLD` is
/// ignored, the kernel reaps children.
fn keeps_ended_children() -> bool {
    signal::known_ignored().is_some_and(|ignored| !ignored.contains(libc::SIGCHLD))
}

/// Whether an error means that `clone3` is not available. Seccomp filters of containers answer `EPERM`.
fn is_clone3_refused(error: &io::Error) -> bool {
    matches!(error.raw_os_error(), Some(libc::ENOSYS | libc::EPERM | libc::EINVAL))
}

/// Reads the child's report, and reaps a child that failed.
fn finish(context: &ChildContext<'_>, child: ClonedChild) -> Result<Spawned, SpawnError> {
    // The child wrote through another pointer while this thread slept.
    // SAFETY: the field is alive and initialised.
    let failure = unsafe { ptr::read_volatile(&raw const context.failure) };
    if failure.step == SpawnStep::None {
        return Ok(Spawned { pid: child.pid, pidfd: child.pidfd });
    }
    let _ = match &child.pidfd {
        Some(pidfd) => super::wait_pidfd(pidfd.as_fd(), true),
        None => super::wait_pid(child.pid, true),
    };
    let error = io::Error::from_raw_os_error(failure.errno);
    Err(SpawnError { step: failure.step, index: failure.index, error })
}

/// Returns a NULL-terminated array of pointers to the strings.
pub(super) fn pointers<'a>(strings: impl Iterator<Item = &'a CStr>) -> Vec<*const libc::c_char> {
    strings.map(CStr::as_ptr).chain([ptr::null()]).collect()
}

/// Returns the filters in the form of the system call. They refer to the instructions.
pub(super) fn seccomp_programs(filters: &[&[[u8; 8]]]) -> Vec<libc::sock_fprog> {
    let program = |instructions: &&[[u8; 8]]| libc::sock_fprog {
        len: u16::try_from(instructions.len()).unwrap_or(u16::MAX),
        filter: instructions.as_ptr().cast_mut().cast(),
    };
    filters.iter().map(program).collect()
}
