//! Processes for agents.

pub mod capture;
mod cgroup;
mod child;
mod command;
mod environment;
mod error;
mod limit;
mod lookup;
mod proc;
mod reaper;
pub mod rundir;
mod scope;
mod signal;
mod size;
mod status;
mod sys;
mod tree;

pub use child::Child;
pub use command::{Command, Descriptor, Group, Sandbox};
pub use environment::Environment;
pub use error::{Error, ErrorKind};
pub use limit::{Limit, Resource};
pub use lookup::find_program;
pub use reaper::{become_subreaper, reap_orphans};
pub use scope::{MARKER, Scope, Sweep};
pub use signal::{Signals, signal_name, signal_number};
pub use size::longest_argument;
pub use status::{Exit, Usage};
