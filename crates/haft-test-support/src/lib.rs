//! Purpose-made children and helpers for the tests of haft.
//!
//! [`child`] is the path of one program that behaves as badly as a test needs it; its modes are the functions of
//! `src/bin/child`. [`Marker`] tells which processes of a test are left, [`eventually`] waits for something with a
//! deadline, [`own`] counts what this process holds, and [`Haft`] runs the `haft` program from end to end.

mod finished;
mod haft;
mod marker;
mod namespace;
pub mod own;
pub mod process;
mod report;
mod scratch;
mod sys;
mod wait;

pub use finished::Finished;
pub use haft::{Haft, Running};
pub use marker::Marker;
pub use report::Report;
pub use scratch::Scratch;
pub use sys::{
    close_descriptor, hold_signals, is_root, landlock_ruleset, open_terminal, raise_descriptor_limit, signal,
};
pub use wait::{eventually, measure};

/// The path of the child.
pub fn child() -> &'static str {
    env!("HAFT_TEST_CHILD")
}
