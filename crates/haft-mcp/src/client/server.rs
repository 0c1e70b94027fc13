//! A server of others: started when it is needed, again if it has died.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use haft_process::CancelToken;
use haft_tools::{Code, Descriptor, Fault, Native, Surroundings};
use rmcp::model::{CallToolRequestParams, CallToolResult, Tool};
use serde_json::Value;
use tokio::runtime::{Builder, Runtime};

use super::connection::Connection;
use super::{Home, RemoteServer, RemoteSetup, reply};

/// How long a call may take if nobody says.
const TIMEOUT: Duration = Duration::from_secs(120);
/// How soon a cancelled call is noticed.
const NOTICE: Duration = Duration::from_millis(20);

/// A server, running or not.
#[derive(Debug)]
pub(super) struct Remote {
    server: RemoteServer,
    setup: RemoteSetup,
    home: Arc<Home>,
    connection: Mutex<Option<Arc<Connection>>>,
}

impl Remote {
    pub(super) fn new(server: RemoteServer, setup: RemoteSetup, home: Arc<Home>) -> Remote {
        Remote { server, setup, home, connection: Mutex::default() }
    }

    pub(super) fn name(&self) -> &str {
        &self.server.name
    }

    /// Its tools, each under the name of the server.
    pub(super) fn tools(self: &Arc<Remote>) -> Result<Vec<Arc<dyn Native>>, String> {
        let connection = self.connect()?;
        let listed = self.runtime()?.block_on(connection.tools())?;
        let tool = |tool: Tool| -> Arc<dyn Native> { Arc::new(RemoteTool { remote: self.clone(), tool }) };
        Ok(listed.into_iter().filter(|tool| self.allows(&tool.name)).map(tool).collect())
    }

    fn allows(&self, tool: &str) -> bool {
        self.server.tools.as_ref().is_none_or(|tools| tools.iter().any(|allowed| allowed == tool))
    }

    /// The line to the server, which is started if it does not run.
    fn connect(&self) -> Result<Arc<Connection>, String> {
        let mut connection = self.connection.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(open) = connection.as_ref().filter(|connection| connection.is_open()) {
            return Ok(open.clone());
        }
        *connection = None;
        let opened = Arc::new(self.runtime()?.block_on(Connection::open(&self.server, &self.setup))?);
        *connection = Some(opened.clone());
        Ok(opened)
    }

    fn runtime(&self) -> Result<&Runtime, String> {
        if let Some(runtime) = self.home.0.get() {
            return Ok(runtime);
        }
        let made = Builder::new_multi_thread().worker_threads(1).thread_name("mcp").enable_all().build();
        let made = made.map_err(|error| haft_process::reason(&error))?;
        Ok(self.home.0.get_or_init(|| made))
    }

    fn call(&self, tool: &str, arguments: &Value, surroundings: &Surroundings<'_>) -> Result<Value, Fault> {
        let failed = |error: String| Fault::new(Code::SpawnFailed, error);
        let connection = self.connect().map_err(failed)?;
        let mut call = CallToolRequestParams::new(tool.to_owned());
        call.arguments = arguments.as_object().cloned();
        let answer = self.runtime().map_err(failed)?.block_on(async {
            tokio::select! {
                answer = connection.call(call) => answer.map_err(|error| self.broken(&connection, &error)),
                () = cancelled(surroundings.cancel) => Err(Fault::new(Code::Cancelled, "the call was cancelled")),
                () = tokio::time::sleep_until(surroundings.deadline.into()) => Err(self.late()),
            }
        });
        answer.and_then(|result: CallToolResult| reply::value(result))
    }

    fn broken(&self, connection: &Connection, error: &str) -> Fault {
        if connection.is_open() {
            return Fault::failed(format!("the MCP server '{}' has refused: {error}", self.server.name));
        }
        let hint = "it is started again with the next call";
        Fault::failed(format!("the MCP server '{}' has ended during the call; {hint}", self.server.name))
    }

    fn late(&self) -> Fault {
        Fault::new(Code::ToolTimeout, format!("the MCP server '{}' did not answer in time", self.server.name))
    }
}

/// Waits until a token is cancelled.
async fn cancelled(token: &CancelToken) {
    while !token.is_cancelled() {
        tokio::time::sleep(NOTICE).await;
    }
}

/// A tool of such a server.
#[derive(Debug)]
struct RemoteTool {
    remote: Arc<Remote>,
    tool: Tool,
}

impl Native for RemoteTool {
    fn descriptor(&self) -> Descriptor {
        let description = self.tool.description.as_deref().unwrap_or_default();
        Descriptor {
            name: format!("{}.{}", self.remote.server.name, self.tool.name),
            description: description.to_owned(),
            parameters: Value::Object((*self.tool.input_schema).clone()),
            returns: None,
            timeout: Some(self.remote.server.timeout.unwrap_or(TIMEOUT).as_secs_f64()),
            output_limit: None,
            access: haft_tools::Access::Unknown,
            env: Vec::new(),
            version: None,
        }
    }

    fn call(&self, arguments: &Value, surroundings: &Surroundings<'_>) -> Result<Value, Fault> {
        self.remote.call(&self.tool.name, arguments, surroundings)
    }
}
