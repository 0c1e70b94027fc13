//! The registry: all tools, found in the background, called by name.

mod find;
mod scan;

use std::fmt;
use std::os::fd::OwnedFd;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;
use std::time::Duration;

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
use crate::tool::{Tool, ToolFile, ToolSource};

/// How a registry finds and calls tools.
#[derive(Clone, Debug)]
pub struct RegistryOptions {
    /// How long a tool may take to answer `--schema`.
    pub schema_timeout: Duration,
    /// How long a call may take if neither it nor the tool says.
    pub timeout: Duration,
    /// How many bytes a result may have if the tool does not say.
    pub output_limit: u64,
    /// What this process was started with; tools see of it only what they name and what every program needs.
    pub environment: Arc<Environment>,
    /// Variables that sessions do not have, and tools only if they name them.
    pub withheld: Arc<Environment>,
    /// Where calls are made from that do not say.
    pub directory: PathBuf,
    /// Tools that run in this process.
    pub natives: Vec<Arc<dyn NativeTool>>,
    /// Directories that have to be asked which tools they have.
    pub providers: Vec<Arc<dyn ToolProvider>>,
    /// Nobody wants to know any more what is still being asked when this is cancelled.
    pub cancel: CancelToken,
}

impl Default for RegistryOptions {
    /// 1 s for a schema, 30 s for a call, 1 MiB of result, no environment, the root directory, no native tools.
    fn default() -> RegistryOptions {
        RegistryOptions {
            schema_timeout: Duration::from_secs(1),
            timeout: Duration::from_secs(30),
            output_limit: 1 << 20,
            environment: Arc::default(),
            withheld: Arc::default(),
            directory: PathBuf::from("/"),
            natives: Vec::new(),
            providers: Vec::new(),
            cancel: CancelToken::new(),
        }
    }
}

/// All tools. Clones share everything; with the last one, whatever is still being asked ends.
#[derive(Clone, Debug)]
pub struct Registry(Arc<RegistryHandle>);

/// What the handles share, and the thread that looks for tools beside them.
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
    /// The files that the last look has seen.
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
    /// A registry of the tools in these places. Nothing is looked at yet.
    pub fn open(host: Host, places: &Directories, trust: TrustStore, options: RegistryOptions) -> Registry {
        let cancel = options.cancel.child();
        let ask = SchemaProbe {
            host: host.clone(),
            inherited: options.environment.clone(),
            timeout: options.schema_timeout,
            cancel: cancel.clone(),
        };
        let cache = places.cache.as_ref().map(|cache| cache.join("tools.json"));
        let natives: Vec<Tool> = options
            .natives
            .iter()
            .map(|native| Tool::new(native.descriptor(), ToolSource::Native(native.clone())))
            .collect();
        let snapshot = ToolSnapshot::of_natives(&natives);
        let inner = RegistryState {
            host,
            directories: places.tool_directories(),
            inspector: ToolInspector::new(ask, trust, cache),
            natives,
            providers: ToolProviders::new(&options.providers),
            options,
            snapshot: Mutex::new(Arc::new(snapshot)),
            seen: Mutex::default(),
            published: Condvar::new(),
            subscribers: Mutex::default(),
            outputs: KeptOutputs::new(places.cache.as_ref().map(|cache| cache.join("outputs"))),
            cancel,
        };
        let inner = Arc::new(inner);
        inner.watch();
        Registry(Arc::new(RegistryHandle { inner, thread: Mutex::default() }))
    }

    /// Starts to look for all tools, beside whoever asks; once, whoever asks.
    pub fn start_discovery(&self) {
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
    pub fn snapshot(&self) -> Arc<ToolSnapshot> {
        lock(&self.0.inner.snapshot).clone()
    }

    /// All tools, once they are known; or those that are known when nobody wants to wait any more.
    pub fn wait_for_all(&self) -> Arc<ToolSnapshot> {
        const GLANCE: Duration = Duration::from_millis(20);
        loop {
            let snapshot = self.wait_for_all_within(GLANCE);
            if snapshot.is_complete() || self.0.inner.cancel.is_cancelled() {
                return snapshot;
            }
        }
    }

    /// The same, but waits no longer than this: then without what has not said yet which tools it has.
    pub fn wait_for_all_within(&self, limit: Duration) -> Arc<ToolSnapshot> {
        self.start_discovery();
        let snapshot = lock(&self.0.inner.snapshot);
        let unfinished = |snapshot: &mut Arc<ToolSnapshot>| !snapshot.is_complete();
        let waited = self.0.inner.published.wait_timeout_while(snapshot, limit, unfinished);
        waited.unwrap_or_else(PoisonError::into_inner).0.clone()
    }

    /// Looks for all tools again if files have come, gone or changed since, or were trusted.
    pub fn refresh_if_stale(&self) {
        if self.0.inner.is_stale() {
            self.0.inner.inspector.forget_refusals();
            self.0.inner.scan_files();
        }
    }

    /// Looks for all tools again. Calls that run keep the tools they started with.
    pub fn refresh(&self) -> Arc<ToolSnapshot> {
        self.0.inner.inspector.forget_refusals();
        self.0.inner.scan();
        self.snapshot()
    }

    /// Has a function called whenever the tools that can be called have changed.
    pub fn subscribe(&self, subscriber: impl Fn(&ToolSnapshot) + Send + Sync + 'static) {
        lock(&self.0.inner.subscribers).push(Box::new(subscriber));
    }

    /// The tool of a name, whether or not all others are known yet: only its own file is asked.
    ///
    /// # Errors
    /// [`ErrorCode::ToolNotFound`](crate::ErrorCode::ToolNotFound) with the nearest names, [`ErrorCode::NotTrusted`](crate::ErrorCode::NotTrusted), or [`ErrorCode::Disabled`](crate::ErrorCode::Disabled) with the reason.
    pub fn find(&self, name: &str) -> Result<Tool, CallError> {
        self.find_for(name, &CallOptions::default())
    }

    /// The same, for a call with these options: a server that does not say which tools it has is waited for as long as the call may
    /// take, and until it is cancelled.
    ///
    /// # Errors
    /// As [`find`](Registry::find), [`ErrorCode::ToolTimeout`](crate::ErrorCode::ToolTimeout) or [`ErrorCode::Cancelled`](crate::ErrorCode::Cancelled).
    pub fn find_for(&self, name: &str, options: &CallOptions) -> Result<Tool, CallError> {
        self.0.inner.find(name, options).map(|found| found.tool)
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

    pub(crate) fn inner(&self) -> &Arc<RegistryState> {
        &self.0.inner
    }
}

impl RegistryState {
    /// Has providers say when their tools have changed.
    fn watch(self: &Arc<RegistryState>) {
        for provider in &self.options.providers {
            let (inner, name) = (Arc::downgrade(self), provider.name().to_owned());
            provider.on_change(Box::new(move || {
                if let Some(inner) = inner.upgrade() {
                    inner.ask_again(&name);
                }
            }));
        }
    }

    /// What a provider has said is not so any more. Only where all tools were looked at before are they looked at again now.
    /// Whoever tells of it may be needed for an answer that somebody waits for, so that nothing is waited for here.
    fn ask_again(self: &Arc<RegistryState>, provider: &str) {
        let (inner, provider) = (self.clone(), provider.to_owned());
        let ask = move || {
            inner.providers.forget(&provider);
            if lock(&inner.snapshot).is_complete() {
                inner.scan();
            }
        };
        let _ = std::thread::Builder::new().name("tools".to_owned()).spawn(ask);
    }

    /// Asks a file anew, wherever it is.
    pub(crate) fn ask(&self, path: &Path, name: &str) -> Result<Tool, String> {
        self.inspector.ask(&ToolCandidate {
            name: name.to_owned(),
            layer: Layer::User,
            path: path.to_path_buf(),
        })
    }

    /// What to execute for a tool in place of its file.
    pub(crate) fn sealed(&self, file: &ToolFile) -> Result<Option<Arc<OwnedFd>>, SealError> {
        self.inspector.sealed(file)
    }

    /// Keeps an output addressable for a while.
    pub(crate) fn keep(&self, stream: &'static str, output: &Output) -> TruncatedOutput {
        let path = self.outputs.keep(output, stream);
        TruncatedOutput { stream, id: output.id().to_string(), total_bytes: output.total_bytes(), path }
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
