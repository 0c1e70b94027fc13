//! Limits on all processes of a run together: who enforces them, and whether they were reached.
//!
//! A control group is used where one can be made: the kernel then refuses or kills at once. Elsewhere the run's
//! processes are [sampled](sampler) and killed, with resource limits of each process as a backstop.

mod limiters;
mod report;
mod sampler;
mod tracker;

pub(crate) use limiters::Limiters;
pub use report::{EnforcedBy, LimitKind, LimitState, RunLimits};
pub(crate) use sampler::{Sampler, Verdict};
pub(crate) use tracker::LimitTracker;
