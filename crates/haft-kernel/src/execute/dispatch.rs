//! What a command name means: a function, a builtin, a program.

use std::sync::Arc;

use haft_lang::ast::SimpleCommand;
use haft_text::Bytes;

use super::arguments::Arguments;
use super::parameters::ExecutionParameters;
use crate::builtins::{self, Builtin, BuiltinFunction, Context, Operand};
use crate::command::{Added, ToolError};
use crate::flow::Flow;
use crate::options::SetOption;
use crate::run::StageRecorder;
use crate::session::{Definition, Session};
use crate::values::JsonValues;
use crate::variables::AssignmentLifetime;

/// What a command name means.
#[derive(Clone, Debug)]
pub(crate) enum Target {
    Function(Arc<Definition>),
    Builtin(&'static Builtin),
    Added(Added),
    /// A script on the script path, by its file.
    Script(Bytes),
    External,
    /// A tool of the backend.
    Tool,
}

/// What the slot of a command says about its name: not looked up yet, no builtin, or the place of a builtin after
/// these.
const UNKNOWN: u32 = 0;
const NO_BUILTIN: u32 = 1;
const FIRST_BUILTIN: u32 = 2;

impl Session {
    /// Finds out what a name means, in the order in which it is to be looked for.
    pub(crate) fn find(&self, name: &[u8]) -> Target {
        if let Some(definition) = self.function(name) {
            return Target::Function(definition);
        }
        match self.find_builtin(name) {
            Some(builtin) => Target::Builtin(builtin),
            None => self.find_beyond(name),
        }
    }

    /// What a name means that is neither a function nor a builtin.
    fn find_beyond(&self, name: &[u8]) -> Target {
        if let Some(command) = self.kernel.added(name) {
            return Target::Added(command);
        }
        self.find_script(name).map_or(Target::External, Target::Script)
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
        if self.definitions.functions().is_empty() || (self.options.has(SetOption::Posix) && is_special(name))
        {
            return None;
        }
        self.definitions.functions().get(name).cloned()
    }

    /// The builtin of this name, unless it is turned off.
    pub(crate) fn find_builtin(&self, name: &[u8]) -> Option<&'static Builtin> {
        builtins::find(name).filter(|builtin| !self.definitions.disabled_builtins().contains(&builtin.name))
    }

    /// The same as [`Session::find`], for a command whose name may be known already.
    #[inline]
    pub(crate) fn find_cached(&self, simple: &SimpleCommand, name: &[u8]) -> Target {
        if let Some(definition) = self.function(name) {
            return Target::Function(definition);
        }
        if simple.name().is_none() || !self.definitions.disabled_builtins().is_empty() {
            return self.find(name);
        }
        match simple.slot.get() {
            UNKNOWN => {
                let place = builtins::ALL.iter().position(|builtin| builtin.name.as_bytes() == name);
                let found = place.and_then(|place| u32::try_from(place).ok());
                simple.slot.set(found.map_or(NO_BUILTIN, |place| place + FIRST_BUILTIN));
                found
                    .and_then(|place| builtins::ALL.get(place as usize))
                    .map_or_else(|| self.find_beyond(name), Target::Builtin)
            }
            NO_BUILTIN => self.find_beyond(name),
            place => {
                let builtin = builtins::ALL.get((place - FIRST_BUILTIN) as usize);
                builtin.map_or(Target::External, Target::Builtin)
            }
        }
    }

    /// What a command comes to, now that its arguments are known: one may step aside for a program, and a tool comes
    /// after the programs.
    #[inline]
    pub(crate) fn settle(&mut self, target: Target, words: &[Bytes]) -> Target {
        match &target {
            Target::Added(command) if command.steps_aside(self, &words[1..]) => {
                if self.has_program(&words[0]) { Target::External } else { target }
            }
            Target::External if self.kernel.backend.is_some() && self.reaches_tool(&words[0]) => Target::Tool,
            _ => target,
        }
    }

    /// Whether a program of this name can be started.
    pub fn has_program(&mut self, name: &[u8]) -> bool {
        self.kernel.allows_programs() && self.locate_program(name, &[], 0).is_some()
    }

    /// Whether words name a command that is neither a function nor a builtin nor a program.
    pub(crate) fn is_found_beyond(&mut self, words: &[Bytes]) -> bool {
        let target = self.find_beyond(&words[0]);
        !matches!(self.settle(target, words), Target::External)
    }

    /// Whether a name that is neither a function nor a builtin nor an added command means a tool.
    fn reaches_tool(&mut self, name: &[u8]) -> bool {
        !self.has_program(name)
            && !self.definitions.functions().contains_key(b"command_not_found_handle".as_slice())
            && self.kernel.backend.as_ref().is_some_and(|backend| backend.has_tool(name))
    }

    /// Whether a JSON word after these words, the name of a command first, is a value to that command.
    pub fn takes_values(&mut self, words: &[Bytes]) -> bool {
        let Some(name) = words.first() else { return false };
        match self.find(name) {
            Target::Builtin(builtin) if matches!(builtin.name, "command" | "exec") => {
                let options = words[1..].iter().take_while(|word| word.starts_with(b"-")).count();
                let words = &words[1 + options..];
                words.first().is_some_and(|name| !self.definitions.functions().contains_key(name.as_bytes()))
                    && self.takes_values(words)
            }
            Target::Added(command) => command.takes_values(self, &words[1..]),
            Target::External => self.kernel.backend.is_some() && self.reaches_tool(name),
            Target::Function(_) | Target::Builtin(_) | Target::Script(_) | Target::Tool => false,
        }
    }

    /// Runs words as a command: the one way for every command in every position.
    pub(crate) fn dispatch(&mut self, words: &[Bytes], values: &JsonValues) -> Flow {
        let Some(name) = words.first() else { return Ok(0) };
        let target = self.find(name);
        self.dispatch_to(target, words, values, None)
    }

    /// Runs words as a command. `record` collects what is known of it.
    pub(super) fn dispatch_recording(&mut self, words: &[Bytes], record: Option<&mut StageRecorder>) -> Flow {
        let target = self.find(&words[0]);
        self.dispatch_to(target, words, &[], record)
    }

    /// Runs words as a command that is neither a function nor a builtin.
    pub(crate) fn dispatch_beyond(&mut self, words: &[Bytes], values: &JsonValues) -> Flow {
        let target = self.find_beyond(&words[0]);
        self.dispatch_to(target, words, values, None)
    }

    fn dispatch_to(
        &mut self,
        target: Target,
        words: &[Bytes],
        values: &JsonValues,
        record: Option<&mut StageRecorder>,
    ) -> Flow {
        let target = self.settle(target, words);
        let arguments = Arguments { words: words.to_vec(), operands: None, values: values.to_vec() };
        self.run_target(target, &arguments, &[], ExecutionParameters::default(), record)
    }

    /// Runs what a name was resolved to, with variables assigned for this command only. `record` collects what is known of
    /// it.
    pub(crate) fn run_target(
        &mut self,
        target: Target,
        arguments: &Arguments,
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
        target: Target,
        arguments: &Arguments,
        assigned: &[(Bytes, Bytes)],
        parameters: ExecutionParameters,
        record: Option<&mut StageRecorder>,
    ) -> Flow {
        match target {
            Target::Function(definition) => self.call(&definition, &arguments.words[1..], assigned),
            Target::Builtin(builtin) if assigned.is_empty() => self.run_builtin(builtin, arguments),
            Target::Builtin(builtin) => {
                let lasts = match builtin.name {
                    // POSIX has special builtins keep everything.
                    _ if builtin.special && self.options.has(SetOption::Posix) => {
                        AssignmentLifetime::Permanent
                    }
                    "eval" | "." | "source" => AssignmentLifetime::Builtin,
                    _ => AssignmentLifetime::UnlessDeclared,
                };
                self.with_assigned(assigned, lasts, |session| session.run_builtin(builtin, arguments))
            }
            Target::Added(command) => self.with_assigned(assigned, AssignmentLifetime::Builtin, |session| {
                session.run_added(&command, arguments)
            }),
            Target::Tool => self
                .with_assigned(assigned, AssignmentLifetime::Builtin, |session| session.call_tool(arguments)),
            Target::Script(path) => self.run_headless(&path, &arguments.words, assigned),
            Target::External => self.run_external(&arguments.words, assigned, parameters, record),
        }
    }

    /// Runs something in this session with variables assigned for so long, or to stay.
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

    fn run_added(&mut self, command: &Added, arguments: &Arguments) -> Flow {
        let name = command.name().as_bytes();
        self.catch_command_panic(name, |session| {
            let mut context = Context::new(session, name, &arguments.values);
            command.run(&mut context, &arguments.words[1..])
        })
    }

    fn call_tool(&mut self, arguments: &Arguments) -> Flow {
        let name = &arguments.words[0];
        let Some(backend) = self.kernel.backend.clone() else { return Ok(127) };
        let mut context = Context::new(self, name, &arguments.values);
        match backend.call_tool(&mut context, &arguments.words) {
            Ok(flow) => flow,
            Err(ToolError::NotFound(_)) => {
                self.report(format_args!("{name}: command not found"));
                Ok(127)
            }
        }
    }

    /// Runs a builtin.
    #[inline(never)]
    pub(crate) fn run_builtin(&mut self, builtin: &'static Builtin, arguments: &Arguments) -> Flow {
        let mut context = Context::new(self, builtin.name.as_bytes(), &arguments.values);
        let words = &arguments.words[1..];
        let result = match (builtin.run, &arguments.operands) {
            (BuiltinFunction::Words(run), _) => run(&mut context, words),
            (BuiltinFunction::Operands(run), Some(operands)) => run(&mut context, operands),
            (BuiltinFunction::Operands(run), None) => {
                let operands: Vec<Operand> = words.iter().cloned().map(Operand::Word).collect();
                run(&mut context, &operands)
            }
        };
        context.status_after_output(result)
    }
}

/// Whether POSIX calls the builtin of this name special.
pub(crate) fn is_special(name: &[u8]) -> bool {
    builtins::find(name).is_some_and(|builtin| builtin.special)
}
