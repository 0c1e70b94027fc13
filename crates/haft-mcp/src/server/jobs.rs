//! Everything that runs, and what has ended lately.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use haft_process::Redactor;
use haft_process::capture::Output;
use tokio::sync::watch;

use super::finished_run::{Controller, FinishedRun, end_session};

/// How many jobs there may be.
#[derive(Clone, Copy, Debug)]
pub struct JobLimits {
    /// So many at once.
    pub count: usize,
    /// One that has run for so long is ended; one that has ended so long ago is forgotten.
    pub age: Duration,
}

impl Default for JobLimits {
    /// 64 jobs, 24 hours.
    fn default() -> JobLimits {
        JobLimits { count: 64, age: Duration::from_secs(24 * 3600) }
    }
}

/// Ended jobs are remembered until so many others have ended.
const MAX_ENDED_JOBS: usize = 64;

/// A script that was started.
#[derive(Debug)]
pub(crate) struct ScriptJob {
    pub(crate) id: String,
    pub(crate) number: u64,
    pub(crate) owner: u64,
    pub(crate) script: String,
    pub(crate) started: Instant,
    pub(crate) controller: Controller,
    /// Masks the keys of its environment.
    pub(crate) redactor: Arc<Redactor>,
    /// How much of each output was shown.
    seen: Mutex<Vec<u64>>,
    end: watch::Receiver<Option<Arc<FinishedRun>>>,
    /// Held by whoever ends it, so that others who want that wait.
    ending: tokio::sync::Mutex<()>,
    /// How many calls wait for it.
    waiting: AtomicUsize,
}

impl ScriptJob {
    pub(crate) fn new(
        number: u64,
        owner: u64,
        script: &str,
        redactor: Arc<Redactor>,
        controller: Controller,
        end: watch::Receiver<Option<Arc<FinishedRun>>>,
    ) -> ScriptJob {
        let seen = Mutex::new(vec![0; controller.captured().all().count()]);
        let id = format!("j{number}");
        let script = script.to_owned();
        ScriptJob {
            id,
            number,
            owner,
            script,
            started: Instant::now(),
            controller,
            redactor,
            seen,
            end,
            ending: tokio::sync::Mutex::default(),
            waiting: AtomicUsize::new(0),
        }
    }

    /// What it writes: a name for each stream, and the stream.
    pub(crate) fn streams(&self) -> Vec<(&'static str, Output)> {
        let captured = self.controller.captured();
        let named =
            [("stdout", &captured.stdout), ("stderr", &captured.stderr), ("output", &captured.output)];
        named.into_iter().filter_map(|(name, output)| Some((name, output.clone()?))).collect()
    }

    /// How it ended, if it has.
    pub(crate) fn ended(&self) -> Option<Arc<FinishedRun>> {
        self.end.borrow().clone()
    }

    /// Whether anything of it still runs: the script itself, or what it has left in the background.
    pub(crate) fn is_alive(&self) -> bool {
        self.ended().is_none_or(|ended| !ended.left_running().is_empty())
    }

    /// Its processes.
    pub(crate) fn processes(&self) -> Vec<i32> {
        self.ended().map_or_else(|| self.controller.members(), |ended| ended.left_running())
    }

    /// Ends it, with everything it has started, and waits until nothing is left. `grace` replaces the time its processes
    /// have to end by themselves.
    pub(crate) async fn finish(&self, grace: Option<Duration>) {
        self.controller.cancel();
        let _ending = self.ending.lock().await;
        if let Some(session) = self.end().await.and_then(|ended| ended.take_session()) {
            let _ = tokio::task::spawn_blocking(move || end_session(session, grace)).await;
        }
    }

    /// Waits for its end.
    pub(crate) async fn end(&self) -> Option<Arc<FinishedRun>> {
        self.end.clone().wait_for(Option::is_some).await.ok()?.clone()
    }

    /// Counts as waited for as long as the value is there.
    pub(crate) fn wait(&self) -> WaitGuard<'_> {
        self.waiting.fetch_add(1, Ordering::Relaxed);
        WaitGuard(self)
    }

    /// Whether a call waits for it, which will say how it ended.
    pub(crate) fn is_waited_for(&self) -> bool {
        self.waiting.load(Ordering::Relaxed) > 0
    }

    /// How much of each stream was shown.
    pub(crate) fn seen(&self) -> Vec<u64> {
        self.seen.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Takes note of how much of each stream was shown.
    pub(crate) fn set_seen(&self, seen: Vec<u64>) {
        *self.seen.lock().unwrap_or_else(PoisonError::into_inner) = seen;
    }

    /// The script in one line, for a list.
    pub(crate) fn title(&self) -> String {
        title(&self.redactor.text(&self.script))
    }
}

/// A call that waits for a job.
#[derive(Debug)]
pub(crate) struct WaitGuard<'a>(&'a ScriptJob);

impl Drop for WaitGuard<'_> {
    fn drop(&mut self) {
        self.0.waiting.fetch_sub(1, Ordering::Relaxed);
    }
}

/// A script in one line.
pub(crate) fn title(script: &str) -> String {
    const MAX_TITLE_CHARS: usize = 80;
    let line = script.trim().lines().next().unwrap_or_default();
    match line.char_indices().nth(MAX_TITLE_CHARS) {
        Some((cut, _)) => format!("{}…", &line[..cut]),
        None if script.trim().lines().nth(1).is_some() => format!("{line} …"),
        None => line.to_owned(),
    }
}

/// All jobs.
#[derive(Debug)]
pub(crate) struct JobTable {
    limits: JobLimits,
    table: Mutex<BTreeMap<u64, Arc<ScriptJob>>>,
}

impl JobTable {
    pub(crate) fn new(limits: JobLimits) -> JobTable {
        JobTable { limits, table: Mutex::default() }
    }

    /// Whether another job may start.
    pub(crate) fn check_room(&self) -> Result<(), String> {
        let running = self.lock().values().filter(|job| job.is_alive()).count();
        if running < self.limits.count {
            return Ok(());
        }
        Err(format!("{running} jobs are running, no more are started\nhint: end some with the tool \"job\""))
    }

    pub(crate) fn insert(&self, job: Arc<ScriptJob>) {
        let mut table = self.lock();
        table.insert(job.number, job);
        let ended: Vec<u64> = table.values().filter(|job| !job.is_alive()).map(|job| job.number).collect();
        for number in ended.iter().take(ended.len().saturating_sub(MAX_ENDED_JOBS)) {
            table.remove(number);
        }
    }

    /// Forgets a job.
    pub(crate) fn remove(&self, job: &ScriptJob) {
        self.lock().remove(&job.number);
    }

    /// The job of this name.
    pub(crate) fn get(&self, id: &str) -> Result<Arc<ScriptJob>, String> {
        let table = self.lock();
        if let Some(job) = table.values().find(|job| job.id == id) {
            return Ok(job.clone());
        }
        let ids: Vec<&str> = table.values().map(|job| job.id.as_str()).collect();
        let known = if ids.is_empty() {
            "there are none".to_owned()
        } else {
            format!("there are {}", ids.join(", "))
        };
        Err(format!("there is no job \"{id}\"\nhint: {known}"))
    }

    /// All of them, in the order they were started.
    pub(crate) fn list(&self) -> Vec<Arc<ScriptJob>> {
        self.lock().values().cloned().collect()
    }

    /// Takes out those that were started too long ago. Others that have ended stay, since nobody may have asked yet how.
    pub(crate) fn take_old(&self, now: Instant) -> Vec<Arc<ScriptJob>> {
        self.take(|job| now.saturating_duration_since(job.started) >= self.limits.age)
    }

    /// Takes out some, for them to be ended.
    pub(crate) fn take(&self, which: impl Fn(&ScriptJob) -> bool) -> Vec<Arc<ScriptJob>> {
        self.lock().extract_if(.., |_, job| which(job)).map(|(_, job)| job).collect()
    }

    fn lock(&self) -> MutexGuard<'_, BTreeMap<u64, Arc<ScriptJob>>> {
        self.table.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
