//! Protecting a server from the programs that it starts.
//!
//! A server has a connection to its client, and often keys in its environment. Its programs run as the same user. By
//! default, each of them can open `/proc/SERVER/fd/N`, read `/proc/SERVER/environ`, or attach with `ptrace`.

use std::os::fd::AsFd;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{PoisonError, RwLock};

use rustix::fs::fstat;
use rustix::process::{DumpableBehavior, set_dumpable_behavior};

use crate::capability::withhold_tracing;
use crate::error::Error;
use crate::scope::MARKER;
use crate::sys;

/// Whether the children of a protected process keep `CAP_SYS_PTRACE`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Tracing {
    /// Children of root keep it, and can trace the protected process.
    Allowed,
    /// Children of root lose it. They can trace each other, and no other process.
    Withheld,
}

/// Device and inode of files that scripts must not open.
static WITHHELD_FILES: RwLock<Vec<(u64, u64)>> = RwLock::new(Vec::new());
static HAS_WITHHELD_FILES: AtomicBool = AtomicBool::new(false);

/// Denies other processes of the user access to `/proc/PID/fd`, `environ` and `mem` of this process, and `ptrace`. Call this
/// while the process has a single thread. Only then is the initial environment erased from `/proc/PID/environ`, while
/// `std::env` keeps it, and only then does every thread lose the capability.
///
/// # Errors
/// Fails if the system call fails.
pub fn protect_process(tracing: Tracing) -> Result<(), Error> {
    if sys::is_single_threaded() {
        // An outer haft finds this process by its marker.
        sys::hide_environment(MARKER.as_bytes());
    }
    set_dumpable_behavior(DumpableBehavior::NotDumpable)
        .map_err(|error| Error::system("protect the process", error))?;
    if tracing == Tracing::Withheld {
        withhold_tracing();
    }
    Ok(())
}

/// Prevents scripts in this process from opening a file, under any name. The pipes to a client, for example, can be opened as
/// `/proc/self/fd/N`.
pub fn withhold_file(file: impl AsFd) {
    if let Ok(stat) = fstat(file) {
        let mut withheld = WITHHELD_FILES.write().unwrap_or_else(PoisonError::into_inner);
        withheld.push((stat.st_dev, stat.st_ino));
        HAS_WITHHELD_FILES.store(true, Ordering::Release);
    }
}

/// Whether an open file is [withheld](withhold_file) from scripts.
#[must_use]
pub fn is_withheld(file: impl AsFd) -> bool {
    if !HAS_WITHHELD_FILES.load(Ordering::Acquire) {
        return false;
    }
    let withheld = WITHHELD_FILES.read().unwrap_or_else(PoisonError::into_inner);
    fstat(file).is_ok_and(|stat| withheld.contains(&(stat.st_dev, stat.st_ino)))
}
