//! `haft tool`: what tools there are, and calling them.

pub(crate) mod arguments;
mod batch;
mod call;
mod check;
mod list;
mod new;
mod show;

use std::time::Duration;

use haft_tools::{CallOptions, Registry};

pub(crate) use list::{rest, table};
pub(crate) use show::text as describe;

use self::arguments::{Tool, ToolCommand};
use crate::failure::{Failure, tell};
use crate::host::{self, Listener};
use crate::surroundings::Surroundings;
use crate::tools::{self, Settings};

/// Does what is asked of tools.
pub(crate) fn run(tool: Tool, surroundings: &Surroundings) -> Result<i32, Failure> {
    match tool.command {
        ToolCommand::List { json } => list::run(&Scene::new(surroundings)?, Registry::complete, json),
        ToolCommand::Refresh { json } => list::run(&Scene::new(surroundings)?, Registry::refresh, json),
        ToolCommand::Show { name, json } => show::run(&Scene::new(surroundings)?, &name, json),
        ToolCommand::Call(arguments) => call::run(arguments, surroundings),
        ToolCommand::Batch(arguments) => batch::run(&arguments, surroundings),
        ToolCommand::Check { file, json } => check::run(&file, json, surroundings),
        ToolCommand::New(arguments) => new::run(&arguments, surroundings),
    }
}

/// What every one of them needs.
struct Scene {
    registry: Registry,
    listener: Listener,
    settings: Settings,
}

impl Scene {
    fn new(surroundings: &Surroundings) -> Result<Scene, Failure> {
        let settings = Settings::read(surroundings)?;
        let listener = Listener::start()?;
        let host = host::set_up(surroundings);
        host.warnings().iter().for_each(tell);
        let registry = tools::open(surroundings, host, &settings, listener.cancel.clone());
        Ok(Scene { registry, listener, settings })
    }

    /// How calls are made: with what was given on the command line, until somebody interrupts them.
    fn call_options(&self, timeout: Option<Duration>, toolset: Option<&str>) -> Result<CallOptions, Failure> {
        Ok(CallOptions {
            timeout,
            cancel: Some(self.listener.cancel.clone()),
            toolset: toolset.map(|name| self.settings.toolset(name)).transpose()?,
            ..CallOptions::default()
        })
    }
}
