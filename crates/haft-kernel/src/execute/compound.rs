//! `if`, `case`, `(( ))`, `( )`.

use haft_lang::ast::{Arithmetic, Case, CaseEnd, CommandKind, If, List};
use haft_text::pattern::Pattern;

use super::dispatch::CommandTarget;
use super::stack::SUBSHELL_UNITS;
use crate::expand::ArithmeticFailure;
use crate::flow::{Flow, Unwind};
use crate::options::ShellOption;
use crate::session::Session;
use crate::traps::Trap;

impl Session {
    #[inline(never)]
    pub(crate) fn run_if(&mut self, branch: &If) -> Flow {
        for branch in &branch.branches {
            if self.as_condition(|session| session.run_list(&branch.condition))? == 0 {
                return self.run_list(&branch.body);
            }
        }
        match &branch.otherwise {
            Some(otherwise) => self.run_list(otherwise),
            None => Ok(0),
        }
    }

    /// Runs the `DEBUG` trap before a `case`; `BASH_COMMAND` shows only its first line.
    fn announce_case(&mut self, case: &Case) -> Result<(), Unwind> {
        if self.traps.get(Trap::Debug).is_none() {
            return Ok(());
        }
        let shown = [b"case ", self.text_of(case.subject.span).as_bytes(), b" in "].concat();
        let before = self.calls.set_trapped_command(Some(shown.into()));
        let result = self.run_debug_trap();
        self.calls.set_trapped_command(before);
        result
    }

    #[inline(never)]
    pub(crate) fn run_case(&mut self, case: &Case) -> Flow {
        self.announce_case(case)?;
        self.trace_case(&case.subject)?;
        let subject = self.expand_subject(&case.subject)?;
        let mut status = 0;
        let mut falls = false;
        for clause in &case.clauses {
            let mut matched = falls;
            for pattern in &clause.patterns {
                if matched {
                    break;
                }
                matched = match pattern.plain() {
                    Some(text) if !self.options.shell(ShellOption::NoCaseMatch) => text == &*subject,
                    _ => {
                        let text = self.expand_pattern(pattern)?;
                        Pattern::compile(&text, self.pattern_options_for(&subject)).matches(&subject)
                    }
                };
            }
            if !matched {
                continue;
            }
            status = self.run_list(&clause.body)?;
            match clause.end {
                CaseEnd::Break => return Ok(status),
                CaseEnd::FallThrough => falls = true,
                CaseEnd::Continue => falls = false,
            }
        }
        Ok(status)
    }

    /// `(( … ))` fails if the value is 0.
    #[inline(never)]
    pub(crate) fn run_arithmetic(&mut self, expression: &Arithmetic) -> Flow {
        self.run_debug_trap()?;
        self.trace_arithmetic(expression)?;
        match self.try_evaluate(expression) {
            Ok(value) => Ok(i32::from(value == 0)),
            Err(ArithmeticFailure::Unwind(unwind)) => Err(unwind),
            Err(ArithmeticFailure::Variable(error)) => {
                self.report(format_args!("((: {error}"));
                Ok(1)
            }
            Err(ArithmeticFailure::Expression(error)) => {
                let text = self.expand_string(&expression.text)?;
                self.report(format_args!("((: {}", error.describe(&text)));
                Ok(1)
            }
        }
    }

    /// Whether a list is one program and nothing else.
    pub(super) fn is_one_program(&self, list: &List) -> bool {
        let [statement] = &*list.statements else { return false };
        let [command] = &*statement.first.stages else { return false };
        let CommandKind::Simple(simple) = &command.kind else { return false };
        let plain = statement.rest.is_empty() && !statement.background && !statement.first.negated;
        plain && simple.name().is_some_and(|name| matches!(self.resolve_name(name), CommandTarget::External))
    }

    /// `( … )`. One that is the whole of this subshell takes its place.
    #[inline(never)]
    pub(crate) fn run_parentheses(&mut self, list: &List, is_whole_subshell: bool) -> Flow {
        if self.controls_jobs() {
            return self.run_controlled_subshell(list);
        }
        let redirected = self.open_files.is_stdin_redirected();
        let mut child = self.fork();
        child.jobs.hide_inherited();
        if is_whole_subshell {
            child.identity.take_place_of(&self.identity);
            child.signals = self.signals.clone().filter(|_| !self.identity.leads_process());
        }
        if !redirected {
            child.open_files.set_stdin_redirected(false);
        }
        if self.traps.get(Trap::Error).is_some() && self.is_one_program(list) {
            // Bash execs the program, so no trap is left.
            child.traps.reset(Trap::Error);
        }
        child.publish_traps();
        let ended = child.nested(SUBSHELL_UNITS, |child| child.run_list(list));
        let signal = match ended {
            Err(Unwind::Signal(signal)) => Some(signal),
            _ => None,
        };
        let result = child.end_subshell(ended);
        self.adopt_output(&mut child);
        self.publish_traps();
        self.raise_child_signal();
        if let Some(signal) = signal.filter(|_| !is_whole_subshell) {
            self.processes.set_killed_command(child.identity.own_pid(), signal);
        }
        result
    }
}
