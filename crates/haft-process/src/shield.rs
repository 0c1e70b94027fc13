//! Protecting a process that serves from the processes that it starts.
//!
//! A server holds a connection to its client and, often, keys in its environment. The processes that it starts run as the same
//! user, so by default each of them may open `/proc/SERVER/fd/N`, read `/proc/SERVER/environ` or attach with `ptrace`.

use std::os::fd::AsFd;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{PoisonError, RwLock};

use rustix::fs::fstat;
use rustix::process::{DumpableBehavior, set_dumpable_behavior};

use crate::capability::withhold_tracing;
use crate::error::Error;
use crate::scope::MARKER;
use crate::sys;

/// What the processes that a protected process starts may do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Tracing {
    /// Root's children keep `CAP_SYS_PTRACE`, which opens the server to them again.
    Allowed,
    /// Root's children lose `CAP_SYS_PTRACE`: they trace each other, and nothing outside.
    Withheld,
}

/// Device and inode of files that scripts must not open.
static WITHHELD: RwLock<Vec<(u64, u64)>> = RwLock::new(Vec::new());
static HAS_WITHHELD: AtomicBool = AtomicBool::new(false);

/// Protects this process from the processes that it will start: `/proc/PID/fd`, `environ` and `mem` of it are closed to them, and
/// `ptrace`. Call it while this process has one thread: then the environment that it was started with is erased where others
/// could read it, while `std::env` still finds it; and no thread keeps a capability that this one gives up.
///
/// # Errors
/// If the system refuses.
pub fn protect_process(tracing: Tracing) -> Result<(), Error> {
    if sys::is_single_threaded() {
        // An outer haft finds this process by the marker.
        sys::hide_environment(MARKER.as_bytes());
    }
    set_dumpable_behavior(DumpableBehavior::NotDumpable)
        .map_err(|error| Error::system("protect the process", error))?;
    if tracing == Tracing::Withheld {
        withhold_tracing();
    }
    Ok(())
}

/// Withholds a file from scripts that run in this process, by whatever name they open it: the pipes to a client are found as
/// `/proc/self/fd/N`.
pub fn withhold_file(file: impl AsFd) {
    if let Ok(stat) = fstat(file) {
        let mut withheld = WITHHELD.write().unwrap_or_else(PoisonError::into_inner);
        withheld.push((stat.st_dev, stat.st_ino));
        HAS_WITHHELD.store(true, Ordering::Release);
    }
}

/// Whether an open file is [withheld](withhold_file) from scripts.
#[must_use]
pub fn is_withheld(file: impl AsFd) -> bool {
    if !HAS_WITHHELD.load(Ordering::Acquire) {
        return false;
    }
    let withheld = WITHHELD.read().unwrap_or_else(PoisonError::into_inner);
    fstat(file).is_ok_and(|stat| withheld.contains(&(stat.st_dev, stat.st_ino)))
}
