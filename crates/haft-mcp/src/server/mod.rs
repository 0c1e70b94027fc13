//! The MCP server.

mod ansi;
mod changes_tool;
mod coerce;
mod detail;
mod event;
mod file_tools;
mod finished_run;
mod handler;
mod job_notifications;
mod job_report;
mod job_tool;
mod jobs;
mod limits;
mod listening;
mod observer;
mod output_tool;
mod outputs;
mod overlays;
mod owner;
mod prompts;
mod questions;
mod registry;
mod reply;
mod resources;
mod run_session;
mod run_tool;
mod script_tools;
mod server_state;
mod sessions;
mod subscriptions;
mod tasks;
mod tool_definitions;
mod tool_request;
mod until;
mod view;
mod wait;
mod withheld_variables;

use std::fmt;
use std::io;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use haft_kernel::Session;
use haft_kernel::run::ScopeLimits;
use haft_lang::Resolver;
use haft_process::{CancelToken, Host, Redactor};
use haft_tools::Toolset;
use tokio_util::sync::CancellationToken;

pub use self::detail::ResultDetail;
pub use self::event::ServerEvent;
use self::handler::ProtocolHandler;
pub use self::jobs::JobLimits;
pub use self::observer::{CallObserver, CallRecord, ClientName, ObservedCall};
pub use self::outputs::OutputLimits;
pub use self::overlays::{Committer, OverlaySetup, ToolProgram};
use self::owner::ResourceOwner;
pub use self::prompts::Prompt;
pub use self::questions::{ClientAnswer, ClientQuestions};
pub use self::registry::RegistryTools;
use self::server_state::ServerState;
pub use self::sessions::SessionLimits;
use crate::transport::end_of_input::EndOfInput;
use crate::transport::http::{self, HttpCallbacks, HttpOptions};
use crate::transport::line_transport::LineTransport;
use crate::transport::shutdown::ShutdownWatch;
use crate::transport::stdio::Stdio;

/// Creates a shell session, whose policy can ask the person at the client.
pub type SessionFactory = Box<dyn Fn(&Arc<ClientQuestions>) -> Session + Send + Sync>;

/// Everything that a server works with. The application provides it.
pub struct ServerSetup {
    /// The host that starts processes.
    pub host: Arc<Host>,
    /// Creates shell sessions.
    pub session: SessionFactory,
    /// Resolves command names for `check` and `plan`.
    pub names: Box<dyn Resolver + Send + Sync>,
    /// The overlays in which scripts can run.
    pub overlays: Option<OverlaySetup>,
    /// Further tools to offer, from the registry.
    pub tools: Option<RegistryTools>,
    /// Tools that are offered only on request, and were requested: `check`, `plan`, `bash`, `process_*`.
    pub requested_tools: Option<Toolset>,
    /// Whether every result has structured content. By default it has only text, unless a call asks for more.
    pub detail: ResultDetail,
    /// Returns the prompts to offer. Called again from time to time, because they may change.
    pub prompts: Box<dyn Fn() -> Vec<Prompt> + Send + Sync>,
    /// Limits on sessions, jobs, outputs and memory.
    pub limits: ServerLimits,
    /// A call that takes longer becomes a task, if the client supports the Tasks extension.
    pub task_after: Duration,
    /// Masks secrets in everything except the output of programs.
    pub redactor: Arc<Redactor>,
    /// Names of environment variables that look like keys and are therefore withheld from scripts.
    pub withheld_variables: Vec<String>,
    /// Receives log events.
    pub log: Box<dyn Fn(ServerEvent<'_>) + Send + Sync>,
    /// Observes all calls.
    pub observer: Option<Arc<dyn CallObserver>>,
    /// Whether sessions and jobs outlive the client that started them.
    pub keep: bool,
}

/// Limits on what a server keeps.
#[derive(Clone, Copy, Debug, Default)]
pub struct ServerLimits {
    /// Limits on named sessions.
    pub sessions: SessionLimits,
    /// Limits on jobs.
    pub jobs: JobLimits,
    /// Limits on outputs of earlier calls.
    pub outputs: OutputLimits,
    /// Limits of each script with its programs. A call can only set lower ones.
    pub scripts: ScopeLimits,
    /// The longest time that a script may run, also in the background.
    pub wall: Option<Duration>,
    /// The number of tool calls that the server answers.
    pub calls: Option<u64>,
}

impl fmt::Debug for ServerSetup {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("ServerSetup").field("limits", &self.limits).finish_non_exhaustive()
    }
}

/// An MCP server that does not serve yet.
#[derive(Debug)]
pub struct Server {
    setup: ServerSetup,
}

impl Server {
    /// Creates a server.
    #[must_use]
    pub fn new(setup: ServerSetup) -> Server {
        Server { setup }
    }

    /// Serves one client over standard input and output, until it disconnects or `cancel` is cancelled. All processes
    /// of the client have ended when this returns.
    ///
    /// # Errors
    /// Fails if the descriptors cannot be used or a thread cannot be started.
    pub fn serve_stdio(self, stdio: Stdio, cancel: &CancelToken) -> io::Result<()> {
        let runtime = runtime()?;
        let watch = ShutdownWatch::start(Some(stdio.duplicate()?), cancel)?;
        let result = runtime.block_on(async {
            let (reader, writer) = stdio.split()?;
            let end = EndOfInput::default();
            let reader = end.observe(reader);
            let state = self.start(false);
            let handler = ProtocolHandler::new(&state, &Arc::new(ResourceOwner::anonymous(&state)));
            let closed = CancellationToken::new();
            let transport = LineTransport::server(reader, writer, closed.clone());
            let serving = rmcp::service::serve_server_with_ct(handler, transport, watch.stop.clone());
            let serving = async {
                // A client may disconnect before it initializes; that is not an error.
                if let Ok(service) = serving.await {
                    let _ = service.waiting().await;
                }
            };
            tokio::pin!(serving);
            let served = tokio::select! {
                () = &mut serving => true,
                () = watch.stop.cancelled() => false,
                // Calls that finish within the timeout are still answered. All others end with the client.
                () = end.reached(&watch.input_closed) => {
                    tokio::time::timeout(PENDING_CALLS_TIMEOUT, &mut serving).await.is_ok()
                }
            };
            // Calls that end because the client has disconnected are not answered.
            closed.cancel();
            watch.stop.cancel();
            state.finish().await;
            if !served {
                let _ = tokio::time::timeout(FINAL_WRITES_TIMEOUT, serving).await;
            }
            Ok(())
        });
        runtime.shutdown_timeout(THREAD_EXIT_TIMEOUT);
        result
    }

    /// Serves any number of clients over HTTP until `cancel` is cancelled. Calls `ready` with the address it listens
    /// on.
    ///
    /// # Errors
    /// Fails if the address is not a loopback address or cannot be bound.
    pub fn serve_http(
        self,
        http: HttpOptions,
        ready: impl FnOnce(SocketAddr),
        cancel: &CancelToken,
    ) -> io::Result<()> {
        let runtime = runtime()?;
        let watch = ShutdownWatch::start(None, cancel)?;
        let result = runtime.block_on(async {
            let (state, stop) = (self.start(true), watch.stop.clone());
            let common = Arc::new(ResourceOwner::stateless(&state));
            let handler = {
                let state = state.clone();
                move || ProtocolHandler::new(&state, &common)
            };
            let log = state.clone();
            let rejected = move |reason: &str| (log.setup.log)(ServerEvent::Rejected { reason });
            let result =
                http::serve(http, handler, HttpCallbacks { ready, rejected: Arc::new(rejected) }, stop).await;
            state.finish().await;
            result
        });
        runtime.shutdown_timeout(THREAD_EXIT_TIMEOUT);
        result
    }

    fn start(self, shared: bool) -> Arc<ServerState> {
        let state = ServerState::new(self.setup, shared);
        tokio::spawn(state.clone().sweep());
        tokio::spawn(state.clone().watch_prompts());
        if let Some(tools) = state.setup.tools.clone() {
            tokio::spawn(tools.watch());
        }
        state
    }
}

/// The time that running calls have to finish after the client has closed its output.
const PENDING_CALLS_TIMEOUT: Duration = Duration::from_millis(200);
/// The time that requests have to end after their scripts have ended.
const FINAL_WRITES_TIMEOUT: Duration = Duration::from_millis(250);
/// The time that the threads of the runtime have to exit.
const THREAD_EXIT_TIMEOUT: Duration = Duration::from_millis(100);

/// Stack size of the runtime threads, on which scripts run. Only touched pages use memory.
const THREAD_STACK_BYTES: usize = 8 << 20;

fn runtime() -> io::Result<tokio::runtime::Runtime> {
    tokio::runtime::Builder::new_multi_thread()
        .worker_threads(2)
        .thread_stack_size(THREAD_STACK_BYTES)
        .enable_all()
        .build()
}
