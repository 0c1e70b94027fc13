//! The commands, one file or directory each, and what they share.

pub(crate) mod changes;
pub(crate) mod check;
mod check_jq;
pub(crate) mod completions;
mod confinement;
pub(crate) mod doctor;
pub(crate) mod exec;
pub(crate) mod hook;
pub(crate) mod kill;
pub(crate) mod launch;
pub(crate) mod log;
pub(crate) mod man;
pub(crate) mod mcp;
pub(crate) mod options;
pub(crate) mod output;
pub(crate) mod plan;
pub(crate) mod policy;
pub(crate) mod print;
mod program;
pub(crate) mod ps;
pub(crate) mod run;
pub(crate) mod script;
pub(crate) mod spawn;
mod supervise;
pub(crate) mod tool;
pub(crate) mod trust;
pub(crate) mod watch;
