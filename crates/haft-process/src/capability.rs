//! `CAP_SYS_PTRACE`, which opens every process to root, and which the processes that a server starts do not get.

use std::sync::atomic::{AtomicBool, Ordering};

use rustix::thread::{CapabilitySet, capabilities, set_capabilities};

use crate::sys;

/// Whether this process has given up the effective capability, so that it must be raised where it is needed.
static LOWERED: AtomicBool = AtomicBool::new(false);

/// Takes `CAP_SYS_PTRACE` from this process's scripts, which run on its threads, and from its children. It stays permitted, so
/// that the search for members of a scope can [raise](with_tracing) it.
pub(crate) fn withhold_tracing() {
    let Ok(mut sets) = capabilities(None) else { return };
    if !sets.effective.contains(CapabilitySet::SYS_PTRACE) {
        return;
    }
    sets.effective.remove(CapabilitySet::SYS_PTRACE);
    sets.inheritable.remove(CapabilitySet::SYS_PTRACE);
    if set_capabilities(None, sets).is_ok() {
        LOWERED.store(true, Ordering::Relaxed);
        sys::withhold_tracing();
    }
}

/// Does something with `CAP_SYS_PTRACE` raised for this thread, if it was lowered.
pub(crate) fn with_tracing<T>(action: impl FnOnce() -> T) -> T {
    if !LOWERED.load(Ordering::Relaxed) {
        return action();
    }
    let raise = |raised: bool| {
        if let Ok(mut sets) = capabilities(None) {
            sets.effective.set(CapabilitySet::SYS_PTRACE, raised);
            let _ = set_capabilities(None, sets);
        }
    };
    raise(true);
    let result = action();
    raise(false);
    result
}
