//! One file a command.

pub(crate) mod check;
mod check_jq;
pub(crate) mod exec;
pub(crate) mod output;
pub(crate) mod plan;
mod script;
pub(crate) mod spawn;
mod start;
pub(crate) mod trust;
pub(crate) mod watch;
