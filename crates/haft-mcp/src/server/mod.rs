//! The server.

mod ansi;
mod event;
mod finished_run;
mod handler;
mod job_notifications;
mod job_report;
mod job_tool;
mod jobs;
mod output_tool;
mod outputs;
mod owner;
mod prompts;
mod registry;
mod reply;
mod resources;
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
use haft_kernel::memory::MemoryLimit;
use haft_lang::Resolver;
use haft_process::{CancelToken, Host, Redactor};

pub use self::event::ServerEvent;
use self::handler::ProtocolHandler;
pub use self::jobs::JobLimits;
pub use self::outputs::OutputLimits;
use self::owner::ResourceOwner;
pub use self::prompts::Prompt;
pub use self::registry::RegistryTools;
use self::server_state::ServerState;
pub use self::sessions::SessionLimits;
use crate::transport::end_of_input::EndOfInput;
use crate::transport::http::{self, HttpCallbacks, HttpOptions};
use crate::transport::shutdown::ShutdownWatch;
use crate::transport::stdio::Stdio;

/// What a server works with, handed in by the application.
pub struct ServerSetup {
    /// Where processes are started.
    pub host: Arc<Host>,
    /// Makes a session: environment, directory, options.
    pub session: Box<dyn Fn() -> Session + Send + Sync>,
    /// What names mean to `check` and `plan`.
    pub names: Box<dyn Resolver + Send + Sync>,
    /// Tools to offer besides our own.
    pub tools: Option<RegistryTools>,
    /// Prompts to offer.
    pub prompts: Vec<Prompt>,
    /// What is kept, how much and how long.
    pub limits: ServerLimits,
    /// Masks keys in everything but the output of programs.
    pub redactor: Arc<Redactor>,
    /// The names of variables that scripts do not have because they look like keys.
    pub withheld_variables: Vec<String>,
    /// Is told what happens.
    pub log: Box<dyn Fn(ServerEvent<'_>) + Send + Sync>,
    /// Whether sessions and jobs outlive the client that has started them.
    pub keep: bool,
}

/// What is kept, how much and how long.
#[derive(Clone, Copy, Debug, Default)]
pub struct ServerLimits {
    /// Of named sessions.
    pub sessions: SessionLimits,
    /// Of jobs.
    pub jobs: JobLimits,
    /// Of earlier outputs.
    pub outputs: OutputLimits,
    /// How much memory each script may use, in a named session together with those before it.
    pub memory: MemoryLimit,
}

impl fmt::Debug for ServerSetup {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("ServerSetup").field("limits", &self.limits).finish_non_exhaustive()
    }
}

/// A server that is set up and not serving yet.
#[derive(Debug)]
pub struct Server {
    setup: ServerSetup,
}

impl Server {
    /// A server that works with this.
    #[must_use]
    pub fn new(setup: ServerSetup) -> Server {
        Server { setup }
    }

    /// Serves one client, on the descriptors it has started us with, until it goes away or `cancel` is cancelled. Everything
    /// it has started is gone when this returns.
    ///
    /// # Errors
    /// If the descriptors cannot be used or no thread is to be had.
    pub fn serve_stdio(self, stdio: Stdio, cancel: &CancelToken) -> io::Result<()> {
        let runtime = runtime()?;
        let watch = ShutdownWatch::start(Some(stdio.duplicate()?), cancel)?;
        let result = runtime.block_on(async {
            let (reader, writer) = stdio.split()?;
            let end = EndOfInput::default();
            let reader = end.observe(reader);
            let state = self.start();
            let handler = ProtocolHandler::new(&state, &Arc::new(ResourceOwner::anonymous(&state)));
            let serving = rmcp::service::serve_server_with_ct(handler, (reader, writer), watch.stop.clone());
            let serving = async {
                // A client that goes away before it has said who it is, is no failure.
                if let Ok(service) = serving.await {
                    let _ = service.waiting().await;
                }
            };
            tokio::pin!(serving);
            let served = tokio::select! {
                () = &mut serving => true,
                () = watch.stop.cancelled() => false,
                // Calls that are about to be answered are; all others end with the client.
                () = end.reached(&watch.input_closed) => {
                    tokio::time::timeout(PENDING_CALLS_TIMEOUT, &mut serving).await.is_ok()
                }
            };
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

    /// Serves any number of clients over HTTP until `cancel` is cancelled. Says through `ready` where.
    ///
    /// # Errors
    /// If the address is no loopback address or cannot be listened on.
    pub fn serve_http(
        self,
        http: HttpOptions,
        ready: impl FnOnce(SocketAddr),
        cancel: &CancelToken,
    ) -> io::Result<()> {
        let runtime = runtime()?;
        let watch = ShutdownWatch::start(None, cancel)?;
        let result = runtime.block_on(async {
            let (state, stop) = (self.start(), watch.stop.clone());
            let common = Arc::new(ResourceOwner::anonymous(&state));
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

    fn start(self) -> Arc<ServerState> {
        let state = ServerState::new(self.setup);
        tokio::spawn(state.clone().sweep());
        if let Some(tools) = state.setup.tools.clone() {
            tokio::spawn(tools.watch());
        }
        state
    }
}

/// How long calls that run when the client closes its output have to be answered.
const PENDING_CALLS_TIMEOUT: Duration = Duration::from_millis(200);
/// How long the client has to read the last answers.
const FINAL_WRITES_TIMEOUT: Duration = Duration::from_millis(250);
/// How long the threads of the runtime have to end after that.
const THREAD_EXIT_TIMEOUT: Duration = Duration::from_millis(100);

/// Scripts run on threads of the runtime. A stack is taken from the system only as far as it is used.
const THREAD_STACK_BYTES: usize = 8 << 20;

fn runtime() -> io::Result<tokio::runtime::Runtime> {
    tokio::runtime::Builder::new_multi_thread()
        .worker_threads(2)
        .thread_stack_size(THREAD_STACK_BYTES)
        .enable_all()
        .build()
}
