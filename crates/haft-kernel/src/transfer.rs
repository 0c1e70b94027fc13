//! Transfer of a fan-out to another process, possibly on another machine: its stages, and the session that they run in, as text.
//!
//! What travels is what a fork carries: variables, functions, aliases, options, positional parameters, ignored signals, the
//! creation mask and the working directory. Variables that belong to a machine, and exported variables with secrets, stay
//! behind. Open files, jobs, coprocesses and files that are not on this machine cannot travel.

use std::collections::BTreeMap;

use haft_lang::ast::{Command, CommandKind, Function, Pipeline, Statement};
use haft_lang::{ParseOptions, Program};
use haft_text::{Bytes, os_str, path, quote};

use crate::builtins::{function_listing, variable_listing};
use crate::fan::FanOut;
use crate::jobs::JobState;
use crate::options::{SetOption, ShellOption};
use crate::session::{Definition, ErrexitContext, ProgramOrigin, Session};
use crate::variables::{Attributes, Variable, is_name};

/// Variables that belong to a machine, a login or a shell, and not to the script.
const LOCAL_VARIABLES: &[&str] = &[
    "_",
    "BASH_VERSINFO",
    "BASH_VERSION",
    "DBUS_SESSION_BUS_ADDRESS",
    "DISPLAY",
    "EUID",
    "HAFT_RUN",
    "HOME",
    "HOSTNAME",
    "HOSTTYPE",
    "LOGNAME",
    "MACHTYPE",
    "MAIL",
    "OSTYPE",
    "PPID",
    "PWD",
    "SHELL",
    "STY",
    "TMPDIR",
    "TMUX",
    "TMUX_PANE",
    "UID",
    "USER",
    "WAYLAND_DISPLAY",
    "WINDOWID",
    "XAUTHORITY",
    "XDG_RUNTIME_DIR",
];

/// The beginnings of names of such variables.
const LOCAL_PREFIXES: &[&str] = &["SLURM_", "SLURMD_", "SSH_", "XDG_SESSION_"];

/// Options that concern the terminal or how the shell was started.
const LOCAL_OPTIONS: &[SetOption] = &[
    SetOption::Emacs,
    SetOption::History,
    SetOption::HistoryExpand,
    SetOption::IgnoreEof,
    SetOption::Monitor,
    SetOption::NoExecute,
    SetOption::Notify,
    SetOption::OneCommand,
    SetOption::Privileged,
    SetOption::Verbose,
    SetOption::Vi,
];

/// A text, and the number of its first line, so that error messages and `LINENO` show the original lines.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TextAtLine {
    /// The number of the first line.
    pub line: u32,
    /// The text.
    pub text: Bytes,
}

/// A session and the stages of a fan-out, for another process.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Transfer {
    /// `$0`.
    pub name: Bytes,
    /// The positional parameters.
    pub arguments: Vec<Bytes>,
    /// Whether the program is the text after `-c`.
    pub is_command_string: bool,
    /// The working directory.
    pub directory: Bytes,
    /// `$?`.
    pub status: i32,
    /// Commands that recreate the session.
    pub commands: Vec<TextAtLine>,
    /// The whole pipeline.
    pub pipeline: TextAtLine,
}

impl TextAtLine {
    fn new(line: u32, text: Vec<u8>) -> Self {
        Self { line: line.max(1), text: text.into() }
    }

    /// The text after as many empty lines as it needs to begin at its line.
    #[must_use]
    pub fn padded(&self) -> Vec<u8> {
        let lines = usize::try_from(self.line.saturating_sub(1)).unwrap_or(0);
        [&*vec![b'\n'; lines], &self.text].concat()
    }
}

impl FanOut<'_> {
    /// Describes the stages, between the commands `opening` and `closing`, and their session for another process. `session` is the
    /// one that runs the fan-out.
    ///
    /// # Errors
    /// All that cannot travel, each by its name.
    pub fn transfer(
        &self,
        session: &mut Session,
        opening: &str,
        closing: &str,
    ) -> Result<Transfer, Vec<String>> {
        let obstacles = self.obstacles(session);
        if !obstacles.is_empty() {
            return Err(obstacles);
        }
        let base = &self.base;
        Ok(Transfer {
            name: base.parameters.zero().clone(),
            arguments: base.parameters.positional().to_vec(),
            is_command_string: base.identity.is_command_string(),
            directory: base.working_directory.path().into(),
            status: base.parameters.status(),
            commands: commands(base),
            pipeline: in_errexit_context(&self.pipeline(opening, closing), base.calls.errexit()),
        })
    }

    fn obstacles(&self, session: &mut Session) -> Vec<String> {
        let mut obstacles: Vec<String> = Vec::new();
        let open = self.base.open_files.opened_by_script();
        obstacles.extend(open.map(|number| format!("the open file descriptor {number}")));
        let jobs = session.running_jobs().into_iter().map(|job| job.command);
        let inherited = self.base.jobs.inherited().filter(|job| job.state == JobState::Running);
        for command in jobs.chain(inherited.map(|job| job.text.clone())) {
            obstacles.push(format!("the running job '{command}'"));
        }
        if self.base.kernel.namespaces.is_some() {
            obstacles.push("the overlay of this run".to_owned());
        }
        let directory = self.base.working_directory.path();
        match self.base.kernel.files.real_path(path(directory)) {
            Some(real) if real == path(directory) => {}
            _ => obstacles.push(format!("the virtual directory '{}'", String::from_utf8_lossy(directory))),
        }
        obstacles
    }

    /// The whole pipeline: the original text of the stages, so that its lines stay the same, or the syntax tree as text if aliases
    /// or here-documents make the original text incomplete.
    fn pipeline(&self, opening: &str, closing: &str) -> TextAtLine {
        let line = self.body.stages.first().map_or(1, |stage| stage.line);
        let joined = [opening.as_bytes(), b" | ", &self.text(), b" | ", closing.as_bytes(), b"\n"].concat();
        let options = base_options(&self.base);
        if let Some((_, pipeline)) = parse_pipeline(&joined, &options)
            && let [_, between @ .., _] = &*pipeline.stages
            && *between == *self.body.stages
        {
            return TextAtLine::new(line, joined);
        }
        let template = format!("{opening} | : | {closing}\n");
        match parse_pipeline(template.as_bytes(), &options) {
            Some((mut program, mut pipeline)) => {
                let (first, last) = (pipeline.stages.first().cloned(), pipeline.stages.last().cloned());
                let stages: Vec<Command> =
                    first.into_iter().chain(self.body.stages.iter().cloned()).chain(last).collect();
                pipeline.stages = stages.into();
                let statement = Statement { first: pipeline, ..program.body.statements[0].clone() };
                program.body.statements = vec![statement].into();
                TextAtLine::new(line, haft_lang::print(&program))
            }
            None => TextAtLine::new(line, joined),
        }
    }
}

/// Puts a pipeline into a context in which failures have the same effect as here.
fn in_errexit_context(pipeline: &TextAtLine, context: ErrexitContext) -> TextAtLine {
    let (before, after): (&[u8], &[u8]) = match context {
        ErrexitContext::Active => (b"", b""),
        ErrexitContext::Negated | ErrexitContext::InNegated => (b"! ", b""),
        ErrexitContext::Condition => (b"if ", b"then :; fi\n"),
    };
    TextAtLine { line: pipeline.line, text: [before, &pipeline.text, after].concat().into() }
}

/// The options to parse text with, without aliases: those were expanded when the text was read.
fn base_options(session: &Session) -> ParseOptions {
    ParseOptions { aliases: None, ..session.parse_options() }
}

/// Parses a text that consists of one pipeline.
fn parse_pipeline(text: &[u8], options: &ParseOptions) -> Option<(Program, Pipeline)> {
    let program = haft_lang::parse(text, options).ok()?;
    let pipeline = match &*program.body.statements {
        [statement] if statement.rest.is_empty() && !statement.background => statement.first.clone(),
        _ => return None,
    };
    Some((program, pipeline))
}

/// The commands that recreate a session. Options that change how commands are read or run come last.
fn commands(session: &Session) -> Vec<TextAtLine> {
    let at_start = |text: Vec<u8>| (!text.is_empty()).then(|| TextAtLine::new(1, text));
    let extglob = session.options.shell(ShellOption::ExtendedGlob);
    let mut commands: Vec<TextAtLine> = Vec::new();
    commands.extend(at_start(if extglob { b"shopt -s extglob\n".to_vec() } else { Vec::new() }));
    commands.extend(at_start(variable_listing::all(session, travels, variable_listing::declaration)));
    commands.extend(functions(session));
    commands.extend(at_start(state(session)));
    commands.extend(at_start(options(session)));
    commands
}

/// Whether a variable belongs to a machine, a login or a shell, so that a [`Transfer`] leaves it behind.
///
/// ```
/// assert!(haft_kernel::belongs_to_machine(b"HOME") && haft_kernel::belongs_to_machine(b"SSH_AUTH_SOCK"));
/// assert!(!haft_kernel::belongs_to_machine(b"PATH"));
/// ```
#[must_use]
pub fn belongs_to_machine(name: &[u8]) -> bool {
    LOCAL_VARIABLES.iter().any(|local| local.as_bytes() == name)
        || LOCAL_PREFIXES.iter().any(|prefix| name.starts_with(prefix.as_bytes()))
}

/// Whether a variable travels.
fn travels(name: &[u8], variable: &Variable) -> bool {
    let is_secret = || {
        let value = variable.as_scalar().cloned().unwrap_or_default();
        variable.is(Attributes::EXPORT) && haft_process::looks_secret(os_str(name), os_str(&value))
    };
    is_name(name) && !belongs_to_machine(name) && !variable.is(Attributes::DYNAMIC) && !is_secret()
}

fn functions(session: &Session) -> Vec<TextAtLine> {
    let options = base_options(session);
    let sorted: BTreeMap<_, _> = session.definitions.functions().iter().collect();
    let define = |known: &Definition| {
        let mut defined = function(known, &options);
        let attributes = function_listing::attributes(known);
        defined.text = [&*defined.text, b"\n", &*attributes].concat().into();
        defined
    };
    sorted.into_values().map(|known| define(known)).collect()
}

/// The definition of a function: its original text if that is complete, else its syntax tree as text.
fn function(known: &Definition, options: &ParseOptions) -> TextAtLine {
    let function = &known.function;
    let original = known.text.as_deref().and_then(|text| {
        let (name, body) = (function.name_span, function.body.span);
        let source = text.get(name.start as usize..body.end as usize)?;
        let before_body = text.get(name.start as usize..body.start as usize)?;
        let lines = before_body.iter().filter(|byte| **byte == b'\n').count();
        let line = function.body.line.saturating_sub(u32::try_from(lines).ok()?);
        Some((line, [b"function ", source].concat()))
    });
    match original {
        Some((line, text)) if defines(&text, function, options) => TextAtLine::new(line, text),
        _ => TextAtLine::new(function.body.line, haft_lang::print_function(function)),
    }
}

/// Whether a text defines this function and does nothing else.
fn defines(text: &[u8], function: &Function, options: &ParseOptions) -> bool {
    let Some((_, pipeline)) = parse_pipeline(text, options) else { return false };
    match &*pipeline.stages {
        [Command { kind: CommandKind::Function(found), redirects, .. }] => {
            redirects.is_empty() && found.name == function.name && found.body == function.body
        }
        _ => false,
    }
}

/// Aliases, ignored signals and the creation mask.
fn state(session: &Session) -> Vec<u8> {
    let mut text = format!("umask {:04o}\n", session.umask()).into_bytes();
    for (name, value) in session.definitions.aliases().iter() {
        text.extend_from_slice(&[b"alias -- ", &**name, b"=", &quote::single(value), b"\n"].concat());
    }
    for (trap, commands) in session.traps.iter().filter(|(trap, _)| session.traps.get(*trap).is_some()) {
        let name = trap.name();
        text.extend_from_slice(
            &[b"trap -- ", &*quote::single(commands), b" ", name.as_bytes(), b"\n"].concat(),
        );
    }
    text
}

/// One command that sets all options.
fn options(session: &Session) -> Vec<u8> {
    let options = session.options;
    let shell = ShellOption::ALL
        .iter()
        .filter(|(option, _)| !matches!(option, ShellOption::LoginShell | ShellOption::RestrictedShell));
    let (on, off): (Vec<_>, Vec<_>) = shell.partition(|(option, _)| options.shell(*option));
    let names = |list: Vec<&(ShellOption, &'static str)>| {
        list.iter().fold(String::new(), |text, (_, name)| text + " " + name)
    };
    let mut text = String::new();
    if options.has(SetOption::Posix) {
        text.push_str("set -o posix; ");
    }
    text.push_str(&format!("shopt -s{}; shopt -u{}; set", names(on), names(off)));
    for (option, name, _) in SetOption::ALL.iter().filter(|(option, ..)| !LOCAL_OPTIONS.contains(option)) {
        text.push_str(&format!(" {}o {name}", if options.has(*option) { '-' } else { '+' }));
    }
    text.push('\n');
    text.into_bytes()
}

impl Session {
    /// Takes over the state that a [`Transfer`] describes.
    ///
    /// # Errors
    /// If the working directory does not exist here, or a command fails.
    pub fn receive(&mut self, transfer: &Transfer) -> Result<(), String> {
        let shown = transfer.directory.lossy().into_owned();
        match self.kernel.files.metadata(path(&transfer.directory)) {
            Ok(found) if found.is_dir() => self.set_directory(path(&transfer.directory)),
            Ok(_) => return Err(format!("cannot enter '{shown}': not a directory")),
            Err(error) => return Err(format!("cannot enter '{shown}': {}", haft_fs::message(&error))),
        }
        match transfer.is_command_string {
            true => self.set_command(&transfer.name, transfer.arguments.clone()),
            false => self.set_script(&transfer.name, transfer.arguments.clone()),
        }
        for commands in &transfer.commands {
            match self.run_main(&commands.padded()) {
                Ok(0) => {}
                Ok(_) | Err(_) => {
                    let line = commands.text.lossy().lines().next().unwrap_or_default().to_owned();
                    return Err(format!("cannot recreate the session: '{line}' failed"));
                }
            }
        }
        self.identity.set_program(match transfer.is_command_string {
            true => ProgramOrigin::CommandString,
            false => ProgramOrigin::File,
        });
        self.parameters.set_status(transfer.status);
        Ok(())
    }
}
