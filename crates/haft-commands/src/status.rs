//! Exit statuses of the commands, as bash and GNU define them.

/// Wrong usage of one of haft's own commands.
pub(crate) const USAGE_ERROR: i32 = 2;
/// An item of a fan-out, or an invocation of `xargs`, failed.
pub(crate) const ITEM_FAILED: i32 = 123;
/// `xargs`: an invocation exited with status 255.
pub(crate) const XARGS_ABORTED: i32 = 124;
/// `xargs`: a signal killed an invocation.
pub(crate) const XARGS_KILLED: i32 = 125;
/// `env` or `timeout` itself failed.
pub(crate) const WRAPPER_FAILED: i32 = 125;
/// The command was found but cannot be run.
pub(crate) const CANNOT_EXECUTE: i32 = 126;
/// The command was not found.
pub(crate) const NOT_FOUND: i32 = 127;
/// Added to the number of the signal that killed a process.
pub(crate) const SIGNAL_BASE: i32 = 128;
