//! `CAP_SYS_PTRACE`, which allows root to trace every process. A server does not give it to the programs that it starts.

use std::sync::atomic::{AtomicBool, Ordering};

use rustix::thread::{CapabilitySet, capabilities, set_capabilities};

use crate::sys;

/// Whether the capability was removed from the effective set, so that it must be raised for use.
static TRACING_LOWERED: AtomicBool = AtomicBool::new(false);

/// Removes `CAP_SYS_PTRACE` from the effective set, so that scripts on threads of this process do not have it, and from
/// children. It stays in the permitted set, so that [`with_tracing`] can raise it.
pub(crate) fn withhold_tracing() {
    let Ok(mut sets) = capabilities(None) else { return };
    if !sets.effective.contains(CapabilitySet::SYS_PTRACE) {
        return;
    }
    sets.effective.remove(CapabilitySet::SYS_PTRACE);
    sets.inheritable.remove(CapabilitySet::SYS_PTRACE);
    if set_capabilities(None, sets).is_ok() {
        TRACING_LOWERED.store(true, Ordering::Relaxed);
        sys::withhold_tracing();
    }
}

/// Runs `action` with `CAP_SYS_PTRACE` raised for this thread, if it was removed.
pub(crate) fn with_tracing<T>(action: impl FnOnce() -> T) -> T {
    if !TRACING_LOWERED.load(Ordering::Relaxed) {
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
