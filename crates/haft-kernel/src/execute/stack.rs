//! Deep nesting without stack overflow.
//!
//! Nested execution is counted in units of about a kilobyte of stack. When the current stack is used up, execution goes on on
//! a thread with a large stack, for which this thread waits. When that is used up too, the nesting is too deep.

use std::panic::resume_unwind;
use std::sync::OnceLock;
use std::thread;

use rustix::process::{Resource, getrlimit};

use crate::flow::{Flow, Unwind};
use crate::session::Session;

/// The units that fit on the stack of any thread.
const MAX_THREAD_UNITS: u32 = 1_000;

/// Returns the units that fit on the stack of the main thread, which `ulimit -s` can make smaller than those of other threads.
#[inline]
fn thread_units() -> u32 {
    static UNITS: OnceLock<u32> = OnceLock::new();
    *UNITS.get_or_init(|| {
        /// The part of the stack that is used before commands nest, in KiB.
        const USED_KIB: u64 = 128;
        let stack = getrlimit(Resource::Stack).current.unwrap_or(u64::MAX) >> 10;
        u32::try_from(stack.saturating_sub(USED_KIB))
            .map_or(MAX_THREAD_UNITS, |units| units.min(MAX_THREAD_UNITS))
    })
}

/// The units that fit on the large stack.
const MAX_LARGE_STACK_UNITS: u32 = 100_000;
/// The size of the large stack. Memory is used only as far as it is touched.
const LARGE_STACK_BYTES: usize = 512 << 20;

/// The units of a subshell. They bound its memory rather than its stack: each has a copy of the calls it is in.
pub(super) const SUBSHELL_UNITS: u32 = 64;

impl Session {
    /// Runs something that nests and needs `units` units of stack.
    #[inline]
    pub(crate) fn nested(&mut self, units: u32, run: impl FnOnce(&mut Self) -> Flow + Send) -> Flow {
        let stack = self.limits.stack_mut();
        stack.depth += units;
        let fits = stack.depth < thread_units() || stack.is_large && stack.depth < MAX_LARGE_STACK_UNITS;
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
            let builder = thread::Builder::new().stack_size(LARGE_STACK_BYTES);
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
