//! The alternatives: the C library's `posix_spawn`, and Rust's standard library.
#![expect(unsafe_code, reason = "posix_spawn is a C function")]

use std::ffi::CString;
use std::path::Path;
use std::ptr;

/// Calls `posix_spawn` and `waitpid`.
pub(crate) fn posix_spawn_and_wait(program: &str) {
    let path = CString::new(program).expect("a path without NUL");
    let argv = [path.as_ptr().cast_mut(), ptr::null_mut()];
    let envp = [ptr::null_mut()];
    let mut pid = 0;
    // SAFETY: strings are NUL-terminated, arrays are NULL-terminated, and both outlive the call.
    let result = unsafe {
        libc::posix_spawn(&raw mut pid, path.as_ptr(), ptr::null(), ptr::null(), argv.as_ptr(), envp.as_ptr())
    };
    assert_eq!(result, 0);
    let mut status = 0;
    // SAFETY: a pointer to an integer.
    assert_eq!(unsafe { libc::waitpid(pid, &raw mut status, 0) }, pid);
}

/// Spawns with the standard library, with the same empty environment.
#[expect(clippy::disallowed_types, reason = "the peer to compare with")]
pub(crate) fn standard(program: &str) {
    assert!(std::process::Command::new(program).env_clear().status().is_ok_and(|status| status.success()));
}

/// Captures a program's output with the standard library. Returns the output and the time of the return.
#[expect(clippy::disallowed_types, reason = "the peer to compare with")]
pub(crate) fn output_of(program: &Path, argument: &str, clock: fn() -> u64) -> (Vec<u8>, u64) {
    let output = std::process::Command::new(program).arg(argument).env_clear().output();
    let now = clock();
    (output.map(|output| output.stdout).unwrap_or_default(), now)
}
