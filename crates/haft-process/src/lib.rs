//! Processes for agents.

mod cancel;
pub mod capture;
mod cgroup;
mod child;
mod command;
mod environment;
mod error;
mod host;
mod job;
mod ladder;
mod limit;
mod lookup;
mod needs_input;
mod outcome;
mod proc;
mod pty;
mod reaper;
pub mod rundir;
mod scope;
mod signal;
mod size;
mod status;
mod sys;
mod tree;
mod watcher;

pub use cancel::CancelToken;
pub use child::Child;
pub use command::{Command, Descriptor, Group, Sandbox};
pub use environment::Environment;
pub use error::{Error, ErrorKind};
pub use host::{Host, HostBuilder, ScopeLimits, clean_stale};
pub use job::{Controller, DEFAULT_GRACE, Handle, Input, Job, Live, StreamKind, Streams, Task};
pub use limit::{Limit, Resource};
pub use lookup::find_program;
pub use outcome::{
    CANCELLED, Captured, JobReport, Outcome, Report, StageReport, StatusReport, TIMED_OUT, Tree,
};
pub use pty::TerminalSize;
pub use reaper::{become_subreaper, reap_orphans};
pub use scope::{MARKER, Scope};
pub use signal::{Signals, ignore_signal, on_signals, signal_name, signal_number};
pub use size::longest_argument;
pub use status::{Exit, Usage};
pub use watcher::watch;
