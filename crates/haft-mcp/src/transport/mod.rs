//! How messages come and go.

pub(crate) mod end_of_input;
pub(crate) mod http;
pub(crate) mod shutdown;
pub(crate) mod stdio;
