//! How messages come and go.

pub(crate) mod http;
pub(crate) mod input_end;
pub(crate) mod stdio;
pub(crate) mod watch;
