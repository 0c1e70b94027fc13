//! The parts of protecting this process that need raw memory and raw calls.

use std::ffi::{CStr, CString};
use std::ptr;
use std::sync::atomic::{AtomicBool, Ordering};

/// Whether children lose `CAP_SYS_PTRACE`.
static WITHHELD: AtomicBool = AtomicBool::new(false);

/// Has every child that is started from now on lose `CAP_SYS_PTRACE`, unless its plan keeps it.
pub(crate) fn withhold_tracing() {
    WITHHELD.store(true, Ordering::Relaxed);
}

pub(super) fn is_tracing_withheld() -> bool {
    WITHHELD.load(Ordering::Relaxed)
}

unsafe extern "C" {
    static mut environ: *mut *mut libc::c_char;
}

/// Moves the environment of this process to memory of its own, and erases the strings that the system has put on the stack,
/// which `/proc/PID/environ` shows to others. Those of the variable `kept` stay.
pub(crate) fn hide_environment(kept: &[u8]) {
    // SAFETY: `environ` is a NULL-terminated array of NUL-terminated strings, and no other thread is there to change it.
    let entries: Vec<*mut libc::c_char> = unsafe {
        let first = environ;
        if first.is_null() {
            return;
        }
        (0..).map(|index| *first.add(index)).take_while(|entry| !entry.is_null()).collect()
    };
    // SAFETY: as above. The copies are never freed: from now on they are the environment.
    let copies = entries.iter().map(|&entry| CString::from(unsafe { CStr::from_ptr(entry) }).into_raw());
    let copies: Vec<*mut libc::c_char> = copies.chain([ptr::null_mut()]).collect();
    // SAFETY: the array lives for ever, and there is one thread only.
    unsafe { environ = Box::leak(copies.into_boxed_slice()).as_mut_ptr() };
    for entry in entries {
        erase(entry, kept);
    }
}

/// Overwrites a string of the environment with zeros, unless it is of the variable `kept`.
fn erase(entry: *mut libc::c_char, kept: &[u8]) {
    // SAFETY: a NUL-terminated string of the initial stack, to which nothing refers any more.
    let text = unsafe { CStr::from_ptr(entry) }.to_bytes();
    if text.strip_prefix(kept).is_some_and(|rest| rest.starts_with(b"=")) {
        return;
    }
    let length = text.len();
    for index in 0..length {
        // SAFETY: within the string. The writes are volatile, since nothing reads them here.
        unsafe { ptr::write_volatile(entry.add(index), 0) };
    }
}
