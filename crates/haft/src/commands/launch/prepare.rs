//! From the arguments to a plan: configuration, trust, contexts.

use haft_launch::{Assembly, Files, Kind, Material, Plan, Request, clean, errand};
use haft_process::{Signals, resign_subreaper};
use rustix::stdio::{stdin, stdout};
use rustix::termios::isatty;

use super::arguments::LaunchOptions;
use super::catalogue::LaunchSetup;
use super::choose;
use crate::failure::Failure;
use crate::host;
use crate::process_context::ProcessContext;

/// An agent that is ready to be launched.
pub(super) struct PreparedLaunch {
    pub(super) agent: String,
    pub(super) model: Option<String>,
    pub(super) role: Option<String>,
    pub(super) task: Option<String>,
    pub(super) material: Material,
    pub(super) plan: Plan,
    pub(super) files: Files,
    pub(super) state: Option<std::path::PathBuf>,
    /// What was ignored when haft was started, before it made settings of its own.
    pub(super) ignored: Signals,
}

/// Prepares a launch. Nothing is written but what contexts' commands write.
pub(super) fn prepare(
    kind: Kind,
    instructions: Option<Vec<u8>>,
    options: &LaunchOptions,
    process: &ProcessContext,
) -> Result<PreparedLaunch, Failure> {
    let ignored = Signals::ignored_now();
    let world = LaunchSetup::load(process)?;
    let base = host::run_base(process);
    clean(&base);
    let catalogue = world.catalogue()?;
    world.demand_trust(&catalogue)?;
    let mut request = request(kind, instructions, options);
    let selection = choose::select(&catalogue, &mut request, &world.launch)?;
    if !options.dry_run {
        find_agent(selection.agent.bin(), &world)?;
    }
    let assembly = Assembly::new(&selection, &request, &world.launch);
    let found = run_errands(assembly.errands(), process)?;
    let material = assembly.finish(&found)?;
    let files = if options.dry_run { Files::for_a_day(&base) } else { Files::of_process(&base) };
    let plan = Plan::new(&selection, &request, &material, &world.launch, files.path())?;
    Ok(PreparedLaunch {
        agent: selection.agent.name().to_owned(),
        model: selection.model.clone(),
        role: selection.role.map(|role| role.name.clone()).filter(|_| material.role.is_some()),
        task: selection.task.map(|task| task.name.clone()),
        material,
        plan,
        files,
        state: world.places.state.clone(),
        ignored,
    })
}

fn request(kind: Kind, instructions: Option<Vec<u8>>, options: &LaunchOptions) -> Request {
    let terminal = isatty(stdin()) && isatty(stdout());
    Request {
        kind,
        agent: options.agent.clone(),
        model: options.model.clone(),
        role: options.role.clone(),
        no_role: options.no_role,
        contexts: options.contexts.clone(),
        instructions,
        batch: options.batch || !(options.interactive || terminal),
        mcp: !options.no_mcp,
    }
}

/// Makes sure that the agent is there before anything is run for it.
fn find_agent(bin: &str, world: &LaunchSetup) -> Result<(), Failure> {
    if world.launch.find(bin).is_some() {
        return Ok(());
    }
    let path = world.launch.environment.get("PATH");
    let directory = Some(world.launch.working_directory.as_path());
    match haft_process::find_program(bin.as_ref(), path, directory) {
        Err(error) => Err(error.into()),
        Ok(_) => Err(Failure { status: 127, ..Failure::usage(format!("agent \"{bin}\" is not there")) }),
    }
}

/// Runs the commands of contexts, and leaves this process as it was: no watcher, no inherited orphans.
fn run_errands(errands: &[errand::Errand], process: &ProcessContext) -> Result<Vec<errand::Found>, Failure> {
    if errands.is_empty() {
        return Ok(Vec::new());
    }
    let signals = host::SignalHandler::start()?;
    let host = host::set_up(process);
    let found = errand::run(errands, &process.environment, &host, &signals.cancel);
    drop(host);
    resign_subreaper();
    if signals.cancel.is_cancelled() {
        return Err(Failure {
            message: "cancelled while contexts were made".to_owned(),
            hint: None,
            status: haft_process::CANCELLED,
        });
    }
    Ok(found)
}
