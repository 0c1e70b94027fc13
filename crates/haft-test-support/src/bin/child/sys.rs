//! System calls, declared here so that one call of the compiler builds the child.
#![expect(unsafe_code, reason = "these are calls of the C library")]

use std::ffi::{CString, c_char, c_int, c_long, c_uint, c_ulong, c_void};

pub(crate) const SIGHUP: i32 = 1;
pub(crate) const SIGKILL: i32 = 9;
pub(crate) const SIGALRM: i32 = 14;
pub(crate) const SIGTERM: i32 = 15;
pub(crate) const SIGSTOP: i32 = 19;
pub(crate) const SIGWINCH: i32 = 28;
#[cfg(target_arch = "x86_64")]
const SYS_EXIT: c_long = 60;
#[cfg(not(target_arch = "x86_64"))]
const SYS_EXIT: c_long = 93;
const PR_SET_DUMPABLE: c_int = 4;
const CLONE_NEWUSER: c_int = 0x1000_0000;
const SIG_IGN: usize = 1;
const SIG_BLOCK: c_int = 0;
const RLIMIT_CORE: c_int = 4;
const TIOCGWINSZ: c_ulong = 0x5413;
const ECHO: u32 = 0o10;
const POLLIN: i16 = 1;
const EPOLLIN: u32 = 1;

#[repr(C)]
struct Termios {
    flags: [u32; 4],
    line: u8,
    characters: [u8; 32],
    speeds: [u32; 2],
}

#[repr(C)]
struct PollFd {
    descriptor: c_int,
    events: i16,
    happened: i16,
}

#[cfg_attr(target_arch = "x86_64", repr(C, packed))]
#[cfg_attr(not(target_arch = "x86_64"), repr(C))]
struct EpollEvent {
    events: u32,
    data: u64,
}

type CSignalSet = [u64; 16];

// SAFETY: these are the declarations of the C library on 64-bit Linux.
unsafe extern "C" {
    fn alarm(seconds: c_uint) -> c_uint;
    fn fork() -> c_int;
    fn setsid() -> c_int;
    fn setpgid(pid: c_int, group: c_int) -> c_int;
    fn signal(signal: c_int, handler: usize) -> usize;
    fn kill(pid: c_int, signal: c_int) -> c_int;
    fn getpid() -> c_int;
    fn waitpid(pid: c_int, status: *mut c_int, options: c_int) -> c_int;
    fn prctl(option: c_int, ...) -> c_int;
    fn geteuid() -> c_uint;
    fn setreuid(real: c_uint, effective: c_uint) -> c_int;
    fn unshare(flags: c_int) -> c_int;
    fn _exit(status: c_int) -> !;
    fn syscall(number: c_long, ...) -> c_long;
    fn close(descriptor: c_int) -> c_int;
    fn dup2(from: c_int, to: c_int) -> c_int;
    fn open(path: *const c_char, flags: c_int, ...) -> c_int;
    fn execve(path: *const c_char, argv: *const *const c_char, envp: *const *const c_char) -> c_int;
    fn setrlimit(resource: c_int, limit: *const [u64; 2]) -> c_int;
    fn sigemptyset(set: *mut CSignalSet) -> c_int;
    fn sigaddset(set: *mut CSignalSet, signal: c_int) -> c_int;
    fn sigprocmask(how: c_int, set: *const CSignalSet, old: *mut CSignalSet) -> c_int;
    fn sigwait(set: *const CSignalSet, signal: *mut c_int) -> c_int;
    fn ioctl(descriptor: c_int, request: c_ulong, ...) -> c_int;
    fn tcgetattr(descriptor: c_int, settings: *mut Termios) -> c_int;
    fn tcsetattr(descriptor: c_int, when: c_int, settings: *const Termios) -> c_int;
    fn poll(set: *mut PollFd, count: c_ulong, timeout: c_int) -> c_int;
    fn select(
        count: c_int,
        read: *mut [u64; 16],
        write: *mut c_void,
        except: *mut c_void,
        timeout: *mut c_void,
    ) -> c_int;
    fn epoll_create1(flags: c_int) -> c_int;
    fn epoll_ctl(epoll: c_int, operation: c_int, descriptor: c_int, event: *mut EpollEvent) -> c_int;
    fn epoll_wait(epoll: c_int, events: *mut EpollEvent, count: c_int, timeout: c_int) -> c_int;
}

/// The entry point that the C library calls.
// SAFETY: no other function of this name is linked, and it has the signature that the C library expects.
#[unsafe(no_mangle)]
extern "C" fn main(_count: c_int, _arguments: *const *const c_char) -> c_int {
    crate::run()
}

/// Ends this process after two minutes.
pub(crate) fn limit_life() {
    // SAFETY: a plain call.
    unsafe { alarm(120) };
}

/// Runs `action` in a forked process and returns its pid. This program has a single thread.
pub(crate) fn in_fork(action: impl FnOnce() -> i32) -> i32 {
    let pid = fork_here();
    if pid == 0 {
        let status = action();
        exit(status);
    }
    pid
}

/// Forks. Returns 0 in the child.
pub(crate) fn fork_here() -> i32 {
    // SAFETY: with a single thread a forked process may do anything.
    let pid = unsafe { fork() };
    if pid == 0 {
        limit_life();
    }
    pid
}

pub(crate) fn exit(status: i32) -> ! {
    // SAFETY: exits at once.
    unsafe { _exit(status) }
}

/// Ends only this thread.
pub(crate) fn end_thread() -> ! {
    // SAFETY: nothing of this thread is used by others.
    unsafe { syscall(SYS_EXIT, 0) };
    unreachable!("the thread has ended");
}

/// Prevents other processes from reading the memory and environment of this process.
pub(crate) fn hide_memory() {
    // SAFETY: a call without pointers.
    unsafe { prctl(PR_SET_DUMPABLE, 0 as c_ulong, 0 as c_ulong, 0 as c_ulong, 0 as c_ulong) };
}

/// Makes the effective user the real user.
pub(crate) fn become_effective_user() {
    // SAFETY: plain calls.
    unsafe { setreuid(geteuid(), geteuid()) };
}

/// Enters a new user namespace, if that is allowed.
pub(crate) fn new_user_namespace() {
    // SAFETY: a plain call.
    unsafe { unshare(CLONE_NEWUSER) };
}

pub(crate) fn new_session() {
    // SAFETY: a plain call.
    unsafe { setsid() };
}

pub(crate) fn new_group() {
    // SAFETY: a plain call.
    unsafe { setpgid(0, 0) };
}

pub(crate) fn ignore(number: i32) {
    // SAFETY: installs no handler.
    unsafe { signal(number, SIG_IGN) };
}

pub(crate) fn send_to_self(number: i32) {
    // SAFETY: plain calls.
    unsafe { kill(getpid(), number) };
}

/// Waits for a child of this process.
pub(crate) fn reap(pid: i32) {
    // SAFETY: the status may be null.
    unsafe { waitpid(pid, std::ptr::null_mut(), 0) };
}

pub(crate) fn no_core_file() {
    // SAFETY: a complete structure of two numbers.
    unsafe { setrlimit(RLIMIT_CORE, &[0, 0]) };
}

pub(crate) fn close_descriptor(number: i32) {
    // SAFETY: no code of this program owns the descriptor.
    unsafe { close(number) };
}

/// Opens `/dev/null` as each of the descriptors.
pub(crate) fn open_at(numbers: std::ops::RangeInclusive<i32>) {
    for number in numbers {
        // SAFETY: a constant, NUL-terminated path; the rest are plain calls.
        unsafe {
            let null = open(c"/dev/null".as_ptr(), 2);
            if null != number {
                dup2(null, number);
                close(null);
            }
        }
    }
}

pub(crate) fn block(signals: impl IntoIterator<Item = i32>) {
    let set = set_of(signals);
    // SAFETY: a complete set; the old one may be null.
    unsafe { sigprocmask(SIG_BLOCK, &raw const set, std::ptr::null_mut()) };
}

/// Waits for a blocked signal.
pub(crate) fn wait_signal(number: i32) {
    let set = set_of([number]);
    let mut got = 0;
    // SAFETY: a complete set and a pointer to a number.
    unsafe { sigwait(&raw const set, &raw mut got) };
}

fn set_of(signals: impl IntoIterator<Item = i32>) -> CSignalSet {
    let mut set = [0; 16];
    // SAFETY: a complete set.
    unsafe { sigemptyset(&raw mut set) };
    for number in signals {
        // SAFETY: as above.
        unsafe { sigaddset(&raw mut set, number) };
    }
    set
}

/// Executes another program. Signal mask and dispositions stay unchanged.
pub(crate) fn execute(program: &str, arguments: &[&str], environment: &[Vec<u8>]) -> i32 {
    let text = |bytes: &[u8]| CString::new(bytes).expect("no NUL bytes");
    let path = text(program.as_bytes());
    let argv: Vec<CString> = arguments.iter().map(|argument| text(argument.as_bytes())).collect();
    let envp: Vec<CString> = environment.iter().map(|entry| text(entry)).collect();
    let pointers = |strings: &[CString]| -> Vec<*const c_char> {
        strings.iter().map(|string| string.as_ptr()).chain([std::ptr::null()]).collect()
    };
    let (argv_pointers, envp_pointers) = (pointers(&argv), pointers(&envp));
    // SAFETY: the arrays are NULL-terminated and outlive the call.
    unsafe { execve(path.as_ptr(), argv_pointers.as_ptr(), envp_pointers.as_ptr()) };
    126
}

/// Returns columns and rows of the terminal at standard output.
pub(crate) fn window_size() -> Option<(u16, u16)> {
    let mut size = [0u16; 4];
    // SAFETY: the structure has four numbers of two bytes.
    let result = unsafe { ioctl(1, TIOCGWINSZ, size.as_mut_ptr()) };
    (result == 0).then_some((size[1], size[0]))
}

/// Enables or disables the echo of a terminal.
pub(crate) fn echo(descriptor: i32, on: bool) {
    let mut settings = Termios { flags: [0; 4], line: 0, characters: [0; 32], speeds: [0; 2] };
    // SAFETY: a complete structure in the layout of the C library.
    if unsafe { tcgetattr(descriptor, &raw mut settings) } != 0 {
        return;
    }
    settings.flags[3] = if on { settings.flags[3] | ECHO } else { settings.flags[3] & !ECHO };
    // SAFETY: as above.
    unsafe { tcsetattr(descriptor, 0, &raw const settings) };
}

pub(crate) fn poll_input() {
    let mut entry = PollFd { descriptor: 0, events: POLLIN, happened: 0 };
    // SAFETY: one complete entry.
    unsafe { poll(&raw mut entry, 1, -1) };
}

pub(crate) fn select_input() {
    let mut set = [0; 16];
    set[0] = 1;
    let none = std::ptr::null_mut();
    // SAFETY: a complete set; the others may be null.
    unsafe { select(1, &raw mut set, none, none, none) };
}

pub(crate) fn epoll_input() {
    let mut event = EpollEvent { events: EPOLLIN, data: 0 };
    // SAFETY: one complete event.
    unsafe {
        let epoll = epoll_create1(0);
        epoll_ctl(epoll, 1, 0, &raw mut event);
        epoll_wait(epoll, &raw mut event, 1, -1);
    }
}
