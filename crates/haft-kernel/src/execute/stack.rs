//! Nesting deep without running out of stack.
//!
//! What nests is counted in units of about a kilobyte of stack. When those of the present stack are used up, what follows runs on
//! a fresh one, on a thread of its own for which this one waits. When that is used up too, the nesting is too deep.

use std::panic::resume_unwind;
use std::thread;

use crate::flow::{Flow, Unwind};
use crate::session::Session;

/// The units that any thread's stack is taken to have room for.
const FIRST: u32 = 1_000;

/// The units that the fresh stack has room for, and its bytes, which are taken from the system only as far as they
/// are used.
const FRESH: u32 = 100_000;
const FRESH_BYTES: usize = 512 << 20;

impl Session {
    /// Runs something that nests, counted with this many units.
    #[inline]
    pub(crate) fn nested(&mut self, units: u32, run: impl FnOnce(&mut Self) -> Flow + Send) -> Flow {
        let stack = self.limits.stack_mut();
        stack.depth += units;
        let fits = stack.depth < FIRST || stack.is_large && stack.depth < FRESH;
        let result = if fits { run(self) } else { self.nested_deep(run) };
        self.limits.stack_mut().depth -= units;
        result
    }

    #[inline(never)]
    fn nested_deep(&mut self, run: impl FnOnce(&mut Self) -> Flow + Send) -> Flow {
        if self.limits.stack().is_large {
            self.report("commands are nested too deep");
            return Err(Unwind::Abort(1));
        }
        self.limits.stack_mut().is_large = true;
        let result = thread::scope(|scope| {
            let builder = thread::Builder::new().stack_size(FRESH_BYTES);
            let session = &mut *self;
            let memory = session.memory.clone();
            let body = move || {
                let _counted = memory.enter();
                run(session)
            };
            match builder.spawn_scoped(scope, body) {
                Ok(handle) => handle.join().unwrap_or_else(|panic| resume_unwind(panic)),
                Err(_) => Err(Unwind::Abort(1)),
            }
        });
        self.limits.stack_mut().is_large = false;
        result
    }
}
