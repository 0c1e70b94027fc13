//! What all clients of a server share.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use haft_kernel::Session;
use rmcp::task_manager::TaskManager;
use tokio::sync::{broadcast, watch};
use tokio_util::task::TaskTracker;

use super::ServerSetup;
use super::finished_run::end_session;
use super::job_notifications::JobEnded;
use super::jobs::{JobTable, ScriptJob};
use super::outputs::RetainedOutputs;
use super::sessions::{SessionCell, SessionTable};

/// Sessions, jobs and outputs of all clients.
pub(crate) struct ServerState {
    pub(crate) setup: ServerSetup,
    pub(crate) sessions: SessionTable<Session>,
    pub(crate) jobs: JobTable,
    pub(crate) outputs: RetainedOutputs,
    pub(crate) tasks: TaskManager,
    /// How often the tools of the registry have changed.
    pub(crate) tool_changes: watch::Receiver<u64>,
    /// Where jobs tell that they are over.
    pub(crate) ended_jobs: broadcast::Sender<JobEnded>,
    /// What is being ended.
    shutdowns: TaskTracker,
    numbers: AtomicU64,
}

/// How often what is too old is looked for.
const SWEEP_INTERVAL: Duration = Duration::from_secs(30);
/// How often it is looked whether what is kept still runs.
const KEEP_POLL_INTERVAL: Duration = Duration::from_secs(1);

/// How long the processes of a client that has gone have to end by themselves.
pub(crate) const DISCONNECT_GRACE: Duration = Duration::from_millis(200);
/// How long the server waits for everything to end before it ends itself.
const SHUTDOWN_TIMEOUT: Duration = Duration::from_secs(1);

/// A client that does not listen misses news if more than so many are waiting.
const MAX_QUEUED_NOTIFICATIONS: usize = 64;

impl ServerState {
    pub(crate) fn new(setup: ServerSetup) -> Arc<ServerState> {
        let (changed, tool_changes) = watch::channel(0);
        if let Some(tools) = &setup.tools {
            tools.registry.start_discovery();
            tools.registry.subscribe(move |_| changed.send_modify(|count| *count += 1));
        }
        Arc::new(ServerState {
            sessions: SessionTable::new(setup.limits.sessions),
            jobs: JobTable::new(setup.limits.jobs),
            outputs: RetainedOutputs::new(setup.limits.outputs),
            tasks: TaskManager::new(),
            tool_changes,
            ended_jobs: broadcast::Sender::new(MAX_QUEUED_NOTIFICATIONS),
            shutdowns: TaskTracker::new(),
            numbers: AtomicU64::new(1),
            setup,
        })
    }

    /// A number that nobody else has.
    pub(crate) fn next_number(&self) -> u64 {
        self.numbers.fetch_add(1, Ordering::Relaxed)
    }

    /// Ends everything that belonged to a client that has gone.
    pub(crate) fn release(&self, owner: u64) {
        self.outputs.release(owner);
        self.end_sessions(self.sessions.take(|whose| whose == owner));
        self.end(self.jobs.take(|job| job.owner == owner), Some(DISCONNECT_GRACE));
    }

    /// Ends jobs: asks all of them at once and does not wait here. `grace` replaces the time each has to end by itself.
    fn end(&self, jobs: Vec<Arc<ScriptJob>>, grace: Option<Duration>) {
        for job in jobs {
            grace.into_iter().for_each(|grace| job.controller.set_grace(grace));
            job.controller.cancel();
            self.shutdowns.spawn(async move { job.finish(grace).await });
        }
    }

    /// Ends the background processes of sessions of a client that has gone.
    fn end_sessions(&self, sessions: Vec<SessionCell<Session>>) {
        let end = move || {
            for shelf in sessions {
                // A session that a call holds ends with the job of that call.
                let session = shelf.try_lock().ok().and_then(|mut state| state.take());
                session.into_iter().for_each(|session| end_session(session, Some(DISCONNECT_GRACE)));
            }
        };
        drop(self.shutdowns.spawn_blocking(end));
    }

    /// Lets go of sessions, which ends what runs in their background, where waiting for that keeps nobody.
    pub(crate) fn discard<T: Send + 'static>(&self, sessions: T) {
        drop(self.shutdowns.spawn_blocking(move || drop(sessions)));
    }

    /// Ends everything, or waits for it if it is to be kept. Returns after [`FINISH_LIMIT`] even if a process cannot be
    /// killed: the watcher process goes on trying.
    pub(crate) async fn finish(&self) {
        while self.setup.keep && self.jobs.list().iter().any(|job| job.is_alive()) {
            tokio::time::sleep(KEEP_POLL_INTERVAL).await;
        }
        self.end_sessions(self.sessions.take(|_| true));
        self.end(self.jobs.take(|_| true), Some(DISCONNECT_GRACE));
        self.shutdowns.close();
        let _ = tokio::time::timeout(SHUTDOWN_TIMEOUT, self.shutdowns.wait()).await;
    }

    /// Ends, again and again, what is too old.
    pub(crate) async fn sweep(self: Arc<ServerState>) {
        loop {
            tokio::time::sleep(SWEEP_INTERVAL).await;
            let now = Instant::now();
            self.discard(self.sessions.take_old(now));
            self.end(self.jobs.take_old(now), None);
            self.outputs.sweep(now);
        }
    }
}

impl std::fmt::Debug for ServerState {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.debug_struct("ServerState").field("jobs", &self.jobs).finish_non_exhaustive()
    }
}
