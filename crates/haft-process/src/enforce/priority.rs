//! The priority of the sampling thread.

use rustix::process::{getpriority_process, setpriority_process};

/// The niceness of a thread that must run although a fork bomb keeps all processors busy.
const SAMPLING_NICENESS: i32 = -10;

/// Raises the priority of the current thread until it is dropped, on the same thread. Only root may do that.
#[derive(Debug)]
pub(crate) struct RaisedPriority {
    /// The niceness before, if it was changed.
    before: Option<i32>,
}

impl RaisedPriority {
    pub(crate) fn new() -> RaisedPriority {
        let raised = |_: &i32| setpriority_process(None, SAMPLING_NICENESS).is_ok();
        let before = getpriority_process(None).ok().filter(|niceness| *niceness > SAMPLING_NICENESS);
        RaisedPriority { before: before.filter(raised) }
    }
}

impl Drop for RaisedPriority {
    fn drop(&mut self) {
        if let Some(niceness) = self.before {
            let _ = setpriority_process(None, niceness);
        }
    }
}
