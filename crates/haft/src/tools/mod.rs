//! The tool registry of commands and sessions.

mod backend;
mod bash;
mod command;
mod settings;
pub(crate) mod words;

use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};

use haft_config::trust::TrustStore;
use haft_mcp::{RemoteSetup, remote_tools};
use haft_process::{CancelToken, Host, StartPermission};
use haft_tools::{CoreOptions, NativeTool, Registry, RegistryOptions, Toolset, core_tools};

pub(crate) use backend::{printed, remarks};
pub(crate) use command::ToolCommand;
pub(crate) use settings::ToolSettings;

use crate::failure::Failure;
use crate::process_context::ProcessContext;
use crate::{host, places};

/// Opens the registry of all tools that are visible in this process context.
pub(crate) fn open(
    process: &ProcessContext,
    host: Host,
    settings: &ToolSettings,
    cancel: CancelToken,
) -> Registry {
    let places = places::find(process);
    let trust = TrustStore::open(places.state.as_deref());
    let shell = ["/proc/self/exe", "-c"].map(Into::into).to_vec();
    let mut natives: Vec<Arc<dyn NativeTool>> = vec![Arc::new(bash::BashTool::new(process))];
    natives.extend(core_tools(&CoreOptions { shell }));
    let directory = process.working_directory.clone().unwrap_or_else(|| PathBuf::from("/"));
    let remote = RemoteSetup {
        host: host.clone(),
        environment: process.whole_environment(),
        directory: directory.clone(),
        cache: places.cache.clone(),
    };
    let defaults = RegistryOptions::default();
    let budgets = process.budgets();
    let options = RegistryOptions {
        schema_timeout: settings.schema_timeout.unwrap_or(defaults.schema_timeout),
        timeout: settings.timeout.unwrap_or(defaults.timeout),
        output_limit: settings.output_limit.unwrap_or(defaults.output_limit),
        longest_timeout: budgets.wall,
        largest_output: budgets.output,
        environment: Arc::new(process.environment.clone()),
        withheld: Arc::new(process.withheld.clone()),
        directory,
        natives,
        providers: remote_tools(settings.servers.clone(), &remote),
        cancel,
    };
    Registry::open(host, &places, trust, options)
}

/// The tools of a session. The registry is opened on first use.
#[derive(Debug)]
pub(crate) struct SessionTools {
    process: ProcessContext,
    /// The permission to start programs.
    permission: StartPermission,
    state: Mutex<SessionToolsState>,
}

#[derive(Debug, Default)]
struct SessionToolsState {
    registry: Option<Registry>,
    toolset: Option<Toolset>,
    /// Whether the session has ended.
    closed: bool,
}

impl SessionTools {
    pub(crate) fn new(process: &ProcessContext, permission: &StartPermission) -> Arc<SessionTools> {
        let (process, permission) = (process.clone(), permission.clone());
        Arc::new(SessionTools { process, permission, state: Mutex::default() })
    }

    /// The registry, opened on first use.
    pub(crate) fn registry(&self) -> Registry {
        let mut state = self.state();
        let open = || {
            // Without readable settings the session continues with defaults, after one message.
            let settings = ToolSettings::read(&self.process).unwrap_or_else(|failure| {
                failure.print();
                ToolSettings::default()
            });
            let host = host::for_tools(&self.process).restricted(&self.permission);
            open(&self.process, host, &settings, CancelToken::new())
        };
        state.registry.get_or_insert_with(open).clone()
    }

    /// Discovers all tools on a background thread.
    pub(crate) fn discover(self: &Arc<Self>) {
        let tools = Arc::downgrade(self);
        let look = move || {
            if let Some(tools) = tools.upgrade().filter(|tools| !tools.state().closed) {
                tools.registry().start_discovery();
            }
        };
        // Without a thread, tools are discovered on first use.
        let _ = std::thread::Builder::new().name("tools".to_owned()).spawn(look);
    }

    /// The toolset, if one is chosen.
    pub(crate) fn toolset(&self) -> Option<Toolset> {
        self.state().toolset.clone()
    }

    /// Chooses a toolset by name; `None` allows all tools.
    pub(crate) fn choose(&self, name: Option<&str>) -> Result<(), Failure> {
        let toolset = match name {
            Some(name) => Some(ToolSettings::read(&self.process)?.toolset(name)?),
            None => None,
        };
        self.state().toolset = toolset;
        Ok(())
    }

    /// The names of all toolsets.
    pub(crate) fn toolsets(&self) -> Vec<String> {
        ToolSettings::read(&self.process).map(|settings| settings.names()).unwrap_or_default()
    }

    /// Closes the registry, which ends the processes of its tools.
    pub(crate) fn close(&self) {
        let mut state = self.state();
        state.closed = true;
        let registry = state.registry.take();
        drop(state);
        drop(registry);
    }

    /// Closes the registry until a tool is needed again.
    fn release_registry(&self) {
        let registry = self.state().registry.take();
        drop(registry);
    }

    fn state(&self) -> std::sync::MutexGuard<'_, SessionToolsState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
