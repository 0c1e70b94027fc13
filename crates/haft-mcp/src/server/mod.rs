//! The server.

mod call;
mod drive;
mod engine;
mod handler;
mod job_tool;
mod jobs;
mod log;
mod news;
mod output_tool;
mod outputs;
mod owner;
mod plain;
mod prompts;
mod registry;
mod reply;
mod resources;
mod run;
mod scripts;
mod sessions;
mod shared;
mod show;
mod tasks;
mod tools;
mod until;
mod view;
mod wishes;
mod withheld;

use std::fmt;
use std::io;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use haft_kernel::Session;
use haft_kernel::memory::MemoryLimit;
use haft_lang::Resolver;
use haft_process::{CancelToken, Host, Redactor};

use self::handler::Handler;
pub use self::jobs::JobLimits;
pub use self::log::Event;
pub use self::outputs::OutputLimits;
use self::owner::Owner;
pub use self::prompts::Prompt;
pub use self::registry::Tools;
pub use self::sessions::SessionLimits;
use self::shared::Shared;
use crate::transport::http::{self, Http, Outside};
use crate::transport::input_end::InputEnd;
use crate::transport::stdio::Stdio;
use crate::transport::watch::Watch;

/// What a server works with, handed in by the application.
pub struct Setup {
    /// Where processes are started.
    pub host: Arc<Host>,
    /// Makes a session: environment, directory, options.
    pub session: Box<dyn Fn() -> Session + Send + Sync>,
    /// What names mean to `check` and `plan`.
    pub names: Box<dyn Resolver + Send + Sync>,
    /// Tools to offer besides our own.
    pub tools: Option<Tools>,
    /// Prompts to offer.
    pub prompts: Vec<Prompt>,
    /// What is kept, how much and how long.
    pub limits: Limits,
    /// Masks keys in everything but the output of programs.
    pub redactor: Arc<Redactor>,
    /// The names of variables that scripts do not have because they look like keys.
    pub withheld: Vec<String>,
    /// Is told what happens.
    pub log: Box<dyn Fn(Event<'_>) + Send + Sync>,
    /// Whether sessions and jobs outlive the client that has started them.
    pub keep: bool,
}

/// What is kept, how much and how long.
#[derive(Clone, Copy, Debug, Default)]
pub struct Limits {
    /// Of named sessions.
    pub sessions: SessionLimits,
    /// Of jobs.
    pub jobs: JobLimits,
    /// Of earlier outputs.
    pub outputs: OutputLimits,
    /// How much memory each script may use, in a named session together with those before it.
    pub memory: MemoryLimit,
}

impl fmt::Debug for Setup {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("Setup").field("limits", &self.limits).finish_non_exhaustive()
    }
}

/// A server that is set up and not serving yet.
#[derive(Debug)]
pub struct Server {
    setup: Setup,
}

impl Server {
    /// A server that works with this.
    #[must_use]
    pub fn new(setup: Setup) -> Server {
        Server { setup }
    }

    /// Serves one client, on the descriptors it has started us with, until it goes away or `cancel` is cancelled. Everything
    /// it has started is gone when this returns.
    ///
    /// # Errors
    /// If the descriptors cannot be used or no thread is to be had.
    pub fn serve_stdio(self, stdio: Stdio, cancel: &CancelToken) -> io::Result<()> {
        let runtime = runtime()?;
        let watch = Watch::start(Some(stdio.ends()?), cancel)?;
        let result = runtime.block_on(async {
            let (reader, writer) = stdio.split()?;
            let end = InputEnd::default();
            let reader = end.notice(reader);
            let shared = self.begin();
            let handler = Handler::new(&shared, &Arc::new(Owner::nameless(&shared)));
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
                    tokio::time::timeout(LAST_ANSWERS, &mut serving).await.is_ok()
                }
            };
            watch.stop.cancel();
            shared.finish().await;
            if !served {
                let _ = tokio::time::timeout(LAST_WRITES, serving).await;
            }
            Ok(())
        });
        runtime.shutdown_timeout(LAST);
        result
    }

    /// Serves any number of clients over HTTP until `cancel` is cancelled. Says through `ready` where.
    ///
    /// # Errors
    /// If the address is no loopback address or cannot be listened on.
    pub fn serve_http(
        self,
        http: Http,
        ready: impl FnOnce(SocketAddr),
        cancel: &CancelToken,
    ) -> io::Result<()> {
        let runtime = runtime()?;
        let watch = Watch::start(None, cancel)?;
        let result = runtime.block_on(async {
            let (shared, stop) = (self.begin(), watch.stop.clone());
            let common = Arc::new(Owner::nameless(&shared));
            let handler = {
                let shared = shared.clone();
                move || Handler::new(&shared, &common)
            };
            let log = shared.clone();
            let refused = move |reason: &str| (log.setup.log)(Event::Refused { reason });
            let result =
                http::serve(http, handler, Outside { ready, refused: Arc::new(refused) }, stop).await;
            shared.finish().await;
            result
        });
        runtime.shutdown_timeout(LAST);
        result
    }

    fn begin(self) -> Arc<Shared> {
        let shared = Shared::new(self.setup);
        tokio::spawn(shared.clone().sweep());
        if let Some(tools) = shared.setup.tools.clone() {
            tokio::spawn(tools.watch());
        }
        shared
    }
}

/// How long calls that run when the client closes its output have to be answered.
const LAST_ANSWERS: Duration = Duration::from_millis(200);
/// How long the client has to read the last answers.
const LAST_WRITES: Duration = Duration::from_millis(250);
/// How long the threads of the runtime have to end after that.
const LAST: Duration = Duration::from_millis(100);

/// Scripts run on threads of the runtime. A stack is taken from the system only as far as it is used.
const STACK: usize = 8 << 20;

fn runtime() -> io::Result<tokio::runtime::Runtime> {
    tokio::runtime::Builder::new_multi_thread()
        .worker_threads(2)
        .thread_stack_size(STACK)
        .enable_all()
        .build()
}
