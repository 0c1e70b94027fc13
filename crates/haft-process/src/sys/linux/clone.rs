//! One birth: `clone3` on a private stack, sharing memory, the parent's thread asleep until the child has exec'd.
//!
//! The C library offers no `clone3`, and its `clone` cannot ask for a control group to be born into, so the few
//! instructions that switch to the new stack are written here. Where `clone3` is refused (an old kernel, a
//! container's filter) the C library's `clone` serves.

use std::io;
use std::mem::MaybeUninit;
use std::os::fd::{FromRawFd as _, OwnedFd, RawFd};

/// What the child runs on its own stack. It must never return.
pub(super) type Entry = extern "C" fn(*mut libc::c_void) -> !;

/// Let the child be born in the control group whose directory is given.
const CLONE_INTO_CGROUP: u64 = 0x2_0000_0000;

/// Let the child have the default for every signal that its parent handles; what the parent ignores, it ignores.
const CLONE_CLEAR_SIGHAND: u64 = 0x1_0000_0000;

/// How the child was born.
pub(super) struct Birth {
    pub(super) pid: libc::pid_t,
    pub(super) pidfd: OwnedFd,
}

/// The kernel's `struct clone_args`.
#[repr(C, align(8))]
#[derive(Default)]
struct CloneArguments {
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

/// Starts a child with `clone3`; it shares memory, and this thread sleeps until it has exec'd or exited.
///
/// # Safety
/// `stack` must be a writable region that nothing else uses until the call returns, `argument` must be what `entry`
/// expects, and all signals must be blocked, since a handler would run on memory that parent and child share.
pub(super) unsafe fn clone3_child(
    stack: &mut [MaybeUninit<u8>],
    cgroup: Option<RawFd>,
    entry: Entry,
    argument: *mut libc::c_void,
) -> io::Result<Birth> {
    let mut pidfd: RawFd = -1;
    let mut arguments = CloneArguments {
        flags: (libc::CLONE_VM | libc::CLONE_VFORK | libc::CLONE_PIDFD) as u64 | CLONE_CLEAR_SIGHAND,
        pidfd: &raw mut pidfd as u64,
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
    // SAFETY: the kernel stored a fresh descriptor that nobody else owns.
    let pidfd = unsafe { OwnedFd::from_raw_fd(pidfd) };
    Ok(Birth { pid: result as libc::pid_t, pidfd })
}

/// The system call itself. In the parent it returns; in the child it calls `entry` on the new stack.
///
/// # Safety
/// As for [`clone3_child`].
#[cfg(target_arch = "x86_64")]
unsafe fn raw_clone3(arguments: &mut CloneArguments, entry: Entry, argument: *mut libc::c_void) -> i64 {
    let result: i64;
    // SAFETY: the child never touches this frame: it runs `entry` on the other stack, which does not return. The
    // registers that carry `entry` and `argument` survive the system call.
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

/// The system call itself. In the parent it returns; in the child it calls `entry` on the new stack.
///
/// # Safety
/// As for [`clone3_child`].
#[cfg(target_arch = "aarch64")]
unsafe fn raw_clone3(arguments: &mut CloneArguments, entry: Entry, argument: *mut libc::c_void) -> i64 {
    let result: i64;
    // SAFETY: as on x86-64: the child leaves for `entry` on its own stack and never comes back to this frame.
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

/// Starts a child with the C library's `clone`, for systems that refuse `clone3`.
///
/// # Safety
/// As for [`clone3_child`].
pub(super) unsafe fn clone_child(
    stack: &mut [MaybeUninit<u8>],
    entry: Entry,
    argument: *mut libc::c_void,
) -> io::Result<Birth> {
    extern "C" fn returning(boxed: *mut libc::c_void) -> libc::c_int {
        // SAFETY: the pointer is to the pair on the frame of `clone_child`, alive while the parent sleeps.
        let (entry, argument) = unsafe { *boxed.cast::<(Entry, *mut libc::c_void)>() };
        entry(argument)
    }
    let mut pidfd: RawFd = -1;
    let mut pair = (entry, argument);
    let end = stack.as_mut_ptr_range().end;
    // SAFETY: one past the end of the region, then aligned downwards, stays inside it.
    let top = unsafe { end.sub(end as usize & 15) };
    // SAFETY: the stack is ours while the parent sleeps; the caller guarantees the rest.
    let pid = unsafe {
        libc::clone(
            returning,
            top.cast(),
            libc::CLONE_VM | libc::CLONE_VFORK | libc::CLONE_PIDFD | libc::SIGCHLD,
            (&raw mut pair).cast(),
            &raw mut pidfd,
        )
    };
    if pid < 0 {
        return Err(io::Error::last_os_error());
    }
    // SAFETY: the kernel stored a fresh descriptor that nobody else owns.
    let pidfd = unsafe { OwnedFd::from_raw_fd(pidfd) };
    Ok(Birth { pid, pidfd })
}
