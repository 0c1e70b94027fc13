//! The room where the system is touched directly.
//!
//! Everything `unsafe` of this crate is below this folder. The rest of the crate sees only the safe functions that
//! are re-exported here; another Unix system would be a sibling of `linux` with the same names.
#![expect(unsafe_code, reason = "raw system calls live here and nowhere else in this crate")]

#[cfg(target_os = "linux")]
mod linux;
#[cfg(target_os = "linux")]
pub(crate) use linux::*;

#[cfg(not(target_os = "linux"))]
compile_error!(
    "haft-process supports Linux; another Unix system needs a sibling of sys/linux with the same functions"
);
