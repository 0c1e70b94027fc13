//! Where the items of a fan-out run.

use std::io::Read as _;
use std::path::PathBuf;

use haft_fs::OpenOptions;
use haft_kernel::builtins::Context;
use haft_kernel::{FanOut, TextAtLine, Transfer};
use haft_scale::{
    Executor, HostSlots, SshExecutor, SshSettings, WireBytes, WorkerSetup, parse_host_file, parse_hosts,
};

use super::FanOutSettings;
use super::local::LocalExecutor;
use super::worker::{ITEMS, RECORDS};

/// The program of this process.
const OWN_PROGRAM: &str = "/proc/self/exe";
/// The longest file of hosts.
const MAX_HOST_FILE_BYTES: u64 = 1 << 20;
/// Separates a message from its hint.
const HINT: &str = "\nhint: ";

/// Where the items of a fan-out run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Engine {
    /// On threads of this process.
    Local,
    /// On other machines, over ssh.
    Ssh(SshEngine),
}

/// The hosts of `--on ssh:…`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct SshEngine {
    /// The words after `ssh:`.
    hosts: String,
    /// Whether to copy haft to hosts that lack it.
    bootstrap: bool,
}

impl Engine {
    /// Parses the value of `on`.
    ///
    /// # Errors
    /// A message if there is no such engine.
    pub(crate) fn parse(text: &str, bootstrap: bool) -> Result<Self, String> {
        match text.split_once(':') {
            None if text == "local" => Ok(Self::Local),
            Some(("ssh", hosts)) => Ok(Self::Ssh(SshEngine { hosts: hosts.to_owned(), bootstrap })),
            _ => Err(format!(
                "invalid value '{text}' for 'on': expected 'local', 'ssh:HOST[=SLOTS][,HOST…]' or 'ssh:@FILE'"
            )),
        }
    }

    /// Whether items run in this process.
    pub(crate) fn is_local(&self) -> bool {
        *self == Self::Local
    }
}

/// Prints an error of [`start`].
pub(super) fn report(context: &mut Context<'_>, message: &str) {
    let (message, hint) =
        message.split_once(HINT).map_or((message, None), |(message, hint)| (message, Some(hint)));
    context.error(message);
    if let Some(hint) = hint {
        context.print_error(format!("hint: {hint}\n").as_bytes());
        context.flush();
    }
}

/// Starts the engine.
///
/// # Errors
/// A message, possibly with a hint.
pub(super) fn start<'a>(
    context: &mut Context<'_>,
    fan_out: &'a FanOut<'a>,
    settings: &'a FanOutSettings,
) -> Result<Box<dyn Executor + 'a>, String> {
    match &settings.engine {
        Engine::Local => {
            let processors = || std::thread::available_parallelism().map_or(1, std::num::NonZero::get);
            let limit = settings.limit.unwrap_or_else(processors);
            let executor = LocalExecutor::new(fan_out, &settings.variable, limit, settings.timeout)
                .map_err(|error| format!("cannot start: {}", haft_fs::message(&error)))?;
            Ok(Box::new(executor))
        }
        Engine::Ssh(engine) => start_ssh(context, fan_out, settings, engine),
    }
}

fn start_ssh<'a>(
    context: &mut Context<'_>,
    fan_out: &FanOut<'_>,
    settings: &FanOutSettings,
    engine: &SshEngine,
) -> Result<Box<dyn Executor + 'a>, String> {
    let hosts = hosts(context, &engine.hosts)?;
    let setup = setup(context, fan_out, settings)?;
    let permission = context.session().permission().clone();
    if let Some(reason) = permission.refusal() {
        return Err(format!("cannot start 'ssh': {reason}"));
    }
    let path = context.session_mut().find_program(b"ssh").ok_or_else(|| {
        format!("'ssh' not found{HINT}install OpenSSH's client, such as the package 'openssh-client'")
    })?;
    let mut program = context.session_mut().program(&path, &["ssh".into()])?;
    if let Some(scope) = context.session().scope() {
        program.scope(scope);
    }
    let executor = SshExecutor::start(SshSettings {
        program,
        permission,
        hosts,
        limit: settings.limit,
        bootstrap: engine.bootstrap.then(|| PathBuf::from(OWN_PROGRAM)),
        version: env!("CARGO_PKG_VERSION").to_owned(),
        setup,
    });
    Ok(Box::new(executor.map_err(|error| error.to_string())?))
}

/// The hosts that the words after `ssh:` name.
fn hosts(context: &mut Context<'_>, text: &str) -> Result<Vec<HostSlots>, String> {
    let Some(file) = text.strip_prefix('@') else {
        return parse_hosts(text).map_err(|problem| format!("--on ssh: {problem}"));
    };
    let absolute = context.session().resolve(file.as_bytes());
    let opened = context.session().files().open(haft_text::path(&absolute), &OpenOptions::new().read(true));
    let mut contents = Vec::new();
    opened
        .and_then(|file| (&file).take(MAX_HOST_FILE_BYTES).read_to_end(&mut contents))
        .map_err(|error| format!("cannot read '{file}': {}", haft_fs::message(&error)))?;
    parse_host_file(&String::from_utf8_lossy(&contents)).map_err(|problem| format!("'{file}': {problem}"))
}

/// The stages and their session, for a worker.
///
/// # Errors
/// If something cannot travel.
fn setup(
    context: &mut Context<'_>,
    fan_out: &FanOut<'_>,
    settings: &FanOutSettings,
) -> Result<WorkerSetup, String> {
    let transfer = fan_out.transfer(context.session_mut(), ITEMS, RECORDS).map_err(|obstacles| {
        let hint = "close or end it first, or run the items here with '--on local'";
        format!("cannot travel to another machine: {}{HINT}{hint}", obstacles.join(", "))
    })?;
    let Transfer { name, arguments, is_command_string, directory, status, commands, pipeline } = transfer;
    let wire = |text: &[u8]| WireBytes::from(text);
    let line = |part: &TextAtLine| (part.line, wire(&part.text));
    Ok(WorkerSetup {
        variable: settings.variable.lossy().into_owned(),
        slots: 1,
        timeout: settings.timeout,
        directory: wire(&directory),
        name: wire(&name),
        arguments: arguments.iter().map(|argument| wire(argument)).collect(),
        is_command_string,
        status,
        commands: commands.iter().map(line).collect(),
        pipeline: line(&pipeline),
    })
}
