//! Servers of others, whose tools become ours.

mod connection;
mod http;
mod notifications;
mod process;
mod remote_client;
mod tool_result;

use std::collections::BTreeMap;
use std::fmt;
use std::path::PathBuf;
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use haft_config::Layer;
use haft_process::{CancelToken, Environment, Host};
use haft_tools::ToolProvider;
use tokio::runtime::Runtime;

pub use self::process::NESTED_SERVER_VARIABLE;
use self::remote_client::RemoteClient;

/// A server as a configuration describes it.
#[derive(Clone, Debug)]
pub struct RemoteServer {
    /// The name that its tools are called under: `name.tool`.
    pub name: String,
    /// Who has named it.
    pub layer: Layer,
    /// How it is reached.
    pub transport: RemoteTransport,
    /// The tools that may be used; all, if it says nothing.
    pub tools: Option<Vec<String>>,
    /// How long a call may take.
    pub timeout: Option<Duration>,
}

/// How a server is reached.
#[derive(Clone, Debug)]
pub enum RemoteTransport {
    /// It is a program that is started, and spoken to by its standard input and output.
    Command {
        /// The program and its arguments.
        command: Vec<String>,
        /// Variables that it gets besides those that every program needs.
        env: BTreeMap<String, String>,
    },
    /// It runs somewhere, and is spoken to over HTTP.
    Url {
        /// Where.
        url: String,
        /// What is sent with every request. `${NAME}` stands for a variable of the environment.
        headers: BTreeMap<String, String>,
    },
}

impl fmt::Display for RemoteTransport {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            RemoteTransport::Command { command, .. } => write!(formatter, "`{}`", command.join(" ")),
            RemoteTransport::Url { url, .. } => formatter.write_str(url),
        }
    }
}

/// What servers are started with.
#[derive(Clone, Debug)]
pub struct RemoteSetup {
    /// Where processes are started.
    pub host: Host,
    /// What this process was started with; servers see of it what every program needs.
    pub environment: Environment,
    /// Where they are started.
    pub directory: PathBuf,
}

/// The servers as sources of tools. None is started before one of its tools is asked for; all end with the last handle.
#[must_use]
pub fn remote_tools(servers: Vec<RemoteServer>, setup: &RemoteSetup) -> Vec<Arc<dyn ToolProvider>> {
    let runtime = Arc::new(SharedRuntime::default());
    let provider = |server| -> Arc<dyn ToolProvider> {
        Arc::new(RemoteProvider(Arc::new(RemoteClient::new(server, setup.clone(), runtime.clone()))))
    };
    servers.into_iter().map(provider).collect()
}

/// Where connections live, made for the first of them. It may be let go of on any thread, those of a runtime too.
#[derive(Debug, Default)]
struct SharedRuntime(OnceLock<Runtime>);

impl Drop for SharedRuntime {
    fn drop(&mut self) {
        if let Some(runtime) = self.0.take() {
            runtime.shutdown_background();
        }
    }
}

#[derive(Debug)]
struct RemoteProvider(Arc<RemoteClient>);

impl ToolProvider for RemoteProvider {
    fn name(&self) -> &str {
        self.0.name()
    }

    fn layer(&self) -> Layer {
        self.0.layer()
    }

    fn tools(&self, cancel: &CancelToken) -> Result<Vec<Arc<dyn haft_tools::NativeTool>>, String> {
        self.0.tools(cancel)
    }

    fn on_change(&self, changed: Box<dyn Fn() + Send + Sync>) {
        self.0.watch(changed);
    }
}
