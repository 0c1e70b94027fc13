//! Simple commands.

use std::sync::Arc;

use haft_lang::ParseOptions;
use haft_lang::ast::{Argument, Assignment, Command, CommandKind, SimpleCommand, WordFlags};
use haft_text::Bytes;

use super::arguments::CommandArguments;
use super::dispatch::CommandTarget;
use super::parameters::ExecutionParameters;
use crate::flow::{Flow, Unwind};
use crate::options::SetOption;
use crate::session::Session;
use crate::supervision::StageRecorder;

impl Session {
    /// Runs a simple command: expands its words, resolves its name, redirects, assigns, and runs it.
    pub(crate) fn run_simple(
        &mut self,
        command: &Command,
        simple: &SimpleCommand,
        parameters: ExecutionParameters,
        record: Option<&mut StageRecorder>,
    ) -> Flow {
        if self.has_pending_signals() {
            self.run_signal_traps()?;
        }
        self.calls.set_command_span(command.span);
        if !parameters.debug_trap_has_run && !self.debug_allows()? {
            return Ok(self.parameters.status());
        }
        if self.options.has(SetOption::Keyword)
            && let Some((text, moved)) = self.with_keywords(simple)
        {
            let before = self.calls.set_source_text(Some(text));
            let result = self.run_prepared(command, &moved, parameters, record);
            self.calls.set_source_text(before);
            return result;
        }
        self.run_prepared(command, simple, parameters, record)
    }

    /// Moves the assignments among the arguments before the name of the command: `set -k`. Returns the new command with its text, or
    /// `None` if there are none.
    #[inline(never)]
    fn with_keywords(&self, simple: &SimpleCommand) -> Option<(Arc<[u8]>, SimpleCommand)> {
        let source = self.calls.source_text()?;
        let is_keyword = |argument: &&Argument| match argument {
            Argument::Word(word) => word.flags.contains(WordFlags::ASSIGNMENT),
            _ => false,
        };
        let words = || simple.arguments.iter().skip(1);
        words().find(is_keyword)?;
        let text_of = |argument: &Argument| argument.word().map(|word| word.span.of(source));
        let assignments = simple.assignments.iter().map(|assignment| assignment.span.of(source));
        let parts: Vec<&[u8]> = assignments
            .chain(words().filter(is_keyword).filter_map(text_of))
            .chain(simple.arguments.first().and_then(text_of))
            .chain(words().filter(|argument| !is_keyword(argument)).filter_map(text_of))
            .collect();
        let text: Arc<[u8]> = parts.join(&b' ').into();
        let lines_before = self.calls.text_line().saturating_sub(1);
        let options = ParseOptions { lines_before, aliases: None, ..self.parse_options() };
        let program = haft_lang::parse(&text, &options).ok()?;
        let [statement] = &*program.body.statements else { return None };
        let [Command { kind: CommandKind::Simple(moved), .. }] = &*statement.first.stages else {
            return None;
        };
        Some((text, SimpleCommand::clone(moved)))
    }

    /// Runs a simple command after the `DEBUG` trap.
    fn run_prepared(
        &mut self,
        command: &Command,
        simple: &SimpleCommand,
        parameters: ExecutionParameters,
        record: Option<&mut StageRecorder>,
    ) -> Flow {
        self.parameters.clear_substitution_status();
        if simple.arguments.is_empty() {
            let substituted = self.open_files.substitution_count();
            let result = self.run_assignments(command, simple);
            self.open_files.close_substitutions(substituted);
            self.parameters.clear_last_argument();
            return result;
        }
        let substituted = self.open_files.substitution_count();
        let mut arguments =
            CommandArguments { words: self.caches.spare_words(), ..CommandArguments::default() };
        self.expand_arguments_into(simple, &mut arguments)?;
        let result = match arguments.words.is_empty() {
            true => self.run_assignments(command, simple),
            false => {
                let target = self.resolve_cached(simple, &arguments.words[0]);
                let target = self.resolve_target(target, &arguments.words);
                let target = self.resolve_stand_in(target, &arguments.words, command);
                self.run_expanded(command, simple, target, &arguments, (parameters, record))
            }
        };
        self.open_files.close_substitutions(substituted);
        self.report_killed_command();
        if let Some(last) = arguments.words.last_mut() {
            self.parameters.swap_last_argument(last);
        }
        self.caches.recycle_words(arguments.words);
        result
    }

    /// Runs a command without a name, whose assignments change the session's variables.
    #[inline(never)]
    fn run_assignments(&mut self, command: &Command, simple: &SimpleCommand) -> Flow {
        for assignment in &simple.assignments {
            self.run_assignment(assignment)?;
        }
        if !command.redirects.is_empty() {
            match self.redirect(&command.redirects)? {
                Some(undo) => drop(self.restore(undo)),
                None => return Ok(1),
            }
        }
        Ok(self.parameters.take_substitution_status().unwrap_or(0))
    }

    /// Runs a command whose words are expanded and whose meaning is known.
    fn run_expanded(
        &mut self,
        command: &Command,
        simple: &SimpleCommand,
        target: CommandTarget,
        arguments: &CommandArguments,
        (parameters, record): (ExecutionParameters, Option<&mut StageRecorder>),
    ) -> Flow {
        if command.redirects.is_empty() && simple.assignments.is_empty() {
            if self.options.has(SetOption::Trace) {
                self.trace_arguments(arguments)?;
            }
            return self.run_target(target, arguments, &[], parameters, record);
        }
        self.run_redirected_target(command, simple, target, arguments, (parameters, record))
    }

    /// Runs a command that has redirections or assignments of its own.
    #[inline(never)]
    fn run_redirected_target(
        &mut self,
        command: &Command,
        simple: &SimpleCommand,
        target: CommandTarget,
        arguments: &CommandArguments,
        (parameters, record): (ExecutionParameters, Option<&mut StageRecorder>),
    ) -> Flow {
        if self.conforms() && self.has_readonly(&simple.assignments) {
            return Err(if self.conforms_to(&target) { Unwind::Exit(1) } else { Unwind::Abort(1) });
        }
        let assigned = self.temporary(&simple.assignments)?;
        if self.options.has(SetOption::Trace) {
            self.trace_arguments(arguments)?;
        }
        let undo = match matches!(target, CommandTarget::External | CommandTarget::StandIn(_)) {
            true => self.redirect_program(&command.redirects)?,
            false => self.redirect(&command.redirects)?.ok_or(1),
        };
        let undo = match undo {
            Ok(undo) => undo,
            Err(status) if self.conforms_to(&target) => return Err(Unwind::Exit(status)),
            Err(status) => return Ok(status),
        };
        let result = self.run_target(target, arguments, &assigned, parameters, record);
        // `exec` without a command makes its redirections permanent.
        if self.open_files.take_keep_redirections() {
            self.make_permanent(undo);
            return result;
        }
        let flushed = self.restore(undo);
        match result {
            Ok(0) if !flushed => Ok(1),
            result => result,
        }
    }

    /// Whether one of the assignments before a command is to a read-only variable, which is reported. In POSIX mode the
    /// command does not run then.
    fn has_readonly(&mut self, assignments: &[Assignment]) -> bool {
        let is_readonly = |assignment: &&Assignment| {
            let variable = self.variables.get(&assignment.name);
            variable.is_some_and(|variable| variable.is(crate::variables::Attributes::READONLY))
        };
        let Some(name) = assignments.iter().find(is_readonly).map(|assignment| assignment.name.clone())
        else {
            return false;
        };
        self.report(format_args!("{name}: readonly variable"));
        true
    }

    /// Whether an error of this command ends the shell, as POSIX requires for special builtins.
    fn conforms_to(&self, target: &CommandTarget) -> bool {
        self.conforms() && matches!(target, CommandTarget::Builtin(builtin) if builtin.special)
    }

    /// Expands the assignments before a command name. Each one sees those before it.
    #[inline(never)]
    fn temporary(&mut self, assignments: &[Assignment]) -> Result<Vec<(Bytes, Bytes)>, Unwind> {
        let mut assigned = Vec::with_capacity(assignments.len());
        let mut saved = Vec::new();
        let mut failure = None;
        for assignment in assignments {
            match self.temporary_value(assignment) {
                Ok(value) => {
                    let name = assignment.name.clone();
                    saved.push((name.clone(), self.variables.swap(&name, Some(exported(value.clone())))));
                    assigned.push((name, value));
                }
                Err(unwind) => {
                    failure = Some(unwind);
                    break;
                }
            }
        }
        for (name, old) in saved.into_iter().rev() {
            self.variables.swap(&name, old);
        }
        match failure {
            Some(unwind) => Err(unwind),
            None => Ok(assigned),
        }
    }

    fn temporary_value(&mut self, assignment: &Assignment) -> Result<Bytes, Unwind> {
        use crate::variables::{AssignedValue, Attributes};
        let name = &assignment.name;
        if self.variables.get(name).is_some_and(|variable| variable.is(Attributes::READONLY)) {
            let shown = name.clone();
            self.report(format_args!("{shown}: readonly variable"));
            if self.conforms() {
                return Err(Unwind::Exit(1));
            }
            return Ok(self.value(name).unwrap_or_default());
        }
        let assigned = self.expand_assignment(assignment, false)?;
        if !assignment.append {
            self.trace_assigned(assignment, &assigned)?;
        }
        let value = match assigned.value {
            AssignedValue::Scalar(value) => value,
            AssignedValue::List(elements) => list_text(&elements),
        };
        if !assignment.append {
            return Ok(value);
        }
        let whole = self.appended_value(name, &value)?;
        self.trace_value(name, &whole)?;
        Ok(whole)
    }

    /// The value of a variable after `name+=value`, without assigning it.
    fn appended_value(&mut self, name: &Bytes, value: &Bytes) -> Result<Bytes, Unwind> {
        use crate::variables::Attributes;
        let mut whole = self.value(name).unwrap_or_default();
        if self.variables.get(name).is_some_and(|variable| variable.is(Attributes::INTEGER)) {
            let sum = self.evaluate_or_fail(&whole)?.wrapping_add(self.evaluate_or_fail(value)?);
            return Ok(sum.to_string().into());
        }
        whole.push(value);
        Ok(whole)
    }
}

/// The list of an array as one string, as the environment of a command has it.
fn list_text(elements: &[crate::variables::AssignedElement]) -> Bytes {
    let words: Vec<Vec<u8>> = elements
        .iter()
        .map(|element| match &element.subscript {
            Some(subscript) => [b"[", &**subscript, b"]=", &*element.value].concat(),
            None => element.value.to_vec(),
        })
        .collect();
    [b"(", &*words.join(&b' '), b")"].concat().into()
}

/// An exported variable with this value.
pub(crate) fn exported(value: Bytes) -> crate::variables::Variable {
    crate::variables::Variable::scalar(value).with(crate::variables::Attributes::EXPORT)
}
