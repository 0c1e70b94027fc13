//! Protection of this process that needs raw memory access.

use std::ffi::{CStr, CString};
use std::ptr;
use std::sync::atomic::{AtomicBool, Ordering};

/// Whether children lose `CAP_SYS_PTRACE`.
static TRACING_WITHHELD: AtomicBool = AtomicBool::new(false);

/// Makes every child that is started from now on lose `CAP_SYS_PTRACE`, unless its plan keeps it.
pub(crate) fn withhold_tracing() {
    TRACING_WITHHELD.store(true, Ordering::Relaxed);
}

pub(super) fn is_tracing_withheld() -> bool {
    TRACING_WITHHELD.load(Ordering::Relaxed)
}

unsafe extern "C" {
    static mut environ: *mut *mut libc::c_char;
}

/// Copies the environment to the heap, and erases the original strings on the initial stack, which other processes can read
/// through `/proc/PID/environ`. The original of the variable `kept` stays.
pub(crate) fn hide_environment(kept: &[u8]) {
    // SAFETY: `environ` is a NULL-terminated array of NUL-terminated strings, and there is no other thread that changes it.
    let entries: Vec<*mut libc::c_char> = unsafe {
        let first = environ;
        if first.is_null() {
            return;
        }
        (0..).map(|index| *first.add(index)).take_while(|entry| !entry.is_null()).collect()
    };
    // SAFETY: as above. The copies are never freed, because they are the environment from now on.
    let copies = entries.iter().map(|&entry| CString::from(unsafe { CStr::from_ptr(entry) }).into_raw());
    let copies: Vec<*mut libc::c_char> = copies.chain([ptr::null_mut()]).collect();
    // SAFETY: the array is never freed, and there is only one thread.
    unsafe { environ = Box::leak(copies.into_boxed_slice()).as_mut_ptr() };
    for entry in entries {
        erase(entry, kept);
    }
}

/// Overwrites a string of the environment with zeros, unless it defines the variable `kept`.
fn erase(entry: *mut libc::c_char, kept: &[u8]) {
    // SAFETY: a NUL-terminated string on the initial stack, which has no other reference.
    let text = unsafe { CStr::from_ptr(entry) }.to_bytes();
    if text.strip_prefix(kept).is_some_and(|rest| rest.starts_with(b"=")) {
        return;
    }
    let length = text.len();
    for index in 0..length {
        // SAFETY: within the string. The writes are volatile, because no code reads them.
        unsafe { ptr::write_volatile(entry.add(index), 0) };
    }
}
