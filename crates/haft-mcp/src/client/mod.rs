//! MCP client: makes the tools of other MCP servers available in a registry.

mod connection;
mod http;
mod notifications;
mod process;
mod remote_client;
mod tool_cache;
mod tool_result;

use std::collections::BTreeMap;
use std::fmt;
use std::path::PathBuf;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};
use std::time::Duration;

use haft_config::Layer;
use haft_process::{CancelToken, Environment, Host};
use haft_tools::ToolProvider;
use tokio::runtime::Runtime;
use tokio::task::JoinHandle;

use self::connection::Connection;
pub use self::process::NESTED_SERVER_VARIABLE;
use self::remote_client::RemoteClient;

/// The time to close all connections.
const CLOSE_TIMEOUT: Duration = Duration::from_secs(3);

/// An MCP server from the configuration.
#[derive(Clone, Debug)]
pub struct RemoteServer {
    /// Its name, which prefixes its tools: `name.tool`.
    pub name: String,
    /// The configuration layer that defines it.
    pub layer: Layer,
    /// How to connect to it.
    pub transport: RemoteTransport,
    /// The tools to offer; `None` offers all.
    pub tools: Option<Vec<String>>,
    /// The timeout of a call; `None` means 120 seconds.
    pub timeout: Option<Duration>,
}

impl fmt::Display for RemoteServer {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "the MCP server '{}' ({})", self.name, self.transport)
    }
}

/// How to connect to a server.
#[derive(Clone, Debug)]
pub enum RemoteTransport {
    /// A program to start, which speaks MCP on its standard input and output.
    Command {
        /// The program and its arguments.
        command: Vec<String>,
        /// Environment variables in addition to the basic ones.
        env: BTreeMap<String, String>,
    },
    /// A running server that speaks streamable HTTP.
    Url {
        /// The URL of the MCP endpoint.
        url: String,
        /// Headers of every request. `${NAME}` is replaced by an environment variable.
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

/// The environment in which servers are started.
#[derive(Clone, Debug)]
pub struct RemoteSetup {
    /// The host that starts processes.
    pub host: Host,
    /// The environment of this process. Servers inherit only the basic variables.
    pub environment: Environment,
    /// The working directory of servers.
    pub directory: PathBuf,
    /// The directory in which the tools of servers are remembered for later processes.
    pub cache: Option<PathBuf>,
}

/// Returns one tool provider per server. A server starts when one of its tools is first needed, and ends when its
/// provider is dropped.
#[must_use]
pub fn remote_tools(servers: Vec<RemoteServer>, setup: &RemoteSetup) -> Vec<Arc<dyn ToolProvider>> {
    let runtime = Arc::new(SharedRuntime::default());
    let provider = |server| -> Arc<dyn ToolProvider> {
        Arc::new(RemoteProvider(Arc::new(RemoteClient::new(server, setup.clone(), runtime.clone()))))
    };
    servers.into_iter().map(provider).collect()
}

/// The runtime of all connections, created on first use. It may be dropped on any thread, including those of a
/// runtime. Dropping it waits until all connections are closed.
#[derive(Debug)]
struct SharedRuntime {
    runtime: OnceLock<Runtime>,
    /// Each connection that is being closed holds a sender.
    closing: Mutex<(Sender<()>, Receiver<()>)>,
}

impl Default for SharedRuntime {
    fn default() -> SharedRuntime {
        SharedRuntime { runtime: OnceLock::new(), closing: Mutex::new(channel()) }
    }
}

impl SharedRuntime {
    /// Closes a connection in the background, so that several close at the same time. `user` is a task that uses it.
    fn close(&self, connection: Arc<Connection>, user: Option<JoinHandle<()>>) {
        let Some(runtime) = self.runtime.get() else { return };
        let done = self.closing.lock().unwrap_or_else(PoisonError::into_inner).0.clone();
        runtime.spawn(async move {
            if let Some(user) = user {
                user.abort();
                let _ = user.await;
            }
            if let Some(connection) = Arc::into_inner(connection) {
                connection.close().await;
            }
            drop(done);
        });
    }
}

impl Drop for SharedRuntime {
    fn drop(&mut self) {
        let Some(runtime) = self.runtime.take() else { return };
        let (own, done) = std::mem::replace(
            &mut *self.closing.get_mut().unwrap_or_else(PoisonError::into_inner),
            channel(),
        );
        drop(own);
        let _ = done.recv_timeout(CLOSE_TIMEOUT);
        runtime.shutdown_background();
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

    fn unanswered(&self) -> String {
        self.0.unanswered()
    }

    fn forget_remembered(&self) {
        self.0.forget_remembered();
    }

    fn on_change(&self, changed: Box<dyn Fn() + Send + Sync>) {
        self.0.watch(changed);
    }
}
