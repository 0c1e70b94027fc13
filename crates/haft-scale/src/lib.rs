//! Runs the items of a fan-out on other machines.
//!
//! A fan-out hands its items to an [`Executor`] and gets records back. It does not know where they run. haft uses the engines
//! that a machine has, through their own client programs; it is not a scheduler.
//!
//! [`SshExecutor`] starts one worker per host with the user's `ssh`. A worker is haft itself: it recreates the session from a
//! [`WorkerSetup`] and runs the stages with the same code as a local fan-out. Submitter and worker exchange
//! lines of JSON, so nothing but standard input and output connects them.
//!
//! [`RecordStore`] is the file of `--resume`.
//!
//! # Limits
//!
//! - All items of a host share one connection. If it breaks, the items that were running on the host run again, on any host.
//! - An item that was lost with its host three times is given up, because it may be what ends the host.

mod events;
mod executor;
mod hosts;
mod protocol;
mod record;
mod record_store;
mod ssh;
mod wire_bytes;

pub use executor::{Capacity, Executor};
pub use hosts::{HostSlots, parse_host_file, parse_hosts};
pub use protocol::{PROTOCOL, WorkerInfo, WorkerReply, WorkerRequest, WorkerSetup, encode};
pub use record::{ItemAttempt, ItemEnd, ItemRecord};
pub use record_store::RecordStore;
pub use ssh::{SshExecutor, SshSettings};
pub use wire_bytes::WireBytes;
