//! Model Context Protocol (MCP) server and client.
//!
//! The server gives an agent a shell that supervises what it runs. The client makes the tools of other MCP servers
//! available in haft.
//!
//! # The server
//!
//! A [`Server`] offers the tools `run`, `job` and `output`, on request `check` and `plan`, and the tools of a registry.
//! `run` executes bash scripts and waits for their end or for a condition. Sessions keep their state between calls,
//! long-running scripts continue as jobs, and outputs can be read again later. The application provides everything as a
//! [`ServerSetup`].
//!
//! ```no_run
//! use haft_kernel::{Kernel, Session};
//! use haft_mcp::{ResultDetail, Server, ServerLimits, ServerSetup, Stdio};
//! use haft_process::{CancelToken, Host};
//! use std::sync::Arc;
//!
//! // First: nothing else may write to standard output from here on.
//! let stdio = Stdio::take()?;
//! let kernel = Kernel::builder().build();
//! let server = Server::new(ServerSetup {
//!     host: Arc::new(Host::plain()),
//!     session: Box::new(move |_| Session::with_environment(kernel.clone(), [("PATH", "/usr/bin:/bin")], "/")),
//!     names: Box::new(haft_lang::BuiltinsOnly),
//!     overlays: None,
//!     tools: None,
//!     requested_tools: None,
//!     detail: ResultDetail::Text,
//!     prompts: Box::new(Vec::new),
//!     limits: ServerLimits::default(),
//!     task_after: std::time::Duration::from_secs(5),
//!     redactor: Arc::default(),
//!     withheld_variables: Vec::new(),
//!     log: Box::new(|event| eprintln!("{event}")),
//!     observer: None,
//!     keep: false,
//! });
//! server.serve_stdio(stdio, &CancelToken::new())?;
//! # Ok::<(), std::io::Error>(())
//! ```
//!
//! Call [`Stdio::take`] before anything else: afterwards nothing in the process can write between two messages. When serving
//! returns, every process that a client has started has ended.
//!
//! [`ServerEvent`] values describe what happens, one line each:
//!
//! ```
//! use haft_mcp::ServerEvent;
//!
//! let event = ServerEvent::Disconnected { client: "example 1.0" };
//! assert_eq!(event.to_string(), "client example 1.0 disconnected");
//! ```
//!
//! # The client
//!
//! [`remote_tools`] turns servers, given as programs or URLs, into [providers](haft_tools::ToolProvider) for a registry. A
//! server is started or contacted when one of its tools is first needed, started again if it has died, and ended when its
//! provider is dropped.
//!
//! ```
//! use std::collections::BTreeMap;
//!
//! use haft_config::Layer;
//! use haft_mcp::{RemoteServer, RemoteSetup, RemoteTransport, remote_tools};
//! use haft_process::{Environment, Host};
//!
//! let clock = RemoteServer {
//!     name: "clock".to_owned(),
//!     layer: Layer::User,
//!     transport: RemoteTransport::Command { command: vec!["mcp-server-time".to_owned()], env: BTreeMap::new() },
//!     tools: None,
//!     timeout: None,
//! };
//! let setup = RemoteSetup { host: Host::plain(), environment: Environment::new(), directory: "/".into(), cache: None };
//! let providers = remote_tools(vec![clock], &setup); // starts nothing yet
//! assert_eq!(providers[0].name(), "clock");
//! ```
//!
//! # Limits
//!
//! - Protocol revisions 2024-11-05 to 2026-07-28 are supported.
//! - HTTP is served on loopback addresses only.
//! - The client supports neither sampling nor elicitation, and no browser login (OAuth) for servers at a URL.
//! - A stateless HTTP client has no connection that could close. Its processes end when it expires.

mod client;
mod server;
mod sys;
mod transport;

pub use client::{NESTED_SERVER_VARIABLE, RemoteServer, RemoteSetup, RemoteTransport, remote_tools};
pub use server::{
    CallObserver, CallRecord, ClientAnswer, ClientName, ClientQuestions, Committer, JobLimits, ObservedCall,
    OutputLimits, OverlaySetup, Prompt, RegistryTools, ResultDetail, Server, ServerEvent, ServerLimits,
    ServerSetup, SessionFactory, SessionLimits, ToolProgram,
};
pub use transport::http::HttpOptions;
pub use transport::stdio::Stdio;
