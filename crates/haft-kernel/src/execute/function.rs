//! Defining and calling functions.

use std::sync::Arc;

use haft_lang::ast::Function;
use haft_text::Bytes;

use super::parameters::ExecutionParameters;
use crate::flow::{Flow, Unwind};
use crate::options::{SetOption, ShellOption};
use crate::session::{Definition, Frame, Session};
use crate::shared::CopyOnWrite;
use crate::traps::Trap;
use crate::variables::Attributes;

/// The deepest nesting of function calls, unless `FUNCNEST` sets a lower limit.
const MAX_CALL_DEPTH: usize = 20_000;

/// The calls at some point of the program, to return to.
pub(super) struct SavedCalls {
    scopes: u32,
    frames: usize,
    positional: CopyOnWrite<Vec<Bytes>>,
    source_text: Option<Arc<[u8]>>,
}

impl Session {
    /// Defines a function.
    #[inline(never)]
    pub(crate) fn define(&mut self, function: &Arc<Function>) -> Flow {
        if self.definitions.functions().get(&*function.name).is_some_and(|old| old.readonly) {
            self.report(format_args!("{}: readonly function", function.name));
            return Ok(1);
        }
        if self.options.has(SetOption::Posix) && !self.is_interactive() {
            let problem = match () {
                () if self.kernel.builtins.is_special(&function.name) => Some("is a special builtin"),
                () if !crate::variables::is_name(&function.name) => Some("not a valid identifier"),
                () => None,
            };
            if let Some(problem) = problem {
                self.report(format_args!("`{}': {problem}", function.name));
                return Err(Unwind::Exit(2));
            }
        }
        let definition = Definition {
            function: function.clone(),
            source: self.current_source(),
            text: self.calls.source_text().cloned(),
            exported: self.options.has(SetOption::AllExport),
            readonly: false,
            traced: false,
        };
        self.definitions.functions_mut().insert(function.name.clone(), Arc::new(definition));
        Ok(0)
    }

    /// The file that is being read, for `BASH_SOURCE`.
    pub(crate) fn current_source(&self) -> Bytes {
        match self.calls.frames().last() {
            Some(frame) => frame.source.clone(),
            None => self.source_name(),
        }
    }

    /// SavedCalls a function with arguments, and with variables assigned for this call only.
    pub(crate) fn call(
        &mut self,
        definition: &Definition,
        arguments: &[Bytes],
        assigned: &[(Bytes, Bytes)],
    ) -> Flow {
        self.check_cancelled()?;
        if !self.calls.frames().is_empty() && self.calls.frames().len() >= self.call_limit() {
            let name = &definition.function.name;
            self.report(format_args!(
                "{name}: maximum function nesting level exceeded ({})",
                self.calls.frames().len()
            ));
            return Err(Unwind::Abort(1));
        }
        self.variables.push_scope();
        for (name, value) in assigned {
            let variable = self.variables.localize(name);
            variable.value = crate::variables::VariableValue::Scalar(value.clone());
            variable.attributes = variable
                .attributes
                .union(Attributes::EXPORT.union(Attributes::TEMPORARY))
                .without(Attributes::UNSET);
        }
        let (line, getopts) = (self.calls.line(), self.parameters.getopts());
        self.calls.push(Frame {
            name: definition.function.name.clone(),
            source: definition.source.clone(),
            line,
            is_function: true,
            arguments: self.options.shell(ShellOption::ExtendedDebug).then(|| arguments.into()),
        });
        let mut words = self.caches.spare_words();
        words.extend_from_slice(arguments);
        let positional = self.parameters.replace_positional(words);
        let text = self.calls.set_source_text(definition.text.clone());
        let loops = self.calls.set_loops(0);
        let offset = self.calls.set_line_offset(0);
        let result = self.nested(2, |session| session.run_function_body(definition, text.as_ref()));
        self.calls.set_line_offset(offset);
        if self.stays_for_exit_trap(&result) {
            return result;
        }
        if self.keeps_calls(&result) {
            if let Some(options) = self.variables.pop_scope() {
                self.options = options;
            }
            return result;
        }
        self.calls.set_loops(loops);
        if !matches!(result, Err(Unwind::Exit(_) | Unwind::Signal(_))) {
            self.calls.set_source_text(text);
        }
        if let CopyOnWrite::Own(words) = self.parameters.restore_positional(positional) {
            self.caches.recycle_words(words);
        }
        self.calls.pop();
        if self.parameters.getopts() != getopts && self.variables.is_local(b"OPTIND") {
            // A call with a local `OPTIND` has parsed its own arguments; the caller continues where it was.
            self.parameters.set_getopts(getopts);
        }
        if let Some(options) = self.variables.pop_scope() {
            self.options = options;
        }
        self.calls.set_line(line);
        result
    }

    /// Whether the shell ends within a call. Its `EXIT` trap then still sees the variables and arguments of the call.
    pub(super) fn stays_for_exit_trap(&self, result: &Flow) -> bool {
        let ends = match result {
            Err(Unwind::Exit(_)) => self.trap_state.exits_in_place(),
            Err(Unwind::Signal(_)) => true,
            Err(Unwind::Cancelled) => {
                self.processes.is_supervised() || self.limits.cancel().killed_by().is_some()
            }
            _ => false,
        };
        ends && self.traps.get(Trap::Exit).is_some()
    }

    /// Whether `set -e` ends the shell within a call. Its `EXIT` trap then still sees the call and its arguments.
    pub(super) fn keeps_calls(&self, result: &Flow) -> bool {
        matches!(result, Err(Unwind::Exit(_)))
            && self.trap_state.fails_in_place()
            && self.traps.get(Trap::Exit).is_some()
    }

    /// The calls that the session is in now.
    pub(super) fn save_calls(&self) -> SavedCalls {
        SavedCalls {
            scopes: self.variables.depth(),
            frames: self.calls.frames().len(),
            positional: self.parameters.save_positional(),
            source_text: self.calls.source_text().cloned(),
        }
    }

    /// Leaves the calls that the shell ended within.
    pub(super) fn restore_calls(&mut self, calls: SavedCalls) {
        if self.calls.frames().len() <= calls.frames {
            return;
        }
        while self.variables.depth() > calls.scopes {
            if let Some(options) = self.variables.pop_scope() {
                self.options = options;
            }
        }
        self.calls.truncate(calls.frames);
        self.parameters.restore_positional(calls.positional);
        self.calls.set_source_text(calls.source_text);
        self.calls.set_loops(0);
        self.trap_state.set_exits_in_place(false);
        self.trap_state.set_fails_in_place(false);
    }

    fn call_limit(&self) -> usize {
        match self.variables.get(b"FUNCNEST").and_then(|variable| variable.as_scalar()?.lossy().parse().ok())
        {
            Some(limit) if limit > 0 => MAX_CALL_DEPTH.min(limit),
            _ => MAX_CALL_DEPTH,
        }
    }

    #[inline(never)]
    fn run_function_body(&mut self, definition: &Definition, outer_text: Option<&Arc<[u8]>>) -> Flow {
        let traced = definition.traced || self.options.has(SetOption::FunctionTrace);
        let hidden = self.hide_traps(traced);
        if traced {
            self.calls.set_line(definition.function.body.line);
        }
        self.run_debug_trap_of_call(outer_text)?;
        let result = match self.run_command(&definition.function.body, ExecutionParameters::default(), None) {
            Ok(status) => {
                if self.traps.get(Trap::Return).is_some() {
                    self.calls.set_line(definition.function.body.line);
                }
                Ok(status)
            }
            Err(Unwind::Return(status)) => Ok(status),
            // `break` in a function does not leave a loop outside of it.
            Err(Unwind::Break(_) | Unwind::Continue(_)) => Ok(0),
            other => other,
        };
        // The `RETURN` trap sees the status of the last command before `return`.
        if result.is_ok() && self.traps.get(Trap::Return).is_some() {
            self.run_trap(Trap::Return)?;
        }
        self.show_traps(hidden);
        result
    }
}
