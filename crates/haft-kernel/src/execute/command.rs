//! One command of any kind, with its redirections.

use haft_lang::ast::{Command, CommandKind};

use super::parameters::ExecutionParameters;
use crate::flow::Flow;
use crate::session::Session;
use crate::supervision::StageRecorder;

impl Session {
    /// Runs a command. `record` collects what is known of it, but not of the commands within it.
    pub(crate) fn run_command(
        &mut self,
        command: &Command,
        parameters: ExecutionParameters,
        record: Option<&mut StageRecorder>,
    ) -> Flow {
        self.calls.set_line(command.line);
        if let CommandKind::Simple(simple) = &command.kind {
            let trapped = self.has_error_trap();
            let status = self.run_simple(command, simple, parameters, record)?;
            self.parameters.set_pipe_status(status);
            return self.check_failure_after(status, trapped);
        }
        self.nested(1, |session| session.run_compound(command, parameters))
    }

    #[inline(never)]
    fn run_compound(&mut self, command: &Command, parameters: ExecutionParameters) -> Flow {
        if self.has_pending_signals() {
            self.run_signal_traps()?;
        }
        if !self.traps.is_empty() && Self::fails_itself(&command.kind) {
            self.calls.set_command_span(command.span);
        }
        let status = match command.redirects.is_empty() {
            true => self.run_kind(&command.kind, parameters)?,
            false => self.run_redirected(command, parameters)?,
        };
        if Self::fails_itself(&command.kind) && !Self::fails_redirected(command) {
            return self.check_compound_failure(command, status);
        }
        Ok(status)
    }

    /// Whether failure of a command is handled while its redirections are in effect.
    fn fails_redirected(command: &Command) -> bool {
        let tests = matches!(command.kind, CommandKind::Conditional(_) | CommandKind::Arithmetic(_));
        tests && !command.redirects.is_empty()
    }

    fn check_compound_failure(&mut self, command: &Command, status: i32) -> Flow {
        self.calls.set_line(command.line);
        self.calls.set_command_span(command.span);
        self.report_killed_command();
        self.parameters.set_pipe_status(status);
        self.check_failure(status)
    }

    #[inline(never)]
    fn run_redirected(&mut self, command: &Command, parameters: ExecutionParameters) -> Flow {
        let redirected = self.open_files.is_stdin_redirected();
        let substituted = self.open_files.substitution_count();
        let in_child = matches!(command.kind, CommandKind::Subshell(_));
        if in_child {
            self.open_files.set_stdin_redirected(false);
        }
        self.calls.set_line(self.line_of_redirections(command));
        let Some(undo) = self.redirect_all(&command.redirects, in_child)? else {
            self.open_files.set_stdin_redirected(redirected);
            self.open_files.close_substitutions(substituted);
            self.parameters.set_pipe_status(1);
            let looked_at = Self::fails_itself(&command.kind) && !Self::fails_redirected(command);
            return if looked_at { Ok(1) } else { self.check_failure(1) };
        };
        self.calls.set_line(command.line);
        let result = match self.run_kind(&command.kind, parameters) {
            Ok(status) if Self::fails_redirected(command) => self.check_compound_failure(command, status),
            result => result,
        };
        let flushed = self.restore(undo);
        self.open_files.close_substitutions(substituted);
        self.open_files.set_stdin_redirected(redirected);
        match result {
            Ok(0) if !flushed => Ok(1),
            result => result,
        }
    }

    /// The line of the first redirection of a compound command, for messages. In bash, too, it is not the first line.
    fn line_of_redirections(&self, command: &Command) -> u32 {
        let is_parenthesized = matches!(command.kind, CommandKind::Subshell(_));
        let Some(first) = command.redirects.first().filter(|_| !is_parenthesized) else {
            return command.line;
        };
        let text = self.calls.source_text().map_or(&[][..], |text| text);
        let range = command.span.start as usize..first.span.start as usize;
        let lines = memchr::memchr_iter(b'\n', text.get(range).unwrap_or_default()).count();
        command.line.saturating_add(u32::try_from(lines).unwrap_or(0))
    }

    pub(super) fn run_kind(&mut self, kind: &CommandKind, parameters: ExecutionParameters) -> Flow {
        match kind {
            CommandKind::Simple(_) => Ok(0),
            CommandKind::Group(list) => self.run_list(list),
            CommandKind::Subshell(list) => self.run_parentheses(list, parameters.is_whole_subshell),
            CommandKind::If(branch) => self.run_if(branch),
            CommandKind::For(each) => self.run_for(each),
            CommandKind::ArithmeticFor(each) => self.run_arithmetic_for(each),
            CommandKind::Loop(body) => self.run_loop(body),
            CommandKind::Case(case) => self.run_case(case),
            CommandKind::Select(select) => self.run_select(select),
            CommandKind::Conditional(conditional) => self.run_conditional(conditional),
            CommandKind::Arithmetic(arithmetic) => self.run_arithmetic(arithmetic),
            CommandKind::Function(function) => self.define(function),
            CommandKind::Coprocess(coprocess) => self.run_coprocess(coprocess),
        }
    }
}
