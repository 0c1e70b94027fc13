//! A connection to an MCP server.

use std::sync::Arc;
use std::time::Duration;

use haft_tools::{CallError, CallProgress, ErrorCode};
use rmcp::model::{CallToolRequestParams, CallToolResult, ProtocolVersion, ServerResult, Tool};
use rmcp::service::{ClientInitializeError, ClientLifecycleMode, ClientServiceExt as _, ServiceError};
use rmcp::transport::streamable_http_client::StreamableHttpError;

use super::notifications::{ClientService, NotificationHandler, PendingCall, ProgressTransport};
use super::process::{ServerProcess, StderrTail};
use super::{RemoteServer, RemoteSetup, RemoteTransport, http};
use crate::transport::line_transport::LineTransport;

/// The time that a server without a `timeout` has to initialize, and to list its tools.
const DEFAULT_START_TIMEOUT: Duration = Duration::from_secs(30);
/// The time to send a cancellation or to close the session.
const CLOSE_TIMEOUT: Duration = Duration::from_secs(1);

/// An open connection, and the server process if we started it. Dropping this ends the process and its descendants.
#[derive(Debug)]
pub(super) struct Connection {
    service: ClientService,
    notifications: Arc<NotificationHandler>,
    process: Option<ServerProcess>,
    start_timeout: Duration,
}

/// Why a connection could not be opened.
struct ConnectError {
    /// The reason, phrased to follow the name of the server.
    reason: String,
    /// Whether the server answered, but does not support this handshake.
    answered: bool,
}

impl From<String> for ConnectError {
    fn from(reason: String) -> ConnectError {
        ConnectError { reason, answered: false }
    }
}

/// The server to connect to, and where its notifications and its standard error go.
#[derive(Clone, Copy)]
pub(super) struct ConnectionTarget<'a> {
    pub(super) server: &'a RemoteServer,
    pub(super) setup: &'a RemoteSetup,
    pub(super) notifications: &'a Arc<NotificationHandler>,
    pub(super) stderr_tail: &'a StderrTail,
}

impl Connection {
    /// Connects to the server. Tries the `initialize` handshake first, then the stateless revision, which has none.
    pub(super) async fn open(target: ConnectionTarget<'_>) -> Result<Connection, String> {
        let stateless = ClientLifecycleMode::Discover { preferred_versions: vec![ProtocolVersion::LATEST] };
        let opened = match Connection::reach(target, ClientLifecycleMode::Initialize).await {
            Err(failed) if failed.answered => Connection::reach(target, stateless).await.map_err(|_| failed),
            opened => opened,
        };
        opened.map_err(|failed| format!("{} {}", target.server, failed.reason))
    }

    async fn reach(
        target: ConnectionTarget<'_>,
        lifecycle: ClientLifecycleMode,
    ) -> Result<Connection, ConnectError> {
        let ConnectionTarget { server, setup, notifications, stderr_tail } = target;
        let own = notifications.clone();
        let start_timeout = server.timeout.unwrap_or(DEFAULT_START_TIMEOUT);
        let (service, process) = match &server.transport {
            RemoteTransport::Url { url, headers } => {
                let transport = http::transport(url, headers, &setup.environment)?;
                let transport = ProgressTransport { transport, notifications: notifications.clone() };
                (initialize_within(start_timeout, own.serve_with_lifecycle(transport, lifecycle)).await, None)
            }
            RemoteTransport::Command { command, env } => {
                let (process, (reader, writer)) =
                    ServerProcess::start(&server.name, command, env, setup, stderr_tail)?;
                let transport =
                    LineTransport::client(Box::pin(reader), Box::pin(writer), http::MAX_RESPONSE_BYTES);
                let transport = ProgressTransport { transport, notifications: notifications.clone() };
                (
                    initialize_within(start_timeout, own.serve_with_lifecycle(transport, lifecycle)).await,
                    Some(process),
                )
            }
        };
        match (service, process) {
            (Ok(service), process) => {
                Ok(Connection { service, notifications: notifications.clone(), process, start_timeout })
            }
            (Err(failed), Some(process)) if !failed.answered => Err(add_exit_reason(failed, process).await),
            (Err(failed), _) => Err(failed),
        }
    }

    /// Whether the server can still be reached, as far as we know.
    pub(super) fn is_open(&self) -> bool {
        !self.service.is_closed()
            && !self.service.is_transport_closed()
            && !self.process.as_ref().is_some_and(ServerProcess::is_finished)
    }

    /// Lists all tools of the server.
    pub(super) async fn tools(&self) -> Result<Vec<Tool>, String> {
        let listed = tokio::time::timeout(self.start_timeout, self.service.list_all_tools()).await;
        let said = || self.process.as_ref().map(ServerProcess::last_stderr_lines).unwrap_or_default();
        listed
            .map_err(|_| format!("did not list its tools within {:?}{}", self.start_timeout, said()))?
            .map_err(|error| format!("{}{}", describe_service_error(&error), said()))
    }

    /// Calls a tool. If `cancelled` resolves first, notifies the server of the cancellation and returns that error.
    pub(super) async fn call(
        &self,
        call: CallToolRequestParams,
        progress: &(dyn Fn(&CallProgress) + Sync),
        cancelled: impl Future<Output = CallError>,
    ) -> Result<CallToolResult, CallFailure> {
        let sent = self.notifications.send(&self.service, call).await;
        let PendingCall { mut handle, mut progress_steps } =
            sent.map_err(|error| CallFailure::ServerFailed(describe_service_error(&error)))?;
        tokio::pin!(cancelled);
        let answer = loop {
            tokio::select! {
                biased;
                Some(step) = progress_steps.recv() => progress(&step),
                answer = &mut handle.rx => break Ok(answer),
                fault = &mut cancelled => break Err(fault),
            }
        };
        self.notifications.forget(&handle.progress_token);
        match answer {
            Ok(Ok(Ok(ServerResult::CallToolResult(result)))) => Ok(result),
            Ok(Ok(Ok(_))) => Err(CallFailure::ServerFailed(
                "requested user input or sampling, which haft does not support".to_owned(),
            )),
            Ok(Ok(Err(error))) => Err(CallFailure::ServerFailed(describe_service_error(&error))),
            Ok(Err(_)) => {
                Err(CallFailure::ServerFailed(describe_service_error(&ServiceError::TransportClosed)))
            }
            Err(fault) => {
                let reason = fault.message.clone();
                let _ = tokio::time::timeout(CLOSE_TIMEOUT, handle.cancel(Some(reason))).await;
                Err(CallFailure::Cancelled(fault))
            }
        }
    }

    /// Ends the server process, or closes the session of an HTTP server, which would not notice the end of this process.
    pub(super) async fn close(mut self) {
        if self.process.is_none() {
            let _ = self.service.close_with_timeout(CLOSE_TIMEOUT).await;
        }
        // Waits until the process has ended.
        let _ = tokio::task::spawn_blocking(move || drop(self)).await;
    }
}

/// Why a call has no result.
pub(super) enum CallFailure {
    /// The call was cancelled or its deadline passed.
    Cancelled(CallError),
    /// The server returned an error or is gone. The text follows the name of the server.
    ServerFailed(String),
}

impl CallFailure {
    /// Converts this to the error of a tool call.
    pub(super) fn into_call_error(self, server: &str) -> CallError {
        match self {
            CallFailure::Cancelled(fault) => fault,
            CallFailure::ServerFailed(reason) => {
                CallError::new(ErrorCode::ToolCrashed, format!("the MCP server '{server}' {reason}"))
            }
        }
    }
}

/// Waits for the handshake, with a timeout.
async fn initialize_within(
    limit: Duration,
    service: impl Future<Output = Result<ClientService, ClientInitializeError>>,
) -> Result<ClientService, ConnectError> {
    match tokio::time::timeout(limit, service).await {
        Ok(result) => result.map_err(|error| connect_error(&error)),
        Err(_) => Err(format!("did not answer within {limit:?}").into()),
    }
}

/// Adds what a server process wrote to standard error, in case it has exited.
async fn add_exit_reason(failed: ConnectError, mut process: ServerProcess) -> ConnectError {
    process.wait_for_exit().await;
    let said = process.last_stderr_lines();
    match process.is_finished() {
        true if said.is_empty() => "exited without a message".to_owned().into(),
        true => format!("exited{said}").into(),
        false => ConnectError { reason: format!("{}{said}", failed.reason), ..failed },
    }
}

/// Describes why the handshake failed.
fn connect_error(error: &ClientInitializeError) -> ConnectError {
    let answered = matches!(
        error,
        ClientInitializeError::JsonRpcError(_)
            | ClientInitializeError::UncorrelatedErrorResponse { .. }
            | ClientInitializeError::ExpectedInitResponse(_)
    );
    let reason = match error {
        ClientInitializeError::TransportError { error, .. } => describe_transport_error(error.error.as_ref()),
        error => format!("sent an invalid response: {error}"),
    };
    ConnectError { reason, answered }
}

/// Describes why a request failed. The text follows the name of the server.
fn describe_service_error(error: &ServiceError) -> String {
    match error {
        ServiceError::McpError(error) => format!("returned an error: {}", error.message),
        ServiceError::TransportSend(error) => describe_transport_error(error.error.as_ref()),
        ServiceError::TransportClosed => "exited during the call; the next call starts it again".to_owned(),
        error => format!("sent an invalid response: {error}"),
    }
}

fn describe_transport_error(error: &(dyn std::error::Error + 'static)) -> String {
    match error.downcast_ref::<StreamableHttpError<http::HttpError>>() {
        Some(StreamableHttpError::Client(fault)) => fault.to_string(),
        _ => format!("cannot be reached: {error}"),
    }
}
