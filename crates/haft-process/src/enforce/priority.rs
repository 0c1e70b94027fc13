//! The priority of the sampling thread.

use rustix::process::{getpriority_process, setpriority_process};

use crate::sys;

/// The niceness of a thread that must run although a fork bomb keeps all processors busy.
const SAMPLING_NICENESS: i32 = -10;

/// Raises the priority of the current thread until it is dropped, on the same thread. Only root may do that.
#[derive(Debug)]
pub(crate) struct RaisedPriority {
    /// The niceness before, if it was changed.
    before: Option<i32>,
    /// Whether the thread runs before all threads without real-time priority.
    is_realtime: bool,
}

impl RaisedPriority {
    pub(crate) fn new() -> RaisedPriority {
        let raised = |_: &i32| setpriority_process(None, SAMPLING_NICENESS).is_ok();
        let before = getpriority_process(None).ok().filter(|niceness| *niceness > SAMPLING_NICENESS);
        RaisedPriority { before: before.filter(raised), is_realtime: false }
    }

    /// Lets the thread run before all others. The share of a nice thread shrinks with the number of processes that compete with it.
    pub(crate) fn set_urgent(&mut self, is_urgent: bool) {
        if is_urgent != self.is_realtime {
            self.is_realtime = sys::set_realtime(is_urgent) && is_urgent;
        }
    }
}

impl Drop for RaisedPriority {
    fn drop(&mut self) {
        self.set_urgent(false);
        if let Some(niceness) = self.before {
            let _ = setpriority_process(None, niceness);
        }
    }
}
