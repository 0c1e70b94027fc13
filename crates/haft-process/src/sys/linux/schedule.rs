//! Scheduling of the calling thread.

/// Gives the calling thread the lowest real-time priority, which is above all other threads, or takes it back. Its children do
/// not inherit it. Returns whether the system allows that.
pub(crate) fn set_realtime(is_on: bool) -> bool {
    let policy = if is_on { libc::SCHED_RR | libc::SCHED_RESET_ON_FORK } else { libc::SCHED_OTHER };
    let priority = libc::sched_param { sched_priority: i32::from(is_on) };
    // SAFETY: a pointer to a complete structure.
    unsafe { libc::syscall(libc::SYS_sched_setscheduler, 0, policy, &raw const priority) == 0 }
}
