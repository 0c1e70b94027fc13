//! Helpers for the tests of haft.
//!
//! [`child`] is the path of a program that misbehaves in the ways that tests need. Its modes are the functions of
//! `src/bin/child`. [`Marker`] finds the processes of a test that are left, [`eventually`] waits for a condition with a
//! deadline, [`own`] counts the resources of the test process and runs tests in their own process, and [`Haft`] runs the
//! `haft` program.
//!
//! ```
//! use std::time::Duration;
//! use haft_test_support::{Scratch, eventually};
//!
//! let scratch = Scratch::new();
//! scratch.touch("ready");
//! assert!(eventually(Duration::from_secs(1), || scratch.file("ready").exists()));
//! ```

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

pub use finished::FinishedHaft;
pub use haft::{Haft, RunningHaft, separate_directories};
pub use marker::Marker;
pub use report::ChildReport;
pub use scratch::Scratch;
pub use sys::{
    close_descriptor, hold_signals, is_root, landlock_ruleset, open_terminal, raise_descriptor_limit, signal,
};
pub use wait::{eventually, measure};

/// Returns the path of the child program.
pub fn child() -> &'static str {
    env!("HAFT_TEST_CHILD")
}
