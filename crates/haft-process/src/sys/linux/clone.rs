//! `clone3` on a separate stack. The child shares memory, and the parent's thread sleeps until the child calls exec.
//!
//! The C library has no wrapper for `clone3`, and its `clone` cannot start a child in a control group. The few
//! instructions that switch to the new stack are therefore written here. If `clone3` is refused, by an old kernel or by a
//! container's seccomp filter, the C library's `clone` is used.

use std::io;
use std::mem::MaybeUninit;
use std::os::fd::{FromRawFd as _, OwnedFd, RawFd};

/// The function that a child runs on its own stack. It never returns.
pub(super) type ChildEntryPoint = extern "C" fn(*mut libc::c_void) -> !;

/// Starts the child in the control group whose directory is given.
const CLONE_INTO_CGROUP: u64 = 0x2_0000_0000;

/// Resets every signal that the parent handles to its default. Ignored signals stay ignored.
const CLONE_CLEAR_SIGHAND: u64 = 0x1_0000_0000;

/// A child that was cloned.
pub(super) struct ClonedChild {
    pub(super) pid: libc::pid_t,
    /// `None` if none was asked for.
    pub(super) pidfd: Option<OwnedFd>,
}

/// The kernel's `struct clone_args`.
#[repr(C, align(8))]
#[derive(Default)]
pub(super) struct CloneArguments {
    flags: u64,
    pidfd: u64,
    child_tid: u64,
    parent_tid: u64,
    exit_signal: u64,
    stack: u64,
    stack_size: u64,
    tls: u64,
    set_tid: u64,
    set_tid_size: u64,
    cgroup: u64,
}

impl CloneArguments {
    pub(super) fn with_flags(flags: i32) -> CloneArguments {
        CloneArguments { flags: flags as u64, ..CloneArguments::default() }
    }
}

/// Starts a child with `clone3`. The calling thread sleeps until the child calls exec or exits. A pidfd is made only with
/// `with_pidfd`.
///
/// # Safety
/// `stack` must be a writable region that nothing else uses until the call returns, `argument` must be what `entry`
/// expects, and all signals must be blocked, because a handler would run on memory that parent and child share.
pub(super) unsafe fn clone3_child(
    stack: &mut [MaybeUninit<u8>],
    cgroup: Option<RawFd>,
    with_pidfd: bool,
    entry: ChildEntryPoint,
    argument: *mut libc::c_void,
) -> io::Result<ClonedChild> {
    let mut pidfd: RawFd = -1;
    let mut arguments = CloneArguments {
        flags: clone_flags(with_pidfd) as u64 | CLONE_CLEAR_SIGHAND,
        pidfd: if with_pidfd { &raw mut pidfd as u64 } else { 0 },
        exit_signal: libc::SIGCHLD as u64,
        stack: stack.as_mut_ptr() as u64,
        // The stack pointer must be 16-byte aligned at entry.
        stack_size: ((stack.as_ptr() as usize + stack.len()) & !15).saturating_sub(stack.as_ptr() as usize)
            as u64,
        ..CloneArguments::default()
    };
    if let Some(cgroup) = cgroup {
        arguments.flags |= CLONE_INTO_CGROUP;
        arguments.cgroup = cgroup as u64;
    }
    // SAFETY: the arguments describe a valid stack; the caller guarantees the rest.
    let result = unsafe { raw_clone3(&mut arguments, entry, argument) };
    if result < 0 {
        return Err(io::Error::from_raw_os_error(-result as i32));
    }
    Ok(ClonedChild { pid: result as libc::pid_t, pidfd: own(pidfd) })
}

fn clone_flags(with_pidfd: bool) -> i32 {
    libc::CLONE_VM | libc::CLONE_VFORK | if with_pidfd { libc::CLONE_PIDFD } else { 0 }
}

/// Takes ownership of the descriptor that the kernel stored, if it stored one.
fn own(pidfd: RawFd) -> Option<OwnedFd> {
    // SAFETY: the descriptor is new and has no other owner.
    (pidfd >= 0).then(|| unsafe { OwnedFd::from_raw_fd(pidfd) })
}

/// The system call. Returns in the parent; calls `entry` on the new stack in the child.
///
/// # Safety
/// As for [`clone3_child`].
#[cfg(target_arch = "x86_64")]
unsafe fn raw_clone3(
    arguments: &mut CloneArguments,
    entry: ChildEntryPoint,
    argument: *mut libc::c_void,
) -> i64 {
    let result: i64;
    // SAFETY: the child never uses this frame: it runs `entry` on the other stack, and `entry` does not return. The
    // registers with `entry` and `argument` are preserved by the system call.
    unsafe {
        std::arch::asm!(
            "syscall",
            "test rax, rax",
            "jnz 2f",
            "xor ebp, ebp",
            "mov rdi, {argument}",
            "call {entry}",
            "ud2",
            "2:",
            entry = in(reg) entry,
            argument = in(reg) argument,
            inlateout("rax") libc::SYS_clone3 => result,
            in("rdi") std::ptr::from_mut(arguments),
            in("rsi") size_of::<CloneArguments>(),
            out("rcx") _,
            out("r11") _,
        );
    }
    result
}

/// The system call. Returns in the parent; calls `entry` on the new stack in the child.
///
/// # Safety
/// As for [`clone3_child`].
#[cfg(target_arch = "aarch64")]
unsafe fn raw_clone3(
    arguments: &mut CloneArguments,
    entry: ChildEntryPoint,
    argument: *mut libc::c_void,
) -> i64 {
    let result: i64;
    // SAFETY: as on x86-64: the child runs `entry` on its own stack and never returns to this frame.
    unsafe {
        std::arch::asm!(
            "svc 0",
            "cbnz x0, 2f",
            "mov x29, xzr",
            "mov x0, {argument}",
            "blr {entry}",
            "brk 1",
            "2:",
            entry = in(reg) entry,
            argument = in(reg) argument,
            in("x8") libc::SYS_clone3,
            inlateout("x0") std::ptr::from_mut(arguments) => result,
            in("x1") size_of::<CloneArguments>(),
        );
    }
    result
}

/// Starts a child with the C library's `clone`, where `clone3` is refused.
///
/// # Safety
/// As for [`clone3_child`].
pub(super) unsafe fn clone_child(
    stack: &mut [MaybeUninit<u8>],
    with_pidfd: bool,
    entry: ChildEntryPoint,
    argument: *mut libc::c_void,
) -> io::Result<ClonedChild> {
    extern "C" fn call_entry(boxed: *mut libc::c_void) -> libc::c_int {
        // SAFETY: the pair is in the frame of `clone_child`, which is alive while the parent sleeps.
        let (entry, argument) = unsafe { *boxed.cast::<(ChildEntryPoint, *mut libc::c_void)>() };
        entry(argument)
    }
    let mut pidfd: RawFd = -1;
    let mut pair = (entry, argument);
    let end = stack.as_mut_ptr_range().end;
    // SAFETY: the end of the region, aligned downwards, is inside the region.
    let top = unsafe { end.sub(end as usize & 15) };
    // SAFETY: nothing else uses the stack while the parent sleeps; the caller guarantees the rest.
    let pid = unsafe {
        libc::clone(
            call_entry,
            top.cast(),
            clone_flags(with_pidfd) | libc::SIGCHLD,
            (&raw mut pair).cast(),
            &raw mut pidfd,
        )
    };
    if pid < 0 {
        return Err(io::Error::last_os_error());
    }
    Ok(ClonedChild { pid, pidfd: own(pidfd) })
}
