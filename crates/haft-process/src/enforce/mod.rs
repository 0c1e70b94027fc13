//! Limits on all processes of a run together.
//!
//! If a control group can be created, the kernel enforces them at once. Otherwise the processes are [sampled](sampler) and
//! killed, with a resource limit on each process to catch growth between two samples.

mod disk_watch;
mod limiters;
mod memory_watch;
mod priority;
mod process_watch;
mod report;
mod sampler;
mod tracker;
mod usage_watch;

pub use disk_watch::DiskMeter;
pub(crate) use disk_watch::DiskWatch;
pub(crate) use limiters::Limiters;
pub(crate) use memory_watch::MemoryWatch;
use priority::RaisedPriority;
use process_watch::{ProcessEstimate, ProcessWatch};
pub use report::{EnforcedBy, LimitKind, LimitState, RunLimits};
pub(crate) use sampler::{SampleVerdict, Sampler};
pub(crate) use tracker::LimitTracker;
pub(crate) use usage_watch::{UsageWatch, attribute_usage};
