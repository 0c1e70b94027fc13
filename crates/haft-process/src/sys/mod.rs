//! Raw system calls.
//!
//! This folder has all `unsafe` code of the crate, behind safe functions. Support for another Unix system would be a
//! sibling of `linux` with the same functions.
#![expect(unsafe_code, reason = "all raw system calls of this crate are in this folder")]

#[cfg(target_os = "linux")]
mod linux;
#[cfg(target_os = "linux")]
pub(crate) use linux::*;

#[cfg(not(target_os = "linux"))]
compile_error!(
    "haft-process supports Linux; another Unix system needs a sibling of sys/linux with the same functions"
);
