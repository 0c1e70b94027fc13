//! The registry: all tools, found in the background, called by name.

use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;
use std::time::Duration;

use haft_config::trust::Trust;
use haft_config::{Layer, Places};
use haft_process::capture::Output;
use haft_process::{CancelToken, Environment, Host};

use crate::discover::{self, Ask, Candidate, Probe, Prober, Stamp};
use crate::envelope::{Code, Fault, Truncated};
use crate::native::Native;
use crate::outputs::Outputs;
use crate::provider::{Provider, Providers};
use crate::snapshot::{Rejected, Snapshot};
use crate::tool::{Source, Tool};

/// How a registry finds and calls tools.
#[derive(Clone, Debug)]
pub struct Options {
    /// How long a tool may take to answer `--schema`.
    pub schema_timeout: Duration,
    /// How long a call may take if neither it nor the tool says.
    pub timeout: Duration,
    /// How many bytes a result may have if the tool does not say.
    pub output_limit: u64,
    /// What this process was started with; tools see of it only what they name and what every program needs.
    pub environment: Arc<Environment>,
    /// Where calls are made from that do not say.
    pub directory: PathBuf,
    /// Tools that run in this process.
    pub natives: Vec<Arc<dyn Native>>,
    /// Places that have to be asked which tools they have.
    pub providers: Vec<Arc<dyn Provider>>,
    /// Nobody wants to know any more what is still being asked when this is cancelled.
    pub cancel: CancelToken,
}

impl Default for Options {
    /// 1 s for a schema, 30 s for a call, 1 MiB of result, no environment, the root directory, no native tools.
    fn default() -> Options {
        Options {
            schema_timeout: Duration::from_secs(1),
            timeout: Duration::from_secs(30),
            output_limit: 1 << 20,
            environment: Arc::default(),
            directory: PathBuf::from("/"),
            natives: Vec::new(),
            providers: Vec::new(),
            cancel: CancelToken::new(),
        }
    }
}

/// All tools. Clones share everything; with the last one, whatever is still being asked ends.
#[derive(Clone, Debug)]
pub struct Registry(Arc<Owner>);

/// What the handles share, and the thread that looks for tools beside them.
#[derive(Debug)]
struct Owner {
    inner: Arc<Inner>,
    thread: Mutex<Option<JoinHandle<()>>>,
}

pub(crate) struct Inner {
    pub(crate) host: Host,
    pub(crate) options: Options,
    directories: Vec<(Layer, PathBuf)>,
    prober: Prober,
    natives: Vec<Tool>,
    providers: Providers,
    snapshot: Mutex<Arc<Snapshot>>,
    /// The files that the last look has seen.
    seen: Mutex<Vec<Sight>>,
    published: Condvar,
    subscribers: Mutex<Vec<Box<Subscriber>>>,
    pub(crate) outputs: Outputs,
    pub(crate) cancel: CancelToken,
}

/// A tool, and what has its name, stands before it and is none.
#[derive(Clone, Debug)]
pub(crate) struct Found {
    pub(crate) tool: Tool,
    passed_over: Option<Rejected>,
}

impl Found {
    /// What the caller should know about it.
    pub(crate) fn note(&self) -> Option<String> {
        let rejected = self.passed_over.as_ref()?;
        let (name, reason) = (&rejected.name, &rejected.reason);
        let path = rejected.path.as_ref()?.display();
        let used = self.tool.layer();
        Some(format!("'{path}' is passed over ({reason}), and '{name}' of the {used} layer is called"))
    }
}

/// A file as it was when it was looked at.
type Sight = (PathBuf, Option<Stamp>);

type Subscriber = dyn Fn(&Snapshot) + Send + Sync;

impl fmt::Debug for Inner {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("Registry").field("directories", &self.directories).finish_non_exhaustive()
    }
}

impl Drop for Owner {
    fn drop(&mut self) {
        self.inner.cancel.cancel();
        if let Some(thread) = lock(&self.thread).take() {
            let _ = thread.join();
        }
    }
}

impl Registry {
    /// A registry of the tools in these places. Nothing is looked at yet.
    pub fn open(host: Host, places: &Places, trust: Trust, options: Options) -> Registry {
        let cancel = options.cancel.child();
        let ask = Ask {
            host: host.clone(),
            inherited: options.environment.clone(),
            timeout: options.schema_timeout,
            cancel: cancel.clone(),
        };
        let cache = places.cache.as_ref().map(|cache| cache.join("tools.json"));
        let natives: Vec<Tool> = options
            .natives
            .iter()
            .map(|native| Tool::new(native.descriptor(), Source::Native(native.clone())))
            .collect();
        let snapshot = Snapshot::of_natives(&natives);
        let inner = Inner {
            host,
            directories: places.tools(),
            prober: Prober::new(ask, trust, cache),
            natives,
            providers: Providers::new(&options.providers),
            options,
            snapshot: Mutex::new(Arc::new(snapshot)),
            seen: Mutex::default(),
            published: Condvar::new(),
            subscribers: Mutex::default(),
            outputs: Outputs::new(places.cache.as_ref().map(|cache| cache.join("outputs"))),
            cancel,
        };
        let inner = Arc::new(inner);
        inner.watch();
        Registry(Arc::new(Owner { inner, thread: Mutex::default() }))
    }

    /// Starts to look for all tools, beside whoever asks; once, whoever asks.
    pub fn discover(&self) {
        let mut thread = lock(&self.0.thread);
        if thread.is_some() || self.snapshot().is_complete() {
            return;
        }
        let inner = self.0.inner.clone();
        let started = std::thread::Builder::new().name("tools".to_owned()).spawn(move || inner.scan());
        match started {
            Ok(started) => *thread = Some(started),
            // Without a thread to be had, whoever asks waits.
            Err(_) => self.0.inner.scan(),
        }
    }

    /// All tools as far as they are known by now, without waiting.
    pub fn snapshot(&self) -> Arc<Snapshot> {
        lock(&self.0.inner.snapshot).clone()
    }

    /// All tools, once they are known; or those that are known when nobody wants to wait any more.
    pub fn complete(&self) -> Arc<Snapshot> {
        const GLANCE: Duration = Duration::from_millis(20);
        loop {
            let snapshot = self.complete_within(GLANCE);
            if snapshot.is_complete() || self.0.inner.cancel.is_cancelled() {
                return snapshot;
            }
        }
    }

    /// The same, but waits no longer than this: then without what has not said yet which tools it has.
    pub fn complete_within(&self, limit: Duration) -> Arc<Snapshot> {
        self.discover();
        let snapshot = lock(&self.0.inner.snapshot);
        let unfinished = |snapshot: &mut Arc<Snapshot>| !snapshot.is_complete();
        let waited = self.0.inner.published.wait_timeout_while(snapshot, limit, unfinished);
        waited.unwrap_or_else(PoisonError::into_inner).0.clone()
    }

    /// Looks for all tools again if files have come, gone or changed since, or were trusted.
    pub fn refresh_if_stale(&self) {
        if self.0.inner.is_stale() {
            self.0.inner.prober.forget_refusals();
            self.0.inner.scan_files();
        }
    }

    /// Looks for all tools again. Calls that run keep the tools they started with.
    pub fn refresh(&self) -> Arc<Snapshot> {
        self.0.inner.prober.forget_refusals();
        self.0.inner.scan();
        self.snapshot()
    }

    /// Has a function called whenever the tools that can be called have changed.
    pub fn subscribe(&self, subscriber: impl Fn(&Snapshot) + Send + Sync + 'static) {
        lock(&self.0.inner.subscribers).push(Box::new(subscriber));
    }

    /// The tool of a name, whether or not all others are known yet: only its own file is asked.
    ///
    /// # Errors
    /// [`Code::ToolNotFound`] with the nearest names, [`Code::NotTrusted`], or [`Code::Disabled`] with the reason.
    pub fn find(&self, name: &str) -> Result<Tool, Fault> {
        self.find_unless(name, &self.0.inner.cancel)
    }

    /// The same, unless nobody wants to know any more before a server has said which tools it has.
    ///
    /// # Errors
    /// As [`find`](Registry::find), or [`Code::Cancelled`].
    pub fn find_unless(&self, name: &str, cancel: &CancelToken) -> Result<Tool, Fault> {
        self.0.inner.find(name, cancel).map(|found| found.tool)
    }

    /// Whether a name is a tool's, without asking it.
    pub fn has(&self, name: &str) -> bool {
        let inner = &self.0.inner;
        inner.natives.iter().any(|tool| tool.name() == name)
            || inner.providers.may_have(name)
            || !discover::scan_for(name, &inner.directories).is_empty()
    }

    /// The names of all there may be, without asking anybody.
    pub fn names(&self) -> Vec<String> {
        self.0.inner.names()
    }

    /// An output of a call that was not shown whole, by the name that the envelope gives: of this registry, or of one that
    /// had the same cache within the last day.
    pub fn output(&self, id: &str) -> Option<Output> {
        self.0.inner.outputs.get(id)
    }

    pub(crate) fn inner(&self) -> &Arc<Inner> {
        &self.0.inner
    }
}

impl Inner {
    /// Has providers say when their tools have changed.
    fn watch(self: &Arc<Inner>) {
        for provider in &self.options.providers {
            let (inner, name) = (Arc::downgrade(self), provider.name().to_owned());
            provider.watch(Box::new(move || {
                if let Some(inner) = inner.upgrade() {
                    inner.ask_again(&name);
                }
            }));
        }
    }

    /// What a provider has said is not so any more. Only where all tools were looked at before are they looked at again now.
    /// Whoever tells of it may be needed for an answer that somebody waits for, so that nothing is waited for here.
    fn ask_again(self: &Arc<Inner>, provider: &str) {
        let (inner, provider) = (self.clone(), provider.to_owned());
        let ask = move || {
            inner.providers.forget(&provider);
            if lock(&inner.snapshot).is_complete() {
                inner.scan();
            }
        };
        let _ = std::thread::Builder::new().name("tools".to_owned()).spawn(ask);
    }

    /// Asks all candidates and all providers, and publishes what they are and have. The first time files need not wait for
    /// providers, some of which may never answer.
    fn scan(&self) {
        let (seen, probes) = self.probe_all();
        if !self.providers.is_empty() && !lock(&self.snapshot).is_complete() {
            self.publish(Snapshot::of_probes(&self.natives, probes.clone()).incomplete());
        }
        let (provided, faults) = self.providers.ask_all(&self.cancel);
        self.publish_all(seen, probes, provided, faults);
    }

    /// Asks all candidates again, and believes what providers have said before.
    fn scan_files(&self) {
        let (seen, probes) = self.probe_all();
        let (provided, faults) = self.providers.known();
        self.publish_all(seen, probes, provided, faults);
    }

    fn publish_all(
        &self,
        seen: Vec<Sight>,
        probes: Vec<(Candidate, Probe)>,
        provided: Vec<Tool>,
        faults: Vec<Rejected>,
    ) {
        *lock(&self.seen) = seen;
        let natives: Vec<Tool> = self.natives.iter().cloned().chain(provided).collect();
        self.publish(Snapshot::of_probes(&natives, probes).with_rejected(faults));
    }

    /// Whether all tools were looked at, and a look would show something else now.
    fn is_stale(&self) -> bool {
        let snapshot = lock(&self.snapshot).clone();
        let candidates = discover::scan(&self.directories);
        let untrusted = |candidate: &&Candidate| {
            let is_it =
                |rejected: &Rejected| rejected.untrusted && rejected.path.as_ref() == Some(&candidate.path);
            snapshot.rejected().iter().any(is_it)
        };
        let is_trusted = |candidate: &Candidate| !matches!(self.prober.probe(candidate), Probe::Untrusted);
        snapshot.is_complete()
            && (sights(&candidates) != *lock(&self.seen)
                || candidates.iter().filter(untrusted).any(is_trusted))
    }

    /// Asks all candidates, several at a time.
    fn probe_all(&self) -> (Vec<Sight>, Vec<(Candidate, Probe)>) {
        let candidates = discover::scan(&self.directories);
        let seen = sights(&candidates);
        let next = AtomicUsize::new(0);
        let found: Vec<Mutex<Option<Probe>>> = candidates.iter().map(|_| Mutex::new(None)).collect();
        let work = || {
            while let Some(index) =
                Some(next.fetch_add(1, Ordering::Relaxed)).filter(|index| *index < found.len())
            {
                *lock(&found[index]) = Some(self.prober.probe(&candidates[index]));
            }
        };
        std::thread::scope(|threads| {
            for _ in 1..width().min(candidates.len()) {
                let _ = std::thread::Builder::new().name("tools".to_owned()).spawn_scoped(threads, work);
            }
            work();
        });
        let probes =
            found.into_iter().map(|probe| probe.into_inner().unwrap_or_else(PoisonError::into_inner));
        let probes =
            candidates.into_iter().zip(probes).filter_map(|(one, probe)| Some((one, probe?))).collect();
        self.prober.save();
        (seen, probes)
    }

    fn publish(&self, snapshot: Snapshot) {
        let snapshot = Arc::new(snapshot);
        let old = std::mem::replace(&mut *lock(&self.snapshot), snapshot.clone());
        self.published.notify_all();
        if old.differs(&snapshot) {
            lock(&self.subscribers).iter().for_each(|subscriber| subscriber(&snapshot));
        }
    }

    /// Asks a file anew, wherever it is.
    pub(crate) fn ask(&self, path: &Path, name: &str) -> Result<Tool, String> {
        self.prober.ask(&Candidate { name: name.to_owned(), layer: Layer::User, path: path.to_path_buf() })
    }

    pub(crate) fn find(&self, name: &str, cancel: &CancelToken) -> Result<Found, Fault> {
        let mut refused: Option<Rejected> = None;
        for candidate in discover::scan_for(name, &self.directories) {
            let probe = self.prober.probe(&candidate);
            // Whoever asks may end without letting go of the registry.
            self.prober.save();
            match probe {
                Probe::Accepted(tool) => return Ok(Found { tool, passed_over: refused }),
                _ => refused = refused.or_else(|| Rejected::new(&candidate, &probe)),
            }
        }
        if let Some(native) = self.natives.iter().find(|tool| tool.name() == name) {
            return Ok(Found { tool: native.clone(), passed_over: refused });
        }
        match self.providers.find(name, cancel) {
            Ok(Some(tool)) => Ok(Found { tool, passed_over: refused }),
            _ if cancel.is_cancelled() => Err(Fault::new(Code::Cancelled, "the call was cancelled")),
            Err(error) if refused.is_none() => Err(Fault::new(Code::SpawnFailed, error)),
            _ => Err(self.missing(name, refused)),
        }
    }

    fn missing(&self, name: &str, refused: Option<Rejected>) -> Fault {
        match refused {
            None => {
                if let Some(path) = discover::not_executable(name, &self.directories) {
                    let path = path.display();
                    let error = format!(
                        "there is no tool '{name}': '{path}' is not executable; run `chmod +x '{path}'`"
                    );
                    return Fault::new(Code::ToolNotFound, error);
                }
                let names = self.names();
                let near = haft_config::all_nearest(name, names.iter().map(String::as_str));
                let hint = match near.as_slice() {
                    [] => String::new(),
                    near => format!("; did you mean '{}'?", near.join("' or '")),
                };
                Fault::new(Code::ToolNotFound, format!("there is no tool '{name}'{hint}"))
            }
            Some(rejected) if rejected.untrusted => Fault::new(
                Code::NotTrusted,
                format!(
                    "tool '{name}' of this project is not trusted{}; to trust it run `haft trust`",
                    rejected.path.map_or(String::new(), |path| format!(": '{}'", path.display()))
                ),
            ),
            Some(rejected) => Fault::new(
                Code::Disabled,
                format!(
                    "tool '{name}' was rejected: {}{}",
                    rejected.reason,
                    rejected.path.map_or(String::new(), |path| format!(" ('{}')", path.display()))
                ),
            ),
        }
    }

    fn names(&self) -> Vec<String> {
        let found = discover::scan(&self.directories).into_iter().map(|candidate: Candidate| candidate.name);
        let mut names: Vec<String> =
            self.natives.iter().map(|tool| tool.name().to_owned()).chain(found).collect();
        names.extend(self.providers.names());
        names.sort();
        names.dedup();
        names
    }

    /// Keeps an output addressable for a while.
    pub(crate) fn keep(&self, stream: &'static str, output: &Output) -> Truncated {
        let path = self.outputs.keep(output);
        Truncated { stream, id: output.id().to_string(), total_bytes: output.total_bytes(), path }
    }
}

fn sights(candidates: &[Candidate]) -> Vec<Sight> {
    candidates.iter().map(|candidate| (candidate.path.clone(), Stamp::of(&candidate.path).ok())).collect()
}

/// How many tools are asked at once. Some compute and some wait; with too many at once, those that compute would need longer
/// than they are given.
fn width() -> usize {
    std::thread::available_parallelism().map_or(8, |cores| (cores.get() * 4).clamp(8, 32))
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
