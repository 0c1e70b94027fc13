//! JSON tools: discovery, registry and calls.
//!
//! A tool is an executable file whose name ends in `-tool`. With `--schema` it prints its name, description
//! and parameters. Called without arguments, it reads one JSON object from standard input and writes one JSON
//! value to standard output. It needs no manifest, no library and no restart of haft.
//!
//! A [`Registry`] holds the tools of the installation, the user and the project, and native tools that run in
//! this process ([`NativeTool`]). It discovers tools in the background. A call waits only for its own tool.
//!
//! ```
//! use haft_config::{Directories, trust::TrustStore};
//! use haft_process::Host;
//! use haft_tools::{CallOptions, RegistryOptions, Registry};
//! use std::os::unix::fs::PermissionsExt;
//!
//! let home = tempfile::tempdir()?;
//! std::fs::create_dir(home.path().join("tools"))?;
//! let tool = home.path().join("tools/greet-tool");
//! std::fs::write(&tool, r#"#!/bin/sh
//! if [ "$1" = --schema ]; then
//!   echo '{"name": "greet", "description": "Greets", "parameters": {"properties": {"who": {"type": "string"}}}}'
//! else
//!   sed 's/.*"who":"\([^"]*\)".*/"hello \1"/'
//! fi
//! "#)?;
//! std::fs::set_permissions(&tool, PermissionsExt::from_mode(0o755))?;
//!
//! let directories = Directories { user: Some(home.path().into()), ..Directories::default() };
//! let registry = Registry::open(Host::plain(), &directories, TrustStore::open(None), RegistryOptions::default());
//! let envelope = registry.call("greet", serde_json::json!({"who": "you"}), &CallOptions::default());
//! assert_eq!(envelope.outcome.unwrap(), "hello you");
//!
//! let envelope = registry.call("greet", serde_json::json!({"who": 7}), &CallOptions::default());
//! assert_eq!(envelope.outcome.unwrap_err().message, "parameter 'who': expected string, got 7");
//! # Ok::<(), std::io::Error>(())
//! ```
//!
//! # Guarantees
//!
//! - Arguments are validated before anything starts. A call ends at its deadline together with all processes of the tool,
//!   and processes that a tool leaves behind are terminated. The [`Envelope`] reports the result or one of ten
//!   [`ErrorCode`]s, and all output.
//! - A file that is not a valid tool is reported with the reason in [`ToolSnapshot::rejected`]. Tools that another tool
//!   replaces are in [`ToolSnapshot::shadowed`].
//! - A project's tool does not run, not even with `--schema`, until the user has trusted its content.
//! - A tool sees only basic environment variables and those that it names, so secrets do not leak.
//! - Truncated outputs are kept for a day. The tool `output` and [`Registry::output`] return them, also in other processes
//!   of the same user.
//!
//! # Limits
//!
//! Each call is one process; a tool cannot hold a conversation. Trust covers the tool's own file, not the
//! files that it reads or sources.

mod access;
mod arguments;
mod batch;
mod call;
mod contract_check;
mod core;
mod discover;
mod envelope;
mod environment;
pub mod exact;
mod kept_outputs;
mod native;
mod provider;
mod registry;
mod run;
mod schema;
mod snapshot;
mod sync;
mod text;
mod tool;
mod toolset;

pub use access::{CallAccess, ToolAccess};
pub use arguments::ArgumentWord;
pub use batch::BatchCall;
pub use call::CallOptions;
pub use contract_check::{ToolFinding, ToolVerdict};
pub use core::{CoreOptions, core_tools};
pub use envelope::{CallError, Envelope, ErrorCode, TruncatedOutput};
pub use environment::is_basic_variable;
pub use native::{CallContext, CallProgress, NativeTool};
pub use provider::ToolProvider;
pub use registry::{Registry, RegistryOptions};
pub use schema::Schema;
pub use snapshot::{RejectedTool, ShadowedTool, ToolSnapshot};
pub use tool::{Tool, ToolDescriptor, ToolFile, ToolSource, model_name, tool_name_of_file};
pub use toolset::{Toolset, ToolsetItem};
