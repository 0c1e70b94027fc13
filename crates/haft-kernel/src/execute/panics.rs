//! A panic ends the stage that it happens in and nothing else.

use std::any::Any;
use std::panic::{AssertUnwindSafe, catch_unwind};

use crate::flow::{Flow, Unwind};
use crate::session::Session;

/// The status of a stage that panicked: the same as for `SIGABRT`.
pub(crate) const PANIC_STATUS: i32 = 134;

impl Session {
    /// Runs the work of a shell or subshell. If it panics, this is reported, and the shell ends with
    /// [`PANIC_STATUS`].
    pub(crate) fn catch_panic(&mut self, run: impl FnOnce(&mut Self) -> Flow) -> Flow {
        let stack = self.limits.stack();
        let caught = catch_unwind(AssertUnwindSafe(|| run(self)));
        caught.unwrap_or_else(|panic| {
            *self.limits.stack_mut() = stack;
            self.report(format_args!("internal error: {}", message(&*panic)));
            Err(Unwind::Exit(PANIC_STATUS))
        })
    }

    /// Runs the whole work of this subshell and its `EXIT` trap. Returns its status.
    pub(crate) fn run_as_subshell(&mut self, run: impl FnOnce(&mut Self) -> Flow) -> i32 {
        let ended = self.catch_panic(|session| {
            let result = session.catch_panic(run);
            session.end_subshell(result)
        });
        ended.unwrap_or_else(Unwind::status)
    }

    /// Runs an added command. If it panics, the shell goes on.
    pub(crate) fn catch_command_panic(&mut self, name: &[u8], run: impl FnOnce(&mut Self) -> Flow) -> Flow {
        let caught = catch_unwind(AssertUnwindSafe(|| run(self)));
        caught.unwrap_or_else(|panic| {
            let name = String::from_utf8_lossy(name);
            self.report(format_args!("{name}: internal error: {}", message(&*panic)));
            Ok(PANIC_STATUS)
        })
    }
}

/// The message of a panic.
fn message(panic: &(dyn Any + Send)) -> &str {
    let text = panic.downcast_ref::<String>().map(String::as_str);
    text.or_else(|| panic.downcast_ref::<&str>().copied()).unwrap_or("a panic without a message")
}
