//! JSON tools: any executable that speaks JSON becomes a tool.
//!
//! A tool is a file with an execute bit and a name that ends in `-tool`. Asked `--schema`, it says what it is called, what it
//! does and which arguments it takes; called, it reads those as one JSON object from its standard input and writes one
//! JSON value to its standard output. There is no manifest, no library, and nothing to restart.
//!
//! A [`Registry`] knows all tools of the installation, the user and the project, and those that run in this process
//! ([`NativeTool`]). It finds them beside whoever works with it; a call waits for its own tool only.
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
//! let places = Directories { user: Some(home.path().into()), ..Directories::default() };
//! let registry = Registry::open(Host::plain(), &places, TrustStore::open(None), RegistryOptions::default());
//! let envelope = registry.call("greet", serde_json::json!({"who": "you"}), &CallOptions::default());
//! assert_eq!(envelope.outcome.unwrap(), "hello you");
//!
//! let envelope = registry.call("greet", serde_json::json!({"who": 7}), &CallOptions::default());
//! assert_eq!(envelope.outcome.unwrap_err().error, "parameter 'who': given 7, wanted type string");
//! # Ok::<(), std::io::Error>(())
//! ```
//!
//! # What is promised
//!
//! - Arguments are checked before anything starts. A call ends by its deadline with all processes of the tool, and nothing
//!   that a tool leaves running outlives its answer. An [`Envelope`] says what happened under one of ten [`ErrorCode`]s, with
//!   everything that was written.
//! - What fails to be a tool is not silently absent: [`ToolSnapshot::rejected`] has it with the reason, [`ToolSnapshot::shadowed`] what
//!   others have taken the place of.
//! - A project's tools are not even asked for their schema before the user has trusted their content.
//! - A tool sees of the caller's environment what every program needs and what it names, not the keys.
//! - What an answer does not show whole is kept for a day under a name, for the tool `output` and for [`Registry::output`], in
//!   other processes of the same user too.
//!
//! # Limits
//!
//! A tool is one process a call; there is no conversation with it. TrustStore looks at the file of the tool, not at what that file
//! reads or sources.

mod access;
mod arguments;
mod batch;
mod call;
mod contract_check;
mod core;
mod discover;
mod envelope;
mod environment;
mod kept_outputs;
mod native;
mod provider;
mod registry;
mod run;
mod schema;
mod snapshot;
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
pub use tool::{Tool, ToolDescriptor, ToolFile, ToolSource, tool_name_of_file};
pub use toolset::{Toolset, ToolsetItem};
