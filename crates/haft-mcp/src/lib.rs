//! MCP, as server and as client: haft's hands for any agent, and any server's tools in haft.
//!
//! # The server
//!
//! A [`Server`] serves the kernel over the Model Context Protocol: scripts that are run and waited for, sessions that last, jobs
//! that are read and written to, outputs that stay addressable, scripts checked and planned, and all tools of a registry. The
//! application hands in what it works with, as a [`ServerSetup`].
//!
//! ```no_run
//! use haft_kernel::{Kernel, Session};
//! use haft_mcp::{ServerLimits, Server, ServerSetup, Stdio};
//! use haft_process::{CancelToken, Host};
//! use std::sync::Arc;
//!
//! let stdio = Stdio::take()?;
//! let kernel = Kernel::builder().build();
//! let server = Server::new(ServerSetup {
//!     host: Arc::new(Host::plain()),
//!     session: Box::new(move || Session::with_environment(kernel.clone(), [("PATH", "/usr/bin:/bin")], "/")),
//!     names: Box::new(haft_lang::BuiltinsOnly),
//!     tools: None,
//!     prompts: Vec::new(),
//!     limits: ServerLimits::default(),
//!     redactor: Arc::default(),
//!     withheld_variables: Vec::new(),
//!     log: Box::new(|event| eprintln!("{event}")),
//!     keep: false,
//! });
//! server.serve_stdio(stdio, &CancelToken::new())?;
//! # Ok::<(), std::io::Error>(())
//! ```
//!
//! [`Stdio::take`] comes first: from then on nothing in the process can write a byte between two messages. Everything a client
//! has started is gone when serving returns.
//!
//! # The client
//!
//! [`remote_tools`] makes servers of others, programs or URLs, into [providers](haft_tools::ToolProvider) of a registry: started or
//! reached when one of their tools is first asked for, again if they have died, left with the registry.
//!
//! # ServerLimits
//!
//! The revisions 2024-11-05 to 2026-07-28 are spoken. HTTP is served on loopback addresses only. Servers of others that ask their
//! client for something, for a sampling or an answer of the user, are refused it; so are those at a URL that want their user to
//! log in with a browser.
//! A client over HTTP that keeps no session has no connection to lose: what it has started ends with age.

mod client;
mod server;
mod sys;
mod transport;

pub use client::{NESTED_SERVER_VARIABLE, RemoteServer, RemoteSetup, RemoteTransport, remote_tools};
pub use server::{
    JobLimits, OutputLimits, Prompt, RegistryTools, Server, ServerEvent, ServerLimits, ServerSetup,
    SessionLimits,
};
pub use transport::http::HttpOptions;
pub use transport::stdio::Stdio;
