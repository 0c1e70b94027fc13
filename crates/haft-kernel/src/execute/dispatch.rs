//! Resolving command names: function, builtin, added command, script, program, tool.

use std::sync::Arc;

use haft_lang::ast::SimpleCommand;
use haft_text::Bytes;

use super::arguments::CommandArguments;
use super::parameters::ExecutionParameters;
use crate::command::{Added, Builtin, Context, GatedCommand, InProcessKind, ToolError};
use crate::flow::{CANNOT_EXECUTE, Flow, NOT_FOUND};
use crate::options::SetOption;
use crate::session::{Definition, Session};
use crate::supervision::StageRecorder;
use crate::values::JsonValues;
use crate::variables::AssignmentLifetime;

/// The target of a command name.
#[derive(Clone, Debug)]
pub(crate) enum CommandTarget {
    Function(Arc<Definition>),
    Builtin(&'static Builtin),
    Added(Added),
    /// An in-process command that runs instead of a program.
    StandIn(Added),
    /// A script on the script path, with its file.
    Script(Bytes),
    External,
    /// A tool of the backend.
    Tool,
}

impl CommandTarget {
    /// The kind of a command that runs in this process. `None` for a program.
    fn in_process_kind(&self) -> Option<InProcessKind> {
        match self {
            CommandTarget::Function(_) => Some(InProcessKind::Function),
            CommandTarget::Builtin(_) => Some(InProcessKind::Builtin),
            CommandTarget::Added(_) | CommandTarget::StandIn(_) => Some(InProcessKind::Command),
            CommandTarget::Script(_) => Some(InProcessKind::Script),
            CommandTarget::Tool => Some(InProcessKind::Tool),
            CommandTarget::External => None,
        }
    }
}

/// The value of a command's cache slot: not resolved yet, not a builtin, or the index of a builtin plus
/// [`FIRST_BUILTIN`].
const UNKNOWN: u32 = 0;
const NO_BUILTIN: u32 = 1;
const FIRST_BUILTIN: u32 = 2;

impl Session {
    /// Resolves a name: functions first, then builtins, then everything else.
    pub(crate) fn resolve_name(&self, name: &[u8]) -> CommandTarget {
        if let Some(definition) = self.function(name) {
            return CommandTarget::Function(definition);
        }
        match self.find_builtin(name) {
            Some(builtin) => CommandTarget::Builtin(builtin),
            None => self.resolve_external(name),
        }
    }

    /// Resolves a name that is neither a function nor a builtin.
    fn resolve_external(&self, name: &[u8]) -> CommandTarget {
        if let Some(command) = self.kernel.added(name) {
            return CommandTarget::Added(command);
        }
        self.find_script(name).map_or(CommandTarget::External, CommandTarget::Script)
    }

    /// The script of this name on the script path.
    pub(crate) fn find_script(&self, name: &[u8]) -> Option<Bytes> {
        self.kernel.scripts.iter().filter(|_| !name.contains(&b'/')).find_map(|directory| {
            let path = [directory, b"/".as_slice(), name].concat();
            let metadata = self.kernel.files.metadata(haft_text::path(&path)).ok()?;
            metadata.is_file().then(|| Bytes::from(path))
        })
    }

    /// The function of this name.
    #[inline]
    pub(crate) fn function(&self, name: &[u8]) -> Option<Arc<Definition>> {
        if self.definitions.functions().is_empty()
            || (self.options.has(SetOption::Posix) && self.kernel.builtins.is_special(name))
        {
            return None;
        }
        self.definitions.functions().get(name).cloned()
    }

    /// The builtin of this name, unless `enable -n` has disabled it.
    pub(crate) fn find_builtin(&self, name: &[u8]) -> Option<&'static Builtin> {
        self.kernel
            .builtins
            .find(name)
            .filter(|builtin| !self.definitions.disabled_builtins().contains(&builtin.name))
    }

    /// Resolves the name of a command, and remembers in the syntax tree whether it is a builtin.
    #[inline]
    pub(crate) fn resolve_cached(&self, simple: &SimpleCommand, name: &[u8]) -> CommandTarget {
        if let Some(definition) = self.function(name) {
            return CommandTarget::Function(definition);
        }
        if simple.name().is_none() || !self.definitions.disabled_builtins().is_empty() {
            return self.resolve_name(name);
        }
        match simple.slot.get() {
            UNKNOWN => {
                let place =
                    self.kernel.builtins.all().iter().position(|builtin| builtin.name.as_bytes() == name);
                let found = place.and_then(|place| u32::try_from(place).ok());
                simple.slot.set(found.map_or(NO_BUILTIN, |place| place + FIRST_BUILTIN));
                found
                    .and_then(|place| self.kernel.builtins.all().get(place as usize))
                    .map_or_else(|| self.resolve_external(name), CommandTarget::Builtin)
            }
            NO_BUILTIN => self.resolve_external(name),
            place => {
                let builtin = self.kernel.builtins.all().get((place - FIRST_BUILTIN) as usize);
                builtin.map_or(CommandTarget::External, CommandTarget::Builtin)
            }
        }
    }

    /// Completes the resolution once the arguments are known: an added command may step aside for the program of the same
    /// name, and a tool is used only if there is no such program.
    #[inline]
    pub(crate) fn resolve_target(&mut self, target: CommandTarget, words: &[Bytes]) -> CommandTarget {
        match &target {
            CommandTarget::Added(command) if command.steps_aside(self, &words[1..]) => {
                if self.has_program(&words[0]) { CommandTarget::External } else { target }
            }
            CommandTarget::External if self.kernel.backend.is_some() && self.is_tool_name(&words[0]) => {
                CommandTarget::Tool
            }
            _ => target,
        }
    }

    /// Whether a program of this name can be started.
    pub fn has_program(&mut self, name: &[u8]) -> bool {
        self.kernel.allows_programs() && self.locate_program(name, &[], 0).is_some()
    }

    /// Whether words name an added command, a script or a tool.
    pub(crate) fn resolves_outside_shell(&mut self, words: &[Bytes]) -> bool {
        let target = self.resolve_external(&words[0]);
        !matches!(self.resolve_target(target, words), CommandTarget::External)
    }

    /// Whether a name that resolves to nothing in this process is a tool.
    fn is_tool_name(&mut self, name: &[u8]) -> bool {
        !self.has_program(name)
            && !self.definitions.functions().contains_key(b"command_not_found_handle".as_slice())
            && self.kernel.backend.as_ref().is_some_and(|backend| backend.has_tool(name))
    }

    /// Whether the command that the first of these words names takes a JSON word after them as a value.
    pub fn takes_values(&mut self, words: &[Bytes]) -> bool {
        let Some(name) = words.first() else { return false };
        match self.resolve_name(name) {
            CommandTarget::Builtin(builtin) if matches!(builtin.name, "command" | "exec") => {
                let options = words[1..].iter().take_while(|word| word.starts_with(b"-")).count();
                let words = &words[1 + options..];
                words.first().is_some_and(|name| !self.definitions.functions().contains_key(name.as_bytes()))
                    && self.takes_values(words)
            }
            CommandTarget::Added(command) => command.takes_values(self, &words[1..]),
            CommandTarget::External => self.kernel.backend.is_some() && self.is_tool_name(name),
            CommandTarget::Function(_)
            | CommandTarget::Builtin(_)
            | CommandTarget::StandIn(_)
            | CommandTarget::Script(_)
            | CommandTarget::Tool => false,
        }
    }

    /// Resolves the first word and runs the words as a command.
    pub(crate) fn dispatch(&mut self, words: &[Bytes], values: &JsonValues) -> Flow {
        let Some(name) = words.first() else { return Ok(0) };
        let target = self.resolve_name(name);
        self.dispatch_to(target, words, values, None)
    }

    /// Runs words as a command. `record` collects what is known of it.
    pub(super) fn dispatch_recording(&mut self, words: &[Bytes], record: Option<&mut StageRecorder>) -> Flow {
        let target = self.resolve_name(&words[0]);
        self.dispatch_to(target, words, &[], record)
    }

    /// The same, but ignores functions and builtins.
    pub(crate) fn dispatch_external(&mut self, words: &[Bytes], values: &JsonValues) -> Flow {
        let target = self.resolve_external(&words[0]);
        self.dispatch_to(target, words, values, None)
    }

    fn dispatch_to(
        &mut self,
        target: CommandTarget,
        words: &[Bytes],
        values: &JsonValues,
        record: Option<&mut StageRecorder>,
    ) -> Flow {
        let target = self.resolve_target(target, words);
        let arguments = CommandArguments { words: words.to_vec(), operands: None, values: values.to_vec() };
        self.run_target(target, &arguments, &[], ExecutionParameters::default(), record)
    }

    /// Runs what a name was resolved to, with variables assigned for this command only. `record` collects what is known of
    /// it.
    pub(crate) fn run_target(
        &mut self,
        target: CommandTarget,
        arguments: &CommandArguments,
        assigned: &[(Bytes, Bytes)],
        parameters: ExecutionParameters,
        record: Option<&mut StageRecorder>,
    ) -> Flow {
        match record {
            None => self.invoke_target(target, arguments, assigned, parameters, None),
            Some(record) => self.run_recorded_target(target, arguments, assigned, record),
        }
    }

    /// The same, but only a program's record is filled in, with how it ended.
    pub(crate) fn invoke_target(
        &mut self,
        target: CommandTarget,
        arguments: &CommandArguments,
        assigned: &[(Bytes, Bytes)],
        parameters: ExecutionParameters,
        record: Option<&mut StageRecorder>,
    ) -> Flow {
        if self.kernel.gate.is_some() && !self.gate_allows(&target, &arguments.words) {
            return Ok(CANNOT_EXECUTE);
        }
        match target {
            CommandTarget::Function(definition) => self.call(&definition, &arguments.words[1..], assigned),
            CommandTarget::Builtin(builtin) if assigned.is_empty() => self.run_builtin(builtin, arguments),
            CommandTarget::Builtin(builtin) => {
                let lasts = match builtin.name {
                    // In POSIX mode, assignments before a special builtin are permanent.
                    _ if builtin.special && self.options.has(SetOption::Posix) => {
                        AssignmentLifetime::Permanent
                    }
                    "eval" | "." | "source" => AssignmentLifetime::Builtin,
                    _ => AssignmentLifetime::UnlessDeclared,
                };
                self.with_assigned(assigned, lasts, |session| session.run_builtin(builtin, arguments))
            }
            CommandTarget::Added(command) | CommandTarget::StandIn(command) => {
                self.with_assigned(assigned, AssignmentLifetime::Builtin, |session| {
                    session.run_added(&command, arguments)
                })
            }
            CommandTarget::Tool => self
                .with_assigned(assigned, AssignmentLifetime::Builtin, |session| session.call_tool(arguments)),
            CommandTarget::Script(path) => self.run_without_shebang(&path, &arguments.words, assigned),
            CommandTarget::External => self.run_external(&arguments.words, assigned, parameters, record),
        }
    }

    /// Whether a command may run in this process. Reports the reason if it may not. The process layer decides about programs.
    #[inline(never)]
    fn gate_allows(&mut self, target: &CommandTarget, words: &[Bytes]) -> bool {
        let (Some(gate), Some(kind)) = (&self.kernel.gate, target.in_process_kind()) else { return true };
        let directory = haft_text::path(self.working_directory.path());
        let Err(reason) = gate.check_command(&GatedCommand { kind, words, directory }) else { return true };
        self.report(format_args!("{}: {reason}", words[0]));
        false
    }

    /// Runs something with variables assigned, for as long as `lasts` says.
    #[inline(never)]
    fn with_assigned(
        &mut self,
        assigned: &[(Bytes, Bytes)],
        lasts: AssignmentLifetime,
        run: impl FnOnce(&mut Self) -> Flow,
    ) -> Flow {
        let saved: Vec<_> = assigned
            .iter()
            .map(|(name, value)| (name, self.variables.assign_temporarily(name, value.clone(), lasts)))
            .collect();
        let result = run(self);
        for (name, old) in saved.into_iter().rev() {
            self.variables.end_temporary(name, old, lasts);
        }
        result
    }

    fn run_added(&mut self, command: &Added, arguments: &CommandArguments) -> Flow {
        let name = command.name().as_bytes();
        self.catch_command_panic(name, |session| {
            let mut context = Context::new(session, name, &arguments.values);
            command.run(&mut context, &arguments.words[1..])
        })
    }

    fn call_tool(&mut self, arguments: &CommandArguments) -> Flow {
        let name = &arguments.words[0];
        let Some(backend) = self.kernel.backend.clone() else { return Ok(NOT_FOUND) };
        let mut context = Context::new(self, name, &arguments.values);
        match backend.call_tool(&mut context, &arguments.words) {
            Ok(flow) => flow,
            Err(ToolError::NotFound(_)) => {
                self.report(format_args!("{name}: command not found"));
                Ok(NOT_FOUND)
            }
        }
    }

    /// Runs a builtin.
    #[inline(never)]
    pub(crate) fn run_builtin(&mut self, builtin: &'static Builtin, arguments: &CommandArguments) -> Flow {
        let mut context = Context::new(self, builtin.name.as_bytes(), &arguments.values);
        builtin.invoke(&mut context, &arguments.words[1..], arguments.operands.as_deref())
    }
}
