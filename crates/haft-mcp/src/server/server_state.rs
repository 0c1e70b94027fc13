//! The state that all clients of a server share.

use std::hash::{BuildHasher as _, RandomState};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use rmcp::task_manager::TaskManager;
use tokio::sync::{broadcast, watch};
use tokio_util::task::TaskTracker;

use super::ServerSetup;
use super::job_notifications::JobEnded;
use super::jobs::{JobTable, ScriptJob};
use super::outputs::RetainedOutputs;
use super::overlays::OverlayTable;
use super::owner::STATELESS;
use super::prompts::OfferedPrompts;
use super::run_session::{NamedSession, end_session};
use super::sessions::{SessionCell, SessionTable};
use super::tool_definitions::{BuiltInTools, ON_REQUEST};

/// Sessions, jobs and outputs of all clients.
pub(crate) struct ServerState {
    pub(crate) setup: ServerSetup,
    pub(crate) sessions: SessionTable<NamedSession>,
    pub(crate) overlays: OverlayTable,
    pub(crate) jobs: JobTable,
    pub(crate) outputs: RetainedOutputs,
    pub(crate) tasks: TaskManager,
    pub(crate) built_in: BuiltInTools,
    pub(crate) prompts: OfferedPrompts,
    /// Changes whenever the tools of the registry change.
    pub(crate) tool_changes: watch::Receiver<u64>,
    /// Publishes background jobs that have ended.
    pub(crate) ended_jobs: broadcast::Sender<JobEnded>,
    /// Jobs and sessions that are being ended.
    shutdowns: TaskTracker,
    /// A random key that makes job ids unguessable, if several clients may connect.
    id_key: Option<RandomState>,
    numbers: AtomicU64,
    /// Tool calls so far.
    calls: AtomicU64,
}

/// Interval between searches for expired sessions, jobs and outputs.
const SWEEP_INTERVAL: Duration = Duration::from_secs(30);
/// Interval between checks for changed prompts.
const PROMPTS_INTERVAL: Duration = Duration::from_secs(2);
/// Interval between checks whether kept jobs still run.
const KEEP_POLL_INTERVAL: Duration = Duration::from_secs(1);

/// The time between `SIGTERM` and `SIGKILL` for processes of a disconnected client.
pub(crate) const DISCONNECT_GRACE: Duration = Duration::from_millis(200);
/// The time that the server waits for all processes to end before it exits.
const SHUTDOWN_TIMEOUT: Duration = Duration::from_secs(1);

/// A slow client misses notifications if more than this number is queued.
const MAX_QUEUED_NOTIFICATIONS: usize = 64;

impl ServerState {
    /// Creates the state. `shared` says that several clients may connect.
    pub(crate) fn new(mut setup: ServerSetup, shared: bool) -> Arc<ServerState> {
        let (changed, tool_changes) = watch::channel(0);
        if let Some(tools) = &setup.tools {
            tools.registry.start_discovery();
            tools.registry.subscribe(move |_| changed.send_modify(|count| *count += 1));
        }
        Arc::new(ServerState {
            sessions: SessionTable::new(setup.limits.sessions),
            overlays: OverlayTable::new(setup.overlays.take()),
            jobs: JobTable::new(setup.limits.jobs),
            outputs: RetainedOutputs::new(setup.limits.outputs),
            tasks: TaskManager::new(),
            prompts: OfferedPrompts::new((setup.prompts)()),
            built_in: BuiltInTools::new(&setup.withheld_variables, setup.detail),
            tool_changes,
            ended_jobs: broadcast::Sender::new(MAX_QUEUED_NOTIFICATIONS),
            shutdowns: TaskTracker::new(),
            id_key: shared.then(RandomState::new),
            numbers: AtomicU64::new(1),
            calls: AtomicU64::new(0),
            setup,
        })
    }

    /// Whether a name is not that of a built-in tool which is offered only on request.
    pub(crate) fn offers_built_in(&self, name: &str) -> bool {
        !ON_REQUEST.contains(&name)
            || self.setup.requested_tools.as_ref().is_some_and(|requested| requested.allows(name))
    }

    /// Counts a tool call.
    ///
    /// # Errors
    /// If the server answers no more calls.
    pub(crate) fn count_call(&self) -> Result<(), String> {
        let number = self.calls.fetch_add(1, Ordering::Relaxed) + 1;
        match self.setup.limits.calls {
            Some(limit) if number > limit => Err(format!(
                "the limit of {limit} calls is reached\nhint: 'calls' in [policy.budgets] sets it, for as long as this server runs"
            )),
            _ => Ok(()),
        }
    }

    /// A unique number for a job or an owner.
    pub(crate) fn next_number(&self) -> u64 {
        self.numbers.fetch_add(1, Ordering::Relaxed)
    }

    /// A number and an id for a job. The ids of a server with several clients cannot be guessed.
    pub(crate) fn next_job_id(&self) -> (u64, String) {
        let number = self.next_number();
        let id = match &self.id_key {
            Some(key) => format!("j{number}-{:016x}", key.hash_one(number)),
            None => format!("j{number}"),
        };
        (number, id)
    }

    /// The name of the session that a client means. A stateless client gets a name that cannot be guessed for a new
    /// session, because all stateless clients share one table.
    ///
    /// # Errors
    /// Fails if the name is one that this server would have given, but there is no such session.
    pub(crate) fn session_name(&self, owner: u64, name: &str) -> Result<String, String> {
        if owner != STATELESS || self.sessions.has(owner, name) {
            return Ok(name.to_owned());
        }
        if let Some((plain, digits)) = name.rsplit_once('-')
            && digits.len() == 16
            && digits.bytes().all(|digit| digit.is_ascii_hexdigit())
        {
            let hint = format!("it has ended; use '{plain}' for a new one");
            return Err(format!("unknown session '{name}'\nhint: {hint}"));
        }
        let key = self.id_key.clone().unwrap_or_default();
        Ok(format!("{name}-{:016x}", key.hash_one((name, self.next_number()))))
    }

    /// Ends everything that a disconnected client owns.
    pub(crate) fn release(&self, owner: u64) {
        self.outputs.remove_owned_by(owner);
        self.end_sessions(self.sessions.take(|whose| whose == owner));
        self.end_jobs(self.jobs.take(|job| job.owner() == owner), Some(DISCONNECT_GRACE));
    }

    /// Makes the jobs and outputs of a disconnected client visible to all clients.
    pub(crate) fn share(&self, owner: u64) {
        self.jobs.share(owner);
        self.outputs.share(owner);
    }

    /// Starts ending jobs, all at the same time, and does not wait. `grace` replaces the time between `SIGTERM` and
    /// `SIGKILL`.
    fn end_jobs(&self, jobs: Vec<Arc<ScriptJob>>, grace: Option<Duration>) {
        for job in jobs {
            grace.into_iter().for_each(|grace| job.controller.set_grace(grace));
            job.controller.cancel();
            self.shutdowns.spawn(async move { job.finish(grace).await });
        }
    }

    /// Starts ending the background processes of sessions.
    fn end_sessions(&self, sessions: Vec<SessionCell<NamedSession>>) {
        let end = move || {
            for shelf in sessions {
                // A session that a call uses ends with the job of that call.
                let session = shelf.try_lock().ok().and_then(|mut state| state.take());
                session.into_iter().for_each(|named| end_session(named.session, Some(DISCONNECT_GRACE)));
            }
        };
        drop(self.shutdowns.spawn_blocking(end));
    }

    /// Drops sessions on a blocking thread. Dropping ends their background processes, which may take a while.
    pub(crate) fn discard<T: Send + 'static>(&self, sessions: T) {
        drop(self.shutdowns.spawn_blocking(move || drop(sessions)));
    }

    /// Ends all jobs and sessions, or waits for the jobs if the server keeps them. Returns after [`SHUTDOWN_TIMEOUT`]
    /// even if a process cannot be killed: the watcher process continues to try.
    pub(crate) async fn finish(&self) {
        while self.setup.keep && self.jobs.any_alive() {
            tokio::time::sleep(KEEP_POLL_INTERVAL).await;
        }
        self.end_sessions(self.sessions.take(|_| true));
        self.end_jobs(self.jobs.take(|_| true), Some(DISCONNECT_GRACE));
        self.shutdowns.close();
        let _ = tokio::time::timeout(SHUTDOWN_TIMEOUT, self.shutdowns.wait()).await;
    }

    /// Unmounts the overlays of sessions whose background processes have ended since their last call.
    pub(crate) fn release_overlays(&self) {
        for session in self.sessions.all() {
            if let Ok(mut session) = session.try_lock() {
                session.iter_mut().for_each(NamedSession::release_overlay);
            }
        }
    }

    /// Reads the prompts again periodically.
    pub(crate) async fn watch_prompts(self: Arc<ServerState>) {
        loop {
            tokio::time::sleep(PROMPTS_INTERVAL).await;
            let state = self.clone();
            let read = move || state.prompts.replace((state.setup.prompts)());
            let _ = tokio::task::spawn_blocking(read).await;
        }
    }

    /// Ends expired sessions, jobs and outputs periodically.
    pub(crate) async fn sweep(self: Arc<ServerState>) {
        loop {
            tokio::time::sleep(SWEEP_INTERVAL).await;
            let now = Instant::now();
            self.discard(self.sessions.take_old(now));
            self.end_jobs(self.jobs.take_old(now), None);
            self.outputs.sweep(now);
            let state = self.clone();
            let _ = tokio::task::spawn_blocking(move || state.release_overlays()).await;
        }
    }
}

impl std::fmt::Debug for ServerState {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.debug_struct("ServerState").field("jobs", &self.jobs).finish_non_exhaustive()
    }
}
