//! Commands that destroy data, run untrusted code, or stop the machine.
//!
//! These rules use the plan of a script instead of its tree: the plan follows `sudo`, `xargs`, `find -exec`,
//! `sh -c` and `eval`, and knows the files that a command uses.

mod device;
mod download;
mod fork;
mod loss;
mod machine;
mod path;
mod permission;
mod removal;
mod step_tree;

pub(super) use device::OVERWRITES_DEVICE;
pub(super) use download::RUNS_DOWNLOAD;
pub(super) use fork::FORK_BOMB;
pub(super) use loss::{CLEARS_HISTORY, DROPS_DATABASE, GIT_LOSES_WORK};
pub(super) use machine::{CLEARS_SETTINGS, KILLS_EVERYTHING, STOPS_MACHINE};
pub(super) use permission::SYSTEM_PERMISSIONS;
pub(super) use removal::{OVERWRITES_SYSTEM_FILE, REMOVES_SYSTEM};
