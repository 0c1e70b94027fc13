//! The one spawn: every process that haft ever starts is started by [`spawn`].

use std::cell::RefCell;
use std::ffi::{CStr, CString};
use std::io;
use std::mem::MaybeUninit;
use std::os::fd::{OwnedFd, RawFd};
use std::ptr;
use std::sync::atomic::{AtomicBool, Ordering};

use super::Step;
use super::child::{self, Context, Move, RawLimit};
use super::clone::{self, Birth};
use super::shield;
use super::signal::{self, SignalSet};
use crate::command::ProcessGroup;

/// The child needs little more than a frame a step.
const STACK_BYTES: usize = 32 * 1024;

/// Set once `clone3` was refused, so that it is asked only once.
static CLONE3_REFUSED: AtomicBool = AtomicBool::new(false);

thread_local! {
    // The thread sleeps while its child runs on this stack, so one a thread is enough and it is never shared.
    static STACK: RefCell<Vec<MaybeUninit<u8>>> = const { RefCell::new(Vec::new()) };
}

/// What a child shall be, every decision made.
#[derive(Debug)]
pub(crate) struct Plan<'a> {
    pub(crate) path: &'a CStr,
    /// The child's number of the file to execute in place of the path.
    pub(crate) program_file: Option<RawFd>,
    pub(crate) argv: &'a [CString],
    /// Strings of the form `name=value`.
    pub(crate) environment: &'a [&'a CStr],
    pub(crate) working_directory: Option<&'a CStr>,
    /// Pairs of the parent's number and the child's number.
    pub(crate) descriptors: &'a [(RawFd, RawFd)],
    pub(crate) group: ProcessGroup,
    pub(crate) controlling_terminal: Option<RawFd>,
    pub(crate) foreground_of: Option<RawFd>,
    pub(crate) parent_death: Option<i32>,
    /// A control group's directory to be born in.
    pub(crate) cgroup: Option<RawFd>,
    /// `cgroup.procs` files, open for writing, to join before exec.
    pub(crate) cgroup_files: &'a [RawFd],
    pub(crate) limits: &'a [RawLimit],
    pub(crate) nice: Option<i32>,
    pub(crate) umask: Option<u32>,
    /// Whether the child keeps `CAP_SYS_PTRACE` where others lose it.
    pub(crate) keep_tracing: bool,
    pub(crate) no_new_privileges: bool,
    pub(crate) landlock: Option<RawFd>,
    pub(crate) seccomp: Option<&'a [[u8; 8]]>,
    pub(crate) ignored: SignalSet,
    pub(crate) mask: SignalSet,
}

/// A child that has reached its program.
#[derive(Debug)]
pub(crate) struct Spawned {
    pub(crate) pid: i32,
    pub(crate) pidfd: OwnedFd,
}

/// Where and why a child did not reach its program.
#[derive(Debug)]
pub(crate) struct Fault {
    pub(crate) step: Step,
    /// Which of several descriptors or limits.
    pub(crate) index: usize,
    pub(crate) error: io::Error,
}

/// Starts a process. On return it either runs its program, or is gone without a trace and the fault says why.
pub(crate) fn spawn(plan: &Plan<'_>) -> Result<Spawned, Fault> {
    let argv = pointers(plan.argv.iter().map(CString::as_c_str));
    let envp = pointers(plan.environment.iter().copied());
    let filter = plan.seccomp.map(seccomp_program);
    let (mut moves, close) = arrange(plan.descriptors);
    let highest = plan.descriptors.iter().map(|&(_, to)| to).max().unwrap_or(2).max(2);
    let mut context = Context {
        path: plan.path,
        program_file: plan.program_file,
        argv: argv.as_ptr(),
        envp: envp.as_ptr(),
        working_directory: plan.working_directory,
        moves: &mut moves,
        lift_floor: highest + 1,
        close: &close,
        group: plan.group,
        controlling_terminal: plan.controlling_terminal,
        foreground_of: plan.foreground_of,
        parent_death: plan.parent_death,
        parent: std::process::id().cast_signed(),
        cgroup: None,
        cgroup_files: plan.cgroup_files,
        limits: plan.limits,
        nice: plan.nice,
        umask: plan.umask,
        withhold_tracing: shield::is_tracing_withheld() && !plan.keep_tracing,
        no_new_privileges: plan.no_new_privileges || plan.landlock.is_some() || plan.seccomp.is_some(),
        landlock: plan.landlock,
        seccomp: filter.as_ref().map(ptr::from_ref),
        ignored: plan.ignored,
        reset: SignalSet::ALL,
        mask: plan.mask,
        failed: Step::None,
        errno: 0,
        index: 0,
    };
    let birth = with_signals_blocked(|| bear(&mut context, plan.cgroup)).map_err(|error| Fault {
        step: Step::Clone,
        index: 0,
        error,
    })?;
    finish(&context, birth)
}

/// Runs `action` with every signal blocked: a handler must not run on memory that parent and child share.
fn with_signals_blocked<T>(action: impl FnOnce() -> T) -> T {
    let old = signal::set_mask(SignalSet::ALL);
    let result = action();
    signal::set_mask(old);
    result
}

fn bear(context: &mut Context<'_>, cgroup: Option<RawFd>) -> io::Result<Birth> {
    STACK.with_borrow_mut(|stack| {
        stack.resize_with(STACK_BYTES, MaybeUninit::uninit);
        let pointer = ptr::from_mut(context).cast();
        if !CLONE3_REFUSED.load(Ordering::Relaxed) {
            if let Some(known) = signal::known_ignored() {
                context.reset = SignalSet(known.0 ^ context.ignored.0);
            }
            // SAFETY: the stack is this thread's own, the context is what `enter` expects, signals are blocked.
            match unsafe { clone::clone3_child(stack, cgroup, child::enter, pointer) } {
                Err(error) if refused(&error) => CLONE3_REFUSED.store(true, Ordering::Relaxed),
                result => return result,
            }
        }
        context.cgroup = cgroup;
        context.reset = SignalSet::ALL;
        // SAFETY: as above.
        unsafe { clone::clone_child(stack, child::enter, pointer) }
    })
}

/// Whether the system does not offer `clone3` as it is used here; containers' filters answer `EPERM`.
fn refused(error: &io::Error) -> bool {
    matches!(error.raw_os_error(), Some(libc::ENOSYS | libc::EPERM | libc::EINVAL))
}

/// Reads what the child reported; one that failed is reaped here and leaves no trace.
fn finish(context: &Context<'_>, birth: Birth) -> Result<Spawned, Fault> {
    // The child wrote through another pointer while this thread slept.
    // SAFETY: the field is alive and initialised.
    let step = unsafe { ptr::read_volatile(&raw const context.failed) };
    if step == Step::None {
        return Ok(Spawned { pid: birth.pid, pidfd: birth.pidfd });
    }
    // SAFETY: as above.
    let (errno, index) = unsafe {
        (ptr::read_volatile(&raw const context.errno), ptr::read_volatile(&raw const context.index))
    };
    let _ = super::wait_pidfd(std::os::fd::AsFd::as_fd(&birth.pidfd), true);
    Err(Fault { step, index, error: io::Error::from_raw_os_error(errno) })
}

/// A NULL-terminated array of pointers to the strings.
pub(super) fn pointers<'a>(strings: impl Iterator<Item = &'a CStr>) -> Vec<*const libc::c_char> {
    strings.map(CStr::as_ptr).chain([ptr::null()]).collect()
}

fn seccomp_program(instructions: &[[u8; 8]]) -> libc::sock_fprog {
    libc::sock_fprog {
        len: u16::try_from(instructions.len()).unwrap_or(u16::MAX),
        filter: instructions.as_ptr().cast_mut().cast(),
    }
}

/// Decides which descriptors must step aside, and which ranges of numbers are to be closed.
pub(super) fn arrange(descriptors: &[(RawFd, RawFd)]) -> (Vec<Move>, Vec<(u32, u32)>) {
    let moves = descriptors
        .iter()
        .map(|&(from, to)| {
            let lift = from != to && descriptors.iter().any(|&(_, other)| other == from);
            Move { from, to, lift }
        })
        .collect();
    let mut kept: Vec<u32> = descriptors.iter().map(|&(_, to)| to.cast_unsigned()).collect();
    kept.sort_unstable();
    kept.dedup();
    let mut close = Vec::with_capacity(2);
    let mut next = 0;
    for number in kept {
        if number > next {
            close.push((next, number - 1));
        }
        next = number + 1;
    }
    close.push((next, u32::MAX));
    (moves, close)
}
