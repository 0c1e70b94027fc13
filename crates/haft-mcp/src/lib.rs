//! MCP, as server and as client.

mod server;
mod sys;
mod transport;

pub use server::{JobLimits, Limits, OutputLimits, Prompt, Server, SessionLimits, Setup};
pub use transport::http::Http;
pub use transport::stdio::Stdio;
