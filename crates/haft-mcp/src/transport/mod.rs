//! Transports of the server: standard input and output, and HTTP.

pub(crate) mod end_of_input;
mod exact_body;
pub(crate) mod http;
pub(crate) mod line_transport;
pub(crate) mod shutdown;
pub(crate) mod stdio;
