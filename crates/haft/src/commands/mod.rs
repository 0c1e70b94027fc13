//! One file a command.

pub(crate) mod exec;
pub(crate) mod spawn;
mod start;
pub(crate) mod watch;
