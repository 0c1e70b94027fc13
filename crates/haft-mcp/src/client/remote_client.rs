//! A client for one MCP server, which connects on demand and reconnects if the server has died.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, PoisonError};
use std::time::Duration;

use haft_config::Layer;
use haft_process::CancelToken;
use haft_tools::{CallContext, CallError, ErrorCode, NativeTool, ToolDescriptor, exact};
use rmcp::model::{CallToolRequestParams, JsonObject, Tool};
use serde_json::Value;
use tokio::runtime::{Builder, Runtime};
use tokio::sync::Mutex;
use tokio::task::JoinHandle;

use super::connection::{Connection, ConnectionTarget};
use super::notifications::NotificationHandler;
use super::process::StderrTail;
use super::tool_cache::{ToolCache, is_same};
use super::{RemoteServer, RemoteSetup, SharedRuntime, tool_result};

/// The timeout of calls to servers that set none.
const DEFAULT_CALL_TIMEOUT: Duration = Duration::from_secs(120);
/// Interval between checks for cancellation.
const CANCEL_POLL_INTERVAL: Duration = Duration::from_millis(20);

/// A client for one server, connected or not.
#[derive(Debug)]
pub(super) struct RemoteClient {
    server: RemoteServer,
    setup: RemoteSetup,
    runtime: Arc<SharedRuntime>,
    notifications: Arc<NotificationHandler>,
    /// The end of what the server process wrote to standard error.
    stderr_tail: StderrTail,
    cache: ToolCache,
    /// Whether the next list comes from the server, even if one is remembered.
    ignore_cache: Arc<AtomicBool>,
    /// Whether the last list was a remembered one.
    listed_from_cache: AtomicBool,
    /// Compares a remembered list with that of the server.
    verification: std::sync::Mutex<Option<JoinHandle<()>>>,
    /// Locked while the connection is opened.
    connection: Mutex<Option<Arc<Connection>>>,
}

impl RemoteClient {
    pub(super) fn new(server: RemoteServer, setup: RemoteSetup, runtime: Arc<SharedRuntime>) -> RemoteClient {
        RemoteClient {
            cache: ToolCache::new(&server, &setup),
            server,
            setup,
            runtime,
            notifications: Arc::default(),
            stderr_tail: StderrTail::default(),
            ignore_cache: Arc::default(),
            listed_from_cache: AtomicBool::default(),
            verification: std::sync::Mutex::default(),
            connection: Mutex::default(),
        }
    }

    pub(super) fn name(&self) -> &str {
        &self.server.name
    }

    pub(super) fn layer(&self) -> Layer {
        self.server.layer
    }

    pub(super) fn watch(&self, changed: Box<dyn Fn() + Send + Sync>) {
        let ignore_cache = self.ignore_cache.clone();
        self.notifications.watch(Box::new(move || {
            ignore_cache.store(true, Ordering::Relaxed);
            changed();
        }));
    }

    /// Describes a server that has not answered yet.
    pub(super) fn unanswered(&self) -> String {
        format!("{} has not answered yet{}", self.server, self.stderr_tail.last_lines())
    }

    /// Lets the next list come from the server.
    pub(super) fn forget_remembered(&self) {
        self.ignore_cache.store(true, Ordering::Relaxed);
    }

    /// The tools of the server.
    pub(super) fn tools(
        self: &Arc<RemoteClient>,
        cancel: &CancelToken,
    ) -> Result<Vec<Arc<dyn NativeTool>>, String> {
        let remembered = match self.ignore_cache.swap(false, Ordering::Relaxed) {
            true => None,
            false => self.cache.read(),
        };
        self.listed_from_cache.store(remembered.is_some(), Ordering::Relaxed);
        let listed = match remembered {
            Some(tools) => tools,
            None => {
                let listed = self.list(cancel)?;
                self.cache.write(&listed);
                listed
            }
        };
        let tool =
            |tool: Tool| -> Arc<dyn NativeTool> { Arc::new(RemoteTool { remote: self.clone(), tool }) };
        Ok(listed.into_iter().filter(|tool| self.allows(&tool.name)).map(tool).collect())
    }

    /// Asks the server for its tools.
    fn list(&self, cancel: &CancelToken) -> Result<Vec<Tool>, String> {
        let named = |why: String| format!("the MCP server '{}' {why}", self.server.name);
        self.runtime()?.block_on(async {
            tokio::select! {
                listed = async { self.connect().await?.tools().await.map_err(named) } => listed,
                () = cancelled(cancel) => Err(named("was cancelled before it listed its tools".to_owned())),
            }
        })
    }

    /// Compares the remembered list with that of the server, in the background. A call has opened the connection anyway.
    fn verify_remembered(&self, connection: &Arc<Connection>) {
        if !self.listed_from_cache.swap(false, Ordering::Relaxed) {
            return;
        }
        let (connection, notifications, cache) =
            (connection.clone(), self.notifications.clone(), self.cache.clone());
        let verification = tokio::spawn(async move {
            if let Ok(tools) = connection.tools().await
                && cache.read().is_none_or(|remembered| !is_same(&remembered, &tools))
            {
                cache.write(&tools);
                notifications.tools_changed();
            }
        });
        *self.verification.lock().unwrap_or_else(PoisonError::into_inner) = Some(verification);
    }

    fn allows(&self, tool: &str) -> bool {
        self.server.tools.as_ref().is_none_or(|tools| tools.iter().any(|allowed| allowed == tool))
    }

    /// Returns the open connection, or opens one.
    async fn connect(&self) -> Result<Arc<Connection>, String> {
        let mut connection = self.connection.lock().await;
        if let Some(open) = connection.as_ref().filter(|connection| connection.is_open()) {
            return Ok(open.clone());
        }
        *connection = None;
        let opened = Arc::new(
            Connection::open(ConnectionTarget {
                server: &self.server,
                setup: &self.setup,
                notifications: &self.notifications,
                stderr_tail: &self.stderr_tail,
            })
            .await?,
        );
        *connection = Some(opened.clone());
        Ok(opened)
    }

    fn runtime(&self) -> Result<&Runtime, String> {
        if let Some(runtime) = self.runtime.runtime.get() {
            return Ok(runtime);
        }
        let made = Builder::new_multi_thread().worker_threads(1).thread_name("mcp").enable_all().build();
        let made = made.map_err(|error| haft_process::reason(&error))?;
        Ok(self.runtime.runtime.get_or_init(|| made))
    }

    fn call(
        &self,
        tool: &str,
        arguments: &Value,
        surroundings: &CallContext<'_>,
    ) -> Result<Value, CallError> {
        let failed = |error: String| CallError::new(ErrorCode::SpawnFailed, error);
        let mut call = CallToolRequestParams::new(tool.to_owned());
        call.arguments = arguments.as_object().cloned();
        let answer = self.runtime().map_err(failed)?.block_on(async {
            let cancelled_or_expired = self.cancelled_or_expired(surroundings);
            tokio::pin!(cancelled_or_expired);
            let connection = tokio::select! {
                connection = self.connect() => connection.map_err(failed)?,
                fault = &mut cancelled_or_expired => return Err(fault),
            };
            self.verify_remembered(&connection);
            let answer = connection.call(call, surroundings.progress, cancelled_or_expired).await;
            answer.map_err(|failure| failure.into_call_error(&self.server.name))
        });
        answer.and_then(|result| tool_result::to_value(result, surroundings))
    }

    /// Waits until the call is cancelled or its deadline passes.
    async fn cancelled_or_expired(&self, surroundings: &CallContext<'_>) -> CallError {
        tokio::select! {
            () = cancelled(surroundings.cancel) => CallError::new(ErrorCode::Cancelled, "the call was cancelled"),
            () = tokio::time::sleep_until(surroundings.deadline.into()) => CallError::new(
                ErrorCode::ToolTimeout,
                format!("the MCP server '{}' did not answer in time", self.server.name),
            ),
        }
    }
}

impl Drop for RemoteClient {
    /// Closes the connection on the runtime, because this thread may belong to a runtime and must not block on a
    /// future.
    fn drop(&mut self) {
        let verification = self.verification.get_mut().unwrap_or_else(PoisonError::into_inner).take();
        if let Some(connection) = self.connection.get_mut().take() {
            self.runtime.close(connection, verification);
        }
    }
}

/// Waits until a token is cancelled.
async fn cancelled(token: &CancelToken) {
    while !token.is_cancelled() {
        tokio::time::sleep(CANCEL_POLL_INTERVAL).await;
    }
}

/// A schema for validation, which compares numbers.
fn schema(schema: &Arc<JsonObject>) -> Value {
    exact::rounded(&Value::Object((**schema).clone())).into_owned()
}

/// A tool of a remote server.
#[derive(Debug)]
struct RemoteTool {
    remote: Arc<RemoteClient>,
    tool: Tool,
}

impl NativeTool for RemoteTool {
    fn descriptor(&self) -> ToolDescriptor {
        let description = self.tool.description.as_deref().unwrap_or_default();
        ToolDescriptor {
            name: format!("{}.{}", self.remote.server.name, self.tool.name),
            description: description.to_owned(),
            parameters: schema(&self.tool.input_schema),
            returns: self.tool.output_schema.as_ref().map(schema),
            timeout: Some(self.remote.server.timeout.unwrap_or(DEFAULT_CALL_TIMEOUT).as_secs_f64()),
            output_limit: None,
            access: haft_tools::ToolAccess::Unknown,
            env: Vec::new(),
            title: self.tool.title.clone().or_else(|| self.tool.annotations.as_ref()?.title.clone()),
            annotations: self.tool.annotations.as_ref().and_then(|hints| serde_json::to_value(hints).ok()),
            version: None,
        }
    }

    fn is_confined(&self) -> bool {
        false
    }

    fn call(&self, arguments: &Value, surroundings: &CallContext<'_>) -> Result<Value, CallError> {
        self.remote.call(&self.tool.name, arguments, surroundings)
    }
}
