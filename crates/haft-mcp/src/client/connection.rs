//! The line to a server.

use std::sync::Arc;
use std::time::Duration;

use haft_tools::{CallError, CallProgress, ErrorCode};
use rmcp::model::{CallToolRequestParams, CallToolResult, ProtocolVersion, ServerResult, Tool};
use rmcp::service::{ClientInitializeError, ClientLifecycleMode, ClientServiceExt as _, ServiceError};
use rmcp::transport::IntoTransport as _;
use rmcp::transport::streamable_http_client::StreamableHttpError;

use super::listener::{Listener, Sent, Service, Tapped};
use super::process::Process;
use super::{Reach, RemoteServer, RemoteSetup, http};

/// A server that has not introduced itself in this time is not going to.
const INTRODUCTION: Duration = Duration::from_secs(30);
/// A server is told so long that nobody wants an answer any more.
const FAREWELL: Duration = Duration::from_secs(1);

/// The line, and the process at its other end if we have started one, with all its descendants. Both end with this.
#[derive(Debug)]
pub(super) struct Connection {
    service: Service,
    listener: Arc<Listener>,
    process: Option<Process>,
}

/// Why there is no line.
struct Failed {
    /// In words that go on after the server's name.
    why: String,
    /// Whether the server has answered, and not as we have asked it.
    refused: bool,
}

impl From<String> for Failed {
    fn from(why: String) -> Failed {
        Failed { why, refused: false }
    }
}

impl Connection {
    /// Reaches the server and lets it introduce itself: as servers of old do, or without a word if it knows no such thing.
    pub(super) async fn open(
        server: &RemoteServer,
        setup: &RemoteSetup,
        listener: &Arc<Listener>,
    ) -> Result<Connection, String> {
        let stateless = ClientLifecycleMode::Discover { preferred_versions: vec![ProtocolVersion::LATEST] };
        let opened = match Connection::reach(server, setup, listener, ClientLifecycleMode::Initialize).await {
            Err(failed) if failed.refused => {
                Connection::reach(server, setup, listener, stateless).await.map_err(|_| failed)
            }
            opened => opened,
        };
        opened.map_err(|failed| format!("the MCP server '{}' ({}) {}", server.name, server.reach, failed.why))
    }

    async fn reach(
        server: &RemoteServer,
        setup: &RemoteSetup,
        listener: &Arc<Listener>,
        lifecycle: ClientLifecycleMode,
    ) -> Result<Connection, Failed> {
        let own = listener.clone();
        let (service, process) = match &server.reach {
            Reach::Url { url, headers } => {
                let line = http::line(url, headers, &setup.environment)?;
                let line = Tapped { line, listener: listener.clone() };
                (introduced(own.serve_with_lifecycle(line, lifecycle)).await, None)
            }
            Reach::Command { command, env } => {
                let (process, line) = Process::start(&server.name, command, env, setup)?;
                let line = Tapped { line: line.into_transport(), listener: listener.clone() };
                (introduced(own.serve_with_lifecycle(line, lifecycle)).await, Some(process))
            }
        };
        match (service, process) {
            (Ok(service), process) => Ok(Connection { service, listener: listener.clone(), process }),
            (Err(failed), Some(process)) if !failed.refused => Err(explain(failed, process).await),
            (Err(failed), _) => Err(failed),
        }
    }

    /// Whether there is still somebody at the other end, as far as we know.
    pub(super) fn is_open(&self) -> bool {
        !self.service.is_closed()
            && !self.service.is_transport_closed()
            && !self.process.as_ref().is_some_and(Process::is_finished)
    }

    /// All its tools.
    pub(super) async fn tools(&self) -> Result<Vec<Tool>, String> {
        let listed = tokio::time::timeout(INTRODUCTION, self.service.list_all_tools()).await;
        listed.map_err(|_| "did not list its tools in time".to_owned())?.map_err(|error| words(&error))
    }

    /// Calls one of them, unless `given_up` says why nobody wants the answer any more: then the server hears of it.
    pub(super) async fn call(
        &self,
        call: CallToolRequestParams,
        progress: &dyn Fn(&CallProgress),
        given_up: impl Future<Output = CallError>,
    ) -> Result<CallToolResult, Interrupted> {
        let sent = self.listener.send(&self.service, call).await;
        let Sent { mut handle, mut told } = sent.map_err(|error| Interrupted::Broken(words(&error)))?;
        tokio::pin!(given_up);
        let answer = loop {
            tokio::select! {
                biased;
                Some(step) = told.recv() => progress(&step),
                answer = &mut handle.rx => break Ok(answer),
                fault = &mut given_up => break Err(fault),
            }
        };
        self.listener.forget(&handle.progress_token);
        match answer {
            Ok(Ok(Ok(ServerResult::CallToolResult(result)))) => Ok(result),
            Ok(Ok(Ok(_))) => Err(Interrupted::Broken("asks for something that haft cannot give".to_owned())),
            Ok(Ok(Err(error))) => Err(Interrupted::Broken(words(&error))),
            Ok(Err(_)) => Err(Interrupted::Broken(words(&ServiceError::TransportClosed))),
            Err(fault) => {
                let reason = fault.message.clone();
                let _ = tokio::time::timeout(FAREWELL, handle.cancel(Some(reason))).await;
                Err(Interrupted::GivenUp(fault))
            }
        }
    }

    /// Says goodbye, where the server would not notice otherwise that we are gone.
    pub(super) async fn close(mut self) {
        if self.process.is_none() {
            let _ = self.service.close_with_timeout(FAREWELL).await;
        }
    }
}

/// Why a call has no result.
pub(super) enum Interrupted {
    /// Nobody wants it any more.
    GivenUp(CallError),
    /// The server has refused, or has gone: in words that go on after its name.
    Broken(String),
}

impl Interrupted {
    /// The same as a failure of the tool.
    pub(super) fn fault(self, server: &str) -> CallError {
        match self {
            Interrupted::GivenUp(fault) => fault,
            Interrupted::Broken(why) => {
                CallError::new(ErrorCode::ToolCrashed, format!("the MCP server '{server}' {why}"))
            }
        }
    }
}

/// Waits for an introduction, for a while.
async fn introduced(
    service: impl Future<Output = Result<Service, ClientInitializeError>>,
) -> Result<Service, Failed> {
    match tokio::time::timeout(INTRODUCTION, service).await {
        Ok(result) => result.map_err(|error| understand(&error)),
        Err(_) => Err(format!("did not answer within {} s", INTRODUCTION.as_secs()).into()),
    }
}

/// A process that does not answer may have ended, and may have said why.
async fn explain(failed: Failed, mut process: Process) -> Failed {
    process.settle().await;
    let said = process.last_words().map_or(String::new(), |line| format!(": {line}"));
    match process.is_finished() {
        true if said.is_empty() => "has ended without a word".to_owned().into(),
        true => format!("has ended{said}").into(),
        false => Failed { why: format!("{}{said}", failed.why), ..failed },
    }
}

/// Why the introduction has failed.
fn understand(error: &ClientInitializeError) -> Failed {
    let refused = matches!(
        error,
        ClientInitializeError::JsonRpcError(_)
            | ClientInitializeError::UncorrelatedErrorResponse { .. }
            | ClientInitializeError::ExpectedInitResponse(_)
    );
    let why = match error {
        ClientInitializeError::TransportError { error, .. } => of_transport(error.error.as_ref()),
        error => format!("cannot be understood: {error}"),
    };
    Failed { why, refused }
}

/// Why a request has failed.
fn words(error: &ServiceError) -> String {
    match error {
        ServiceError::McpError(error) => format!("has refused: {}", error.message),
        ServiceError::TransportSend(error) => of_transport(error.error.as_ref()),
        ServiceError::TransportClosed => {
            "has ended during the call; it is started again with the next one".to_owned()
        }
        error => format!("cannot be understood: {error}"),
    }
}

fn of_transport(error: &(dyn std::error::Error + 'static)) -> String {
    match error.downcast_ref::<StreamableHttpError<http::Fault>>() {
        Some(StreamableHttpError::Client(fault)) => fault.to_string(),
        _ => format!("cannot be reached: {error}"),
    }
}
