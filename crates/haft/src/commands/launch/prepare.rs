//! Prepares a launch: configuration, trust, contexts, plan.

use haft_launch::{
    AssembledPrompt, CommandResult, ContextCommand, LaunchFiles, LaunchKind, LaunchPlan, LaunchRequest,
    PromptAssembly, remove_stale_files, run_commands,
};
use haft_process::{Signals, resign_subreaper};
use rustix::stdio::{stdin, stdout};
use rustix::termios::isatty;

use super::arguments::LaunchOptions;
use super::catalogue::LaunchSetup;
use super::choose;
use crate::commands::mcp::is_missing;
use crate::failure::{Failure, print_hint, print_message};
use crate::host;
use crate::process_context::ProcessContext;

/// An agent that is ready to be launched.
pub(super) struct PreparedLaunch {
    pub(super) agent: String,
    pub(super) model: Option<String>,
    pub(super) role: Option<String>,
    pub(super) task: Option<String>,
    pub(super) material: AssembledPrompt,
    pub(super) plan: LaunchPlan,
    pub(super) files: LaunchFiles,
    pub(super) state: Option<std::path::PathBuf>,
    /// The signals that were ignored when haft started.
    pub(super) ignored: Signals,
}

/// Prepares a launch. Writes no files, but runs the commands of contexts.
pub(super) fn prepare(
    kind: LaunchKind,
    instructions: Option<Vec<u8>>,
    options: &LaunchOptions,
    process: &ProcessContext,
) -> Result<PreparedLaunch, Failure> {
    let ignored = Signals::ignored_now();
    let world = LaunchSetup::load(process)?;
    let base = host::run_base(process);
    remove_stale_files(&base);
    let catalogue = world.catalogue()?;
    world.demand_trust(&catalogue)?;
    let mut request = request(kind, instructions, options);
    let selection = choose::select(&catalogue, &mut request, &world.launch)?;
    if !options.dry_run && selection.agent.starts_bin(request.batch) {
        find_agent(selection.agent.bin(), &world)?;
    }
    if selection.lacks_mcp_server(&request) && !options.json {
        mention_installation(selection.agent.name(), process);
    }
    let assembly = PromptAssembly::new(&selection, &request, &world.launch);
    let found = run_context_commands(assembly.commands(), process)?;
    let material = assembly.finish(&found)?;
    let files = match &options.save {
        Some(directory) => LaunchFiles::saved_in(&world.launch.working_directory.join(directory)),
        None => LaunchFiles::for_process(&base),
    };
    let plan = LaunchPlan::new(&selection, &request, &material, &world.launch, files.path())?;
    Ok(PreparedLaunch {
        agent: selection.agent.name().to_owned(),
        model: selection.model.clone(),
        role: selection.role.as_ref().map(|role| role.name.clone()).filter(|_| material.role.is_some()),
        task: selection.task.as_ref().map(|task| task.name.clone()),
        material,
        plan,
        files,
        state: world.places.state.clone(),
        ignored,
    })
}

/// Tells how an agent that takes no MCP server at launch gets haft's tools, unless it has them.
fn mention_installation(agent: &str, process: &ProcessContext) {
    if is_missing(agent, process) {
        print_message(format_args!(
            "{agent} does not have haft's tools: it reads MCP servers from its own files only"
        ));
        print_hint(format_args!("run `haft mcp install {agent}` once"));
    }
}

fn request(kind: LaunchKind, instructions: Option<Vec<u8>>, options: &LaunchOptions) -> LaunchRequest {
    let terminal = isatty(stdin()) && isatty(stdout());
    LaunchRequest {
        kind,
        agent: options.agent.clone(),
        model: options.model.clone(),
        role: options.role.clone(),
        no_role: options.no_role,
        contexts: options.contexts.clone(),
        instructions,
        batch: options.batch || !(options.interactive || terminal),
        mcp: !options.no_mcp,
        arguments: options.arguments.clone(),
    }
}

/// Fails if the agent is not installed, before any context command runs.
fn find_agent(bin: &str, world: &LaunchSetup) -> Result<(), Failure> {
    if world.launch.find(bin).is_some() {
        return Ok(());
    }
    let path = world.launch.environment.get("PATH");
    let directory = Some(world.launch.working_directory.as_path());
    match haft_process::find_program(bin.as_ref(), path, directory) {
        Err(error) => Err(error.into()),
        Ok(_) => Err(Failure { status: 127, ..Failure::usage(format!("agent '{bin}' not found")) }),
    }
}

/// Runs the commands of contexts. Afterwards this process has no watcher and is not a subreaper.
fn run_context_commands(
    commands: &[ContextCommand],
    process: &ProcessContext,
) -> Result<Vec<CommandResult>, Failure> {
    if commands.is_empty() {
        return Ok(Vec::new());
    }
    let signals = host::SignalHandler::start()?;
    let host = host::set_up(process);
    let found = run_commands(commands, &process.environment, &host, &signals.cancel);
    drop(host);
    resign_subreaper();
    if signals.cancel.is_cancelled() {
        return Err(Failure {
            message: "cancelled while context commands ran".to_owned(),
            hint: None,
            status: haft_process::CANCELLED,
        });
    }
    Ok(found)
}
