//! Tool calls.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use haft_process::{CancelToken, Environment, StartPermission};
use serde_json::Value;

use crate::envelope::{CallError, Envelope, ErrorCode};
use crate::environment::for_tool;
use crate::exact;
use crate::native::{CallContext, CallProgress, NativeTool};
use crate::registry::{Registry, RegistryState};
use crate::run;
use crate::text;
use crate::tool::{Tool, ToolSource};
use crate::toolset::Toolset;

/// Options of one call.
#[derive(Clone, Debug, Default)]
pub struct CallOptions {
    /// Working directory. Default: the registry's directory.
    pub directory: Option<PathBuf>,
    /// Environment of the calling session. Default: the registry's environment.
    pub environment: Option<Arc<Environment>>,
    /// Time limit. Overrides the tool's own.
    pub timeout: Option<Duration>,
    /// Cancels the call.
    pub cancel: Option<CancelToken>,
    /// Restricts the call to the tools of a toolset.
    pub toolset: Option<Toolset>,
    /// Maximum size of the result in bytes. Overrides the tool's own.
    pub output_limit: Option<u64>,
}

/// A call that can run: the tool, and arguments that match its schema.
#[derive(Clone, Debug)]
pub(crate) struct PreparedCall {
    pub(crate) tool: Tool,
    pub(crate) arguments: Value,
    pub(crate) note: Option<String>,
}

impl Registry {
    /// Calls a tool and waits for the result.
    ///
    /// ```
    /// use haft_config::{Directories, trust::TrustStore};
    /// use haft_tools::{CallOptions, ErrorCode, RegistryOptions, Registry, core_tools};
    /// use serde_json::json;
    ///
    /// let options = RegistryOptions { natives: core_tools(&Default::default()), ..RegistryOptions::default() };
    /// let registry = Registry::open(haft_process::Host::plain(), &Directories::default(), TrustStore::open(None), options);
    /// let envelope = registry.call("glob", json!({"pattern": "*.toml", "path": env!("CARGO_MANIFEST_DIR")}), &CallOptions::default());
    /// assert_eq!(envelope.outcome.unwrap()["total"], 1);
    ///
    /// let envelope = registry.call("globb", json!({}), &CallOptions::default());
    /// assert_eq!(envelope.code(), Some(ErrorCode::ToolNotFound));
    /// ```
    pub fn call(&self, name: &str, arguments: Value, options: &CallOptions) -> Envelope {
        self.call_with_progress(name, arguments, options, &|_| ())
    }

    /// Like [`call`](Registry::call), and passes progress reports of the tool to a function.
    pub fn call_with_progress(
        &self,
        name: &str,
        arguments: Value,
        options: &CallOptions,
        progress: &(dyn Fn(&CallProgress) + Sync),
    ) -> Envelope {
        let start = Instant::now();
        let mut envelope = match self.prepare(name, arguments, options) {
            Ok(ready) => self.run(&ready, options, progress),
            Err(error) => Envelope::failure(error),
        };
        envelope.duration = start.elapsed();
        envelope
    }

    /// Finds the tool and validates the arguments.
    pub(crate) fn prepare(
        &self,
        name: &str,
        mut arguments: Value,
        options: &CallOptions,
    ) -> Result<PreparedCall, CallError> {
        if let Some(toolset) = options.toolset.as_ref().filter(|toolset| !toolset.allows(name)) {
            let error = format!("tool '{name}' is not in the toolset '{}'", toolset.name());
            return Err(CallError::new(ErrorCode::Disabled, error));
        }
        let found = self.inner().find(name, options)?;
        let note = found.note();
        let tool = found.tool;
        if !arguments.is_object() {
            let given = text::kind(&arguments);
            let error = format!("the arguments of '{name}' must be an object, got {given}");
            return Err(CallError::invalid(error));
        }
        let schema = tool.parameters();
        schema.fill_defaults(&mut arguments);
        schema.validate(&exact::rounded(&arguments)).map_err(|error| schema.invalid(&error))?;
        Ok(PreparedCall { tool, arguments, note })
    }

    pub(crate) fn run(
        &self,
        ready: &PreparedCall,
        options: &CallOptions,
        progress: &(dyn Fn(&CallProgress) + Sync),
    ) -> Envelope {
        let mut envelope = self.run_tool(ready, options, progress);
        envelope.notes.extend(ready.note.clone());
        envelope
    }

    fn run_tool(
        &self,
        ready: &PreparedCall,
        options: &CallOptions,
        progress: &(dyn Fn(&CallProgress) + Sync),
    ) -> Envelope {
        let inner = self.inner();
        let tool = &ready.tool;
        let session = options.environment.as_ref().unwrap_or(&inner.options.environment);
        let settings = CallSettings {
            directory: options.directory.as_ref().unwrap_or(&inner.options.directory).clone(),
            environment: match tool.source() {
                ToolSource::File(_) => {
                    let named = &tool.descriptor().env;
                    let (inherited, withheld) = (&inner.options.environment, &inner.options.withheld);
                    Arc::new(for_tool(inherited, withheld, session, tool.name(), named))
                }
                // These tools run with the session's full environment.
                ToolSource::Native(_) | ToolSource::Provided { .. } => session.clone(),
            },
            timeout: capped(
                options.timeout.or(tool.timeout()).unwrap_or(inner.options.timeout),
                inner.options.longest_timeout,
            ),
            cancel: options.cancel.as_ref().map_or_else(CancelToken::new, CancelToken::child),
            output_limit: capped(
                options.output_limit.or(tool.descriptor().output_limit).unwrap_or(inner.options.output_limit),
                inner.options.largest_output,
            ),
        };
        match tool.source() {
            ToolSource::File(file) => run::run_file(inner, tool, file, &ready.arguments, &settings),
            ToolSource::Native(native) | ToolSource::Provided { native, .. } => {
                call_native(inner, native.as_ref(), ready, &settings, progress)
            }
        }
    }
}

fn capped<T: Ord>(value: T, maximum: Option<T>) -> T {
    match maximum {
        Some(maximum) => value.min(maximum),
        None => value,
    }
}

/// The options of a call with all defaults applied.
#[derive(Debug)]
pub(crate) struct CallSettings {
    pub(crate) directory: PathBuf,
    pub(crate) environment: Arc<Environment>,
    pub(crate) timeout: Duration,
    pub(crate) cancel: CancelToken,
    pub(crate) output_limit: u64,
}

fn call_native(
    inner: &RegistryState,
    native: &dyn NativeTool,
    ready: &PreparedCall,
    settings: &CallSettings,
    progress: &(dyn Fn(&CallProgress) + Sync),
) -> Envelope {
    let call = CallContext {
        directory: &settings.directory,
        environment: &settings.environment,
        host: &inner.host,
        cancel: &settings.cancel,
        deadline: Instant::now() + settings.timeout.min(Duration::from_secs(1 << 32)),
        progress,
        registry: inner,
        truncated: Mutex::default(),
        content: Mutex::default(),
    };
    let run = || {
        call.check()?;
        match ready.tool.source() {
            // They pass the arguments on.
            ToolSource::Provided { .. } => native.call(&ready.arguments, &call),
            _ => native.call(&exact::saturated(&ready.arguments), &call),
        }
    };
    let called = match native.is_confined() && inner.host.permission().has_sandbox() {
        true => call_confined(inner.host.permission(), run),
        false => catch_unwind(AssertUnwindSafe(run)),
    };
    let crashed = || CallError::new(ErrorCode::ToolCrashed, format!("tool '{}' panicked", ready.tool.name()));
    let outcome = called.unwrap_or_else(|_| Err(crashed()));
    let truncated = call.truncated.into_inner().unwrap_or_else(PoisonError::into_inner);
    let content = call.content.into_inner().unwrap_or_else(PoisonError::into_inner);
    Envelope { truncated, content, ..Envelope::from(outcome) }
}

/// Runs a tool on a thread of its own, in the sandbox that programs of this permission have.
fn call_confined(
    permission: &StartPermission,
    run: impl FnOnce() -> Result<Value, CallError> + Send,
) -> std::thread::Result<Result<Value, CallError>> {
    std::thread::scope(|scope| {
        let confined = || match permission.confine_thread() {
            Ok(()) => run(),
            Err(error) => {
                Err(CallError::new(ErrorCode::SpawnFailed, format!("cannot apply the sandbox: {error}")))
            }
        };
        scope.spawn(confined).join()
    })
}
