//! Running jobs, and jobs that ended recently.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use haft_kernel::run::Controller;
use haft_process::Redactor;
use haft_process::capture::Output;
use tokio::sync::{Semaphore, SemaphorePermit, watch};

use super::finished_run::FinishedRun;
use super::owner::{EVERYONE, STATELESS};
use super::run_session::end_session;
use super::tool_request::ToolRequest;

/// Limits on jobs.
#[derive(Clone, Copy, Debug)]
pub struct JobLimits {
    /// The number of jobs of one client that may continue after their call, and the number of calls that run at the
    /// same time. Further calls wait.
    pub count: usize,
    /// A job is ended, or forgotten if it has ended, this long after its start.
    pub age: Duration,
}

impl Default for JobLimits {
    /// 64 jobs, 24 hours.
    fn default() -> JobLimits {
        JobLimits { count: 64, age: Duration::from_secs(24 * 3600) }
    }
}

/// The number of ended jobs to remember.
const MAX_ENDED_JOBS: usize = 64;

/// A script that was started by `run`.
#[derive(Debug)]
pub(crate) struct ScriptJob {
    pub(crate) id: String,
    pub(crate) number: u64,
    /// The id of its [`ResourceOwner`](super::owner::ResourceOwner).
    owner: AtomicU64,
    pub(crate) script: String,
    pub(crate) started: Instant,
    pub(crate) controller: Controller,
    /// Masks the secrets of its environment.
    pub(crate) redactor: Arc<Redactor>,
    /// The number of bytes of each stream that were returned to the client.
    seen: Mutex<Vec<u64>>,
    end: watch::Receiver<Option<Arc<FinishedRun>>>,
    /// Held while the job is being ended, so that concurrent callers wait for it.
    ending: tokio::sync::Mutex<()>,
    /// The number of requests that wait for the job.
    waiting: AtomicUsize,
    /// Whether the call that started it has returned.
    in_background: AtomicBool,
}

impl ScriptJob {
    pub(crate) fn new(
        (number, id): (u64, String),
        owner: u64,
        script: &str,
        redactor: Arc<Redactor>,
        controller: Controller,
        end: watch::Receiver<Option<Arc<FinishedRun>>>,
    ) -> ScriptJob {
        let seen = Mutex::new(vec![0; controller.captured().all().count()]);
        let script = script.to_owned();
        ScriptJob {
            id,
            number,
            owner: AtomicU64::new(owner),
            script,
            started: Instant::now(),
            controller,
            redactor,
            seen,
            end,
            ending: tokio::sync::Mutex::default(),
            waiting: AtomicUsize::new(0),
            in_background: AtomicBool::new(false),
        }
    }

    /// The id of its owner.
    pub(crate) fn owner(&self) -> u64 {
        self.owner.load(Ordering::Relaxed)
    }

    /// The output streams with their names.
    pub(crate) fn streams(&self) -> Vec<(&'static str, Output)> {
        let captured = self.controller.captured();
        let named = [
            ("stdout", captured.stdout.as_ref()),
            ("stderr", captured.stderr.as_ref()),
            ("output", captured.output.as_ref()),
            ("late", captured.late_output()),
        ];
        named.into_iter().filter_map(|(name, output)| Some((name, output?.clone()))).collect()
    }

    /// The result, or `None` while the script runs.
    pub(crate) fn ended(&self) -> Option<Arc<FinishedRun>> {
        self.end.borrow().clone()
    }

    /// Whether the script or a background process of it still runs.
    pub(crate) fn is_alive(&self) -> bool {
        self.ended().is_none_or(|ended| !ended.left_running().is_empty())
    }

    /// The ids of its processes.
    pub(crate) fn processes(&self) -> Vec<i32> {
        self.ended().map_or_else(|| self.controller.members(), |ended| ended.left_running())
    }

    /// Ends the job and waits until all its processes have ended. `grace` replaces the time between `SIGTERM` and
    /// `SIGKILL`.
    pub(crate) async fn finish(&self, grace: Option<Duration>) {
        self.controller.cancel();
        let _ending = self.ending.lock().await;
        if let Some(session) = self.end().await.and_then(|ended| ended.take_session()) {
            let _ = tokio::task::spawn_blocking(move || end_session(session, grace)).await;
        }
    }

    /// Waits until the script has ended.
    pub(crate) async fn end(&self) -> Option<Arc<FinishedRun>> {
        self.end.clone().wait_for(Option::is_some).await.ok()?.clone()
    }

    /// Marks the job as waited for while the guard lives.
    pub(crate) fn wait(&self) -> WaitGuard<'_> {
        self.waiting.fetch_add(1, Ordering::Relaxed);
        WaitGuard(self)
    }

    /// Records that the call that started it has returned.
    pub(crate) fn set_in_background(&self) {
        self.in_background.store(true, Ordering::Relaxed);
    }

    /// Whether the call that started it has returned.
    fn is_in_background(&self) -> bool {
        self.in_background.load(Ordering::Relaxed)
    }

    /// Whether a request waits for the job and will report its end.
    pub(crate) fn is_waited_for(&self) -> bool {
        self.waiting.load(Ordering::Relaxed) > 0
    }

    /// The number of bytes of each stream that were returned to the client.
    pub(crate) fn seen(&self) -> Vec<u64> {
        self.seen.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Records the number of bytes of each stream that were returned to the client.
    pub(crate) fn set_seen(&self, seen: Vec<u64>) {
        *self.seen.lock().unwrap_or_else(PoisonError::into_inner) = seen;
    }

    /// The script in one line, with secrets masked.
    pub(crate) fn title(&self) -> String {
        title(&self.redactor.text(&self.script))
    }
}

/// Marks a job as waited for.
#[derive(Debug)]
pub(crate) struct WaitGuard<'a>(&'a ScriptJob);

impl Drop for WaitGuard<'_> {
    fn drop(&mut self) {
        self.0.waiting.fetch_sub(1, Ordering::Relaxed);
    }
}

/// Shortens a script to one line.
pub(crate) fn title(script: &str) -> String {
    const MAX_TITLE_CHARS: usize = 80;
    let line = script.trim().lines().next().unwrap_or_default();
    match line.char_indices().nth(MAX_TITLE_CHARS) {
        Some((cut, _)) => format!("{}…", &line[..cut]),
        None if script.trim().lines().nth(1).is_some() => format!("{line} …"),
        None => line.to_owned(),
    }
}

/// The jobs of all clients.
#[derive(Debug)]
pub(crate) struct JobTable {
    limits: JobLimits,
    table: Mutex<BTreeMap<u64, Arc<ScriptJob>>>,
    /// One for each call that may run at the same time.
    slots: Semaphore,
}

impl JobTable {
    pub(crate) fn new(limits: JobLimits) -> JobTable {
        JobTable { limits, table: Mutex::default(), slots: Semaphore::new(limits.count) }
    }

    /// Fails if the maximum number of jobs of a client continue after their call.
    pub(crate) fn check_capacity(&self, owner: u64) -> Result<(), String> {
        let running = self.of(owner).iter().filter(|job| job.is_alive() && job.is_in_background()).count();
        if running < self.limits.count {
            return Ok(());
        }
        Err(format!(
            "too many jobs: {running} are running\nhint: job(action=\"list\") lists them, job(action=\"kill\", id=\"…\") ends one"
        ))
    }

    /// Waits until another call may run. Returns `None` if the request is cancelled.
    pub(crate) async fn wait_for_slot(&self, request: &ToolRequest) -> Option<SemaphorePermit<'_>> {
        let mut progress = request.tool_progress();
        let slot = self.slots.acquire();
        tokio::pin!(slot);
        loop {
            tokio::select! {
                biased;
                slot = &mut slot => return slot.ok(),
                () = request.cancelled() => return None,
                () = progress.silence() => progress.report("waiting for other calls").await,
            }
        }
    }

    pub(crate) fn insert(&self, job: Arc<ScriptJob>) {
        let mut table = self.lock();
        table.insert(job.number, job);
        let ended: Vec<u64> = table.values().filter(|job| !job.is_alive()).map(|job| job.number).collect();
        for number in ended.iter().take(ended.len().saturating_sub(MAX_ENDED_JOBS)) {
            table.remove(number);
        }
    }

    /// Removes a job.
    pub(crate) fn remove(&self, job: &ScriptJob) {
        self.lock().remove(&job.number);
    }

    /// Finds a job of a client by its id.
    pub(crate) fn get(&self, owner: u64, id: &str) -> Result<Arc<ScriptJob>, String> {
        if let Some(job) = self.of(owner).into_iter().find(|job| job.id == id) {
            return Ok(job);
        }
        let jobs = self.list(owner);
        let ids: Vec<&str> = jobs.iter().map(|job| job.id.as_str()).collect();
        let known = match ids.as_slice() {
            [] if owner == STATELESS => "the call that started a job returned its id".to_owned(),
            [] => "no jobs exist".to_owned(),
            ids => format!("existing jobs: {}", ids.join(", ")),
        };
        Err(format!("unknown job '{id}'\nhint: {known}"))
    }

    /// The jobs that a client can list: its own ones, and those that outlived their client.
    pub(crate) fn list(&self, owner: u64) -> Vec<Arc<ScriptJob>> {
        self.of(if owner == STATELESS { EVERYONE } else { owner })
    }

    /// The jobs of a client, and those that outlived their client, in the order of their start.
    fn of(&self, owner: u64) -> Vec<Arc<ScriptJob>> {
        let visible = |job: &&Arc<ScriptJob>| [owner, EVERYONE].contains(&job.owner());
        self.lock().values().filter(visible).cloned().collect()
    }

    /// Whether a job of any client runs.
    pub(crate) fn any_alive(&self) -> bool {
        let jobs: Vec<Arc<ScriptJob>> = self.lock().values().cloned().collect();
        jobs.iter().any(|job| job.is_alive())
    }

    /// Makes the jobs of a client that has disconnected visible to all clients.
    pub(crate) fn share(&self, owner: u64) {
        for job in self.of(owner) {
            job.owner.store(EVERYONE, Ordering::Relaxed);
        }
    }

    /// Removes jobs that exceed the maximum age. Younger jobs that have ended stay, so that a client can ask for
    /// their result.
    pub(crate) fn take_old(&self, now: Instant) -> Vec<Arc<ScriptJob>> {
        self.take(|job| now.saturating_duration_since(job.started) >= self.limits.age)
    }

    /// Removes and returns the jobs that match.
    pub(crate) fn take(&self, which: impl Fn(&ScriptJob) -> bool) -> Vec<Arc<ScriptJob>> {
        self.lock().extract_if(.., |_, job| which(job)).map(|(_, job)| job).collect()
    }

    fn lock(&self) -> MutexGuard<'_, BTreeMap<u64, Arc<ScriptJob>>> {
        self.table.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
