//! What a command name means: a function, a builtin, a program.

use std::sync::Arc;

use haft_lang::ast::SimpleCommand;

use super::arguments::Arguments;
use super::simple::exported;
use crate::builtins::{self, Builtin, Context, Operand, Run};
use crate::bytes::Bytes;
use crate::command::Command;
use crate::flow::Flow;
use crate::session::{Definition, Session};

/// What a command name means.
#[derive(Clone, Debug)]
pub(crate) enum Target {
    Function(Arc<Definition>),
    Builtin(&'static Builtin),
    Added(Arc<dyn Command>),
    /// A script on the script path, by its file.
    Script(Bytes),
    External,
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
        if let Some(command) = self.kernel.commands.get(name) {
            return Target::Added(command.clone());
        }
        let script = self.kernel.scripts.iter().filter(|_| !name.contains(&b'/')).find_map(|directory| {
            let path = [directory, b"/".as_slice(), name].concat();
            let metadata = self.kernel.files.metadata(crate::text::path(&path)).ok()?;
            metadata.is_file().then(|| Bytes::from(path))
        });
        script.map_or(Target::External, Target::Script)
    }

    /// The function of this name.
    #[inline]
    pub(crate) fn function(&self, name: &[u8]) -> Option<Arc<Definition>> {
        if self.functions.is_empty() {
            return None;
        }
        self.functions.get(name).cloned()
    }

    /// The builtin of this name, unless it is turned off.
    pub(crate) fn find_builtin(&self, name: &[u8]) -> Option<&'static Builtin> {
        builtins::find(name).filter(|builtin| !self.disabled.contains(&builtin.name))
    }

    /// The same as [`Session::find`], for a command whose name may be known already.
    #[inline]
    pub(crate) fn find_cached(&self, simple: &SimpleCommand, name: &[u8]) -> Target {
        if let Some(definition) = self.function(name) {
            return Target::Function(definition);
        }
        if simple.name().is_none() || !self.disabled.is_empty() {
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

    /// Runs words as a command: the one way for every command in every position.
    pub(crate) fn dispatch(&mut self, words: &[Bytes]) -> Flow {
        let Some(name) = words.first() else { return Ok(0) };
        let target = self.find(name);
        let arguments = Arguments { words: words.to_vec(), operands: None };
        self.run_target(target, &arguments, &[])
    }

    /// Runs what a name was found to mean, with variables assigned for this command only.
    pub(crate) fn run_target(
        &mut self,
        target: Target,
        arguments: &Arguments,
        assigned: &[(Bytes, Bytes)],
    ) -> Flow {
        match target {
            Target::Function(definition) => self.call(&definition, &arguments.words[1..], assigned),
            Target::Builtin(builtin) if assigned.is_empty() => self.run_builtin(builtin, arguments),
            Target::Builtin(builtin) => {
                let saved: Vec<_> = assigned
                    .iter()
                    .map(|(name, value)| (name, self.variables.swap(name, Some(exported(value.clone())))))
                    .collect();
                let result = self.run_builtin(builtin, arguments);
                for (name, old) in saved.into_iter().rev() {
                    self.variables.swap(name, old);
                }
                result
            }
            Target::Added(command) => {
                let mut context = Context { session: self, name: command.name().as_bytes() };
                command.run(&mut context, &arguments.words[1..])
            }
            Target::Script(path) => self.run_headless(&path, &arguments.words, assigned),
            Target::External => self.run_external(&arguments.words, assigned),
        }
    }

    /// Runs a builtin.
    #[inline(never)]
    pub(crate) fn run_builtin(&mut self, builtin: &'static Builtin, arguments: &Arguments) -> Flow {
        let mut context = Context { session: self, name: builtin.name.as_bytes() };
        let words = &arguments.words[1..];
        match (builtin.run, &arguments.operands) {
            (Run::Words(run), _) => run(&mut context, words),
            (Run::Operands(run), Some(operands)) => run(&mut context, operands),
            (Run::Operands(run), None) => {
                let operands: Vec<Operand> = words.iter().cloned().map(Operand::Word).collect();
                run(&mut context, &operands)
            }
        }
    }
}
