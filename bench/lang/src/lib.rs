//! The texts and the parsers that the benchmark compares.

mod acceptance;
mod bash;
mod parsers;
mod texts;

use std::time::Duration;

use rustix::time::{ClockId, clock_gettime};

pub use acceptance::{ACCEPTS_ARGUMENT, accepts};
pub use bash::Bash;
pub use parsers::{brush, brush_words, haft};
pub use texts::{AGENT, Corpus};

/// The processor time of this thread, which does not include other processes.
pub fn processor_time() -> Duration {
    let time = clock_gettime(ClockId::ThreadCPUTime);
    Duration::new(u64::try_from(time.tv_sec).unwrap_or(0), u32::try_from(time.tv_nsec).unwrap_or(0))
}
