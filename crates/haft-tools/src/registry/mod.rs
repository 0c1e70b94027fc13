//! The registry of tools.

mod find;
mod scan;

use std::fmt;
use std::os::fd::OwnedFd;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use haft_config::trust::TrustStore;
use haft_config::{Directories, Layer};
use haft_process::capture::Output;
use haft_process::{CancelToken, Environment, Host};

use self::scan::SeenFile;
use crate::call::CallOptions;
use crate::discover::{self, SchemaProbe, SealError, ToolCandidate, ToolInspector};
use crate::envelope::{CallError, TruncatedOutput};
use crate::kept_outputs::KeptOutputs;
use crate::native::NativeTool;
use crate::provider::{ToolProvider, ToolProviders};
use crate::snapshot::ToolSnapshot;
use crate::sync::lock;
use crate::tool::{Tool, ToolFile, ToolSource, model_name};

/// Options of a registry.
#[derive(Clone, Debug)]
pub struct RegistryOptions {
    /// Time limit for `--schema`.
    pub schema_timeout: Duration,
    /// Default time limit of a call.
    pub timeout: Duration,
    /// Default maximum size of a result in bytes.
    pub output_limit: u64,
    /// Maximum of all time limits.
    pub longest_timeout: Option<Duration>,
    /// Maximum of all limits on the size of a result.
    pub largest_output: Option<u64>,
    /// Environment of this process. Tools see only the basic variables and those that they name.
    pub environment: Arc<Environment>,
    /// Variables that are withheld from sessions. Tools see those that they name.
    pub withheld: Arc<Environment>,
    /// Default working directory of calls.
    pub directory: PathBuf,
    /// Tools that run in this process.
    pub natives: Vec<Arc<dyn NativeTool>>,
    /// Providers of further tools.
    pub providers: Vec<Arc<dyn ToolProvider>>,
    /// Cancels in-flight schema probes.
    pub cancel: CancelToken,
}

impl Default for RegistryOptions {
    /// 1 s for a schema, 30 s for a call, a result of 1 MiB, an empty environment, the root directory, and no
    /// native tools.
    fn default() -> RegistryOptions {
        RegistryOptions {
            schema_timeout: Duration::from_secs(1),
            timeout: Duration::from_secs(30),
            output_limit: 1 << 20,
            longest_timeout: None,
            largest_output: None,
            environment: Arc::default(),
            withheld: Arc::default(),
            directory: PathBuf::from("/"),
            natives: Vec::new(),
            providers: Vec::new(),
            cancel: CancelToken::new(),
        }
    }
}

/// The registry of tools. Clones share their state. Dropping the last one cancels in-flight probes.
#[derive(Clone, Debug)]
pub struct Registry(Arc<RegistryHandle>);

/// Shared state and the discovery thread.
#[derive(Debug)]
struct RegistryHandle {
    inner: Arc<RegistryState>,
    thread: Mutex<Option<JoinHandle<()>>>,
}

pub(crate) struct RegistryState {
    pub(crate) host: Host,
    pub(crate) options: RegistryOptions,
    directories: Vec<(Layer, PathBuf)>,
    inspector: ToolInspector,
    natives: Vec<Tool>,
    providers: ToolProviders,
    snapshot: Mutex<Arc<ToolSnapshot>>,
    /// The files seen by the last scan.
    seen: Mutex<Vec<SeenFile>>,
    published: Condvar,
    subscribers: Mutex<Vec<Box<Subscriber>>>,
    pub(crate) outputs: KeptOutputs,
    pub(crate) cancel: CancelToken,
}

type Subscriber = dyn Fn(&ToolSnapshot) + Send + Sync;

impl fmt::Debug for RegistryState {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("Registry").field("directories", &self.directories).finish_non_exhaustive()
    }
}

impl Drop for RegistryHandle {
    fn drop(&mut self) {
        self.inner.cancel.cancel();
        if let Some(thread) = lock(&self.thread).take() {
            let _ = thread.join();
        }
    }
}

impl Registry {
    /// Opens a registry for the tools in these directories. Discovery does not start yet.
    pub fn open(
        host: Host,
        directories: &Directories,
        trust: TrustStore,
        options: RegistryOptions,
    ) -> Registry {
        let cancel = options.cancel.child();
        let schema_probe = SchemaProbe {
            host: host.clone(),
            inherited: options.environment.clone(),
            timeout: options.schema_timeout,
            cancel: cancel.clone(),
        };
        let cache = directories.cache.as_ref().map(|cache| cache.join("tools.json"));
        let natives: Vec<Tool> = options
            .natives
            .iter()
            .map(|native| Tool::new(native.descriptor(), ToolSource::Native(native.clone())))
            .collect();
        let snapshot = ToolSnapshot::of_natives(&natives);
        let inner = RegistryState {
            host,
            directories: directories.tool_directories(),
            inspector: ToolInspector::new(schema_probe, trust, cache),
            natives,
            providers: ToolProviders::new(&options.providers),
            options,
            snapshot: Mutex::new(Arc::new(snapshot)),
            seen: Mutex::default(),
            published: Condvar::new(),
            subscribers: Mutex::default(),
            outputs: KeptOutputs::new(directories.cache.as_ref().map(|cache| cache.join("outputs"))),
            cancel,
        };
        let inner = Arc::new(inner);
        inner.subscribe_to_providers();
        Registry(Arc::new(RegistryHandle { inner, thread: Mutex::default() }))
    }

    /// Starts discovery in the background. Later calls have no effect.
    pub fn start_discovery(&self) {
        let mut thread = lock(&self.0.thread);
        if thread.is_some() || self.snapshot().is_complete() {
            return;
        }
        let inner = self.0.inner.clone();
        let started = std::thread::Builder::new().name("tools".to_owned()).spawn(move || inner.scan());
        match started {
            Ok(started) => *thread = Some(started),
            // Without a thread, discovery runs here.
            Err(_) => self.0.inner.scan(),
        }
    }

    /// The tools known so far, without waiting.
    pub fn snapshot(&self) -> Arc<ToolSnapshot> {
        lock(&self.0.inner.snapshot).clone()
    }

    /// Waits for discovery and returns all tools. If cancelled, returns the tools known so far.
    pub fn wait_for_all(&self) -> Arc<ToolSnapshot> {
        self.wait_until(None)
    }

    /// Like [`wait_for_all`](Registry::wait_for_all), but waits at most `limit`. Tools of slow providers may be missing;
    /// these providers are among the [rejected](ToolSnapshot::rejected).
    pub fn wait_for_all_within(&self, limit: Duration) -> Arc<ToolSnapshot> {
        self.wait_until(Instant::now().checked_add(limit))
    }

    fn wait_until(&self, deadline: Option<Instant>) -> Arc<ToolSnapshot> {
        /// Interval between checks for cancellation.
        const CANCEL_CHECK_INTERVAL: Duration = Duration::from_millis(20);
        self.start_discovery();
        let inner = &self.0.inner;
        let mut snapshot = lock(&inner.snapshot);
        while !snapshot.is_complete() && !inner.cancel.is_cancelled() {
            let left =
                deadline.map_or(CANCEL_CHECK_INTERVAL, |end| end.saturating_duration_since(Instant::now()));
            if left.is_zero() {
                break;
            }
            let waited = inner.published.wait_timeout(snapshot, left.min(CANCEL_CHECK_INTERVAL));
            snapshot = waited.unwrap_or_else(PoisonError::into_inner).0;
        }
        let known = snapshot.clone();
        drop(snapshot);
        match known.is_complete() {
            true => known,
            false => Arc::new((*known).clone().with_rejected(inner.providers.unanswered())),
        }
    }

    /// Scans again if files were added, removed, changed or trusted since the last scan.
    pub fn refresh_if_stale(&self) {
        if self.0.inner.is_stale() {
            self.0.inner.inspector.forget_failures();
            self.0.inner.scan_files();
        }
    }

    /// Scans again. Running calls keep their tools.
    pub fn refresh(&self) -> Arc<ToolSnapshot> {
        self.forget_remembered();
        self.0.inner.scan();
        self.snapshot()
    }

    /// Forgets failed probes, and the tools of providers that an earlier process has remembered.
    pub fn forget_remembered(&self) {
        self.0.inner.inspector.forget_failures();
        self.0.inner.options.providers.iter().for_each(|provider| provider.forget_remembered());
    }

    /// Registers a function to call when the set of callable tools has changed.
    pub fn subscribe(&self, subscriber: impl Fn(&ToolSnapshot) + Send + Sync + 'static) {
        lock(&self.0.inner.subscribers).push(Box::new(subscriber));
    }

    /// Finds a tool by name. Probes only its own file and does not wait for discovery.
    ///
    /// # Errors
    /// Returns [`ErrorCode::ToolNotFound`](crate::ErrorCode::ToolNotFound) with similar names,
    /// [`ErrorCode::NotTrusted`](crate::ErrorCode::NotTrusted), or
    /// [`ErrorCode::Disabled`](crate::ErrorCode::Disabled) with the reason.
    pub fn find(&self, name: &str) -> Result<Tool, CallError> {
        self.find_for(name, &CallOptions::default())
    }

    /// Like [`find`](Registry::find), but applies the time limit and cancellation of a call while waiting for
    /// providers.
    ///
    /// # Errors
    /// Fails as [`find`](Registry::find), or with [`ErrorCode::ToolTimeout`](crate::ErrorCode::ToolTimeout)
    /// or [`ErrorCode::Cancelled`](crate::ErrorCode::Cancelled).
    pub fn find_for(&self, name: &str, options: &CallOptions) -> Result<Tool, CallError> {
        self.0.inner.find(name, options).map(|found| found.tool)
    }

    /// Returns true if a tool of this name may exist, without probing it.
    pub fn has(&self, name: &str) -> bool {
        let inner = &self.0.inner;
        inner.natives.iter().any(|tool| tool.name() == name)
            || inner.providers.may_have(name)
            || !discover::scan_for(name, &inner.directories).is_empty()
    }

    /// The name of the tool that has this [name for models](crate::model_name). It may be the name itself.
    pub fn name_of_model_name(&self, name: &str) -> Option<String> {
        if self.has(name) && model_name(name) == name {
            return Some(name.to_owned());
        }
        let known = || self.names().into_iter().find(|known| model_name(known) == name);
        let of_server = || {
            let (server, tool) = name.split_once("__")?;
            Some(format!("{server}.{tool}")).filter(|full| self.0.inner.providers.may_have(full))
        };
        known().or_else(of_server).or_else(|| {
            self.wait_for_all();
            known()
        })
    }

    /// The file of highest precedence for a tool's name, whether it works or not.
    pub fn file_of(&self, name: &str) -> Option<PathBuf> {
        let candidates = discover::scan_for(&name.replace('-', "_"), &self.0.inner.directories);
        candidates.into_iter().next().map(|candidate| candidate.path)
    }

    /// The names of all tools that may exist, without probing them.
    pub fn names(&self) -> Vec<String> {
        self.0.inner.names()
    }

    /// Finds a truncated output by its id. It may come from another registry that used the same cache within
    /// the last day.
    pub fn output(&self, id: &str) -> Option<Output> {
        self.0.inner.outputs.get(id)
    }

    pub(crate) fn inner(&self) -> &Arc<RegistryState> {
        &self.0.inner
    }
}

impl RegistryState {
    /// Subscribes to changes of the providers' tools.
    fn subscribe_to_providers(self: &Arc<RegistryState>) {
        for provider in &self.options.providers {
            let (inner, name) = (Arc::downgrade(self), provider.name().to_owned());
            provider.on_change(Box::new(move || {
                if let Some(inner) = inner.upgrade() {
                    inner.provider_changed(&name);
                }
            }));
        }
    }

    /// Handles a change of a provider's tools: scans again, or queries only this provider if the first scan still runs and
    /// will publish its answer. This runs on its own thread because the caller may be needed to deliver answers.
    fn provider_changed(self: &Arc<RegistryState>, provider: &str) {
        let (inner, provider) = (self.clone(), provider.to_owned());
        let rescan = move || {
            if lock(&inner.snapshot).is_complete() {
                inner.providers.forget(&provider);
                inner.scan();
            } else {
                inner.providers.query_again(&provider, &inner.cancel);
            }
        };
        let _ = std::thread::Builder::new().name("tools".to_owned()).spawn(rescan);
    }

    /// Probes a file anywhere, without the cache.
    pub(crate) fn probe_uncached(&self, path: &Path, name: &str) -> Result<Tool, String> {
        self.inspector.probe_uncached(&ToolCandidate {
            name: name.to_owned(),
            layer: Layer::User,
            path: path.to_path_buf(),
        })
    }

    /// The sealed copy to execute for a tool, if it needs one.
    pub(crate) fn sealed(&self, file: &ToolFile) -> Result<Option<Arc<OwnedFd>>, SealError> {
        self.inspector.sealed(file)
    }

    /// Keeps an output and describes it for the envelope.
    pub(crate) fn keep(&self, stream: &'static str, output: &Output) -> TruncatedOutput {
        let path = self.outputs.keep(output, stream);
        TruncatedOutput { stream, id: output.id().to_string(), total_bytes: output.total_bytes(), path }
    }
}
