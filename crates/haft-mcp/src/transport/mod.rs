//! How messages come and go.

pub(crate) mod http;
pub(crate) mod stdio;
pub(crate) mod watch;
