//! One command, of any kind, with its redirections.

use haft_lang::ast::{Command, CommandKind};

use crate::flow::{Flow, Unwind};
use crate::session::Session;

/// How deep commands may be nested while they run: function calls, substitutions, groups. The stack that sessions
/// run on has room for more than this.
const DEPTH: u32 = 60_000;

impl Session {
    /// Runs a command.
    pub(crate) fn run_command(&mut self, command: &Command) -> Flow {
        self.line = command.line;
        if let CommandKind::Simple(simple) = &command.kind {
            let status = self.run_simple(command, simple)?;
            self.set_pipe_status(status);
            return self.concluded(status);
        }
        self.depth += 1;
        let result = self.run_compound(command);
        self.depth -= 1;
        result
    }

    #[inline(never)]
    fn run_compound(&mut self, command: &Command) -> Flow {
        if self.depth > DEPTH {
            return Err(self.too_deep());
        }
        if self.has_pending_signals() {
            self.run_signal_traps()?;
        }
        let status = match command.redirects.is_empty() {
            true => self.run_kind(&command.kind)?,
            false => self.run_redirected(command)?,
        };
        if Self::fails_itself(&command.kind) {
            self.line = command.line;
            self.set_pipe_status(status);
            return self.concluded(status);
        }
        Ok(status)
    }

    pub(crate) fn too_deep(&mut self) -> Unwind {
        self.report("commands are nested too deep");
        Unwind::Abort(1)
    }

    fn run_redirected(&mut self, command: &Command) -> Flow {
        let undo = match self.redirect(&command.redirects)? {
            Ok(undo) => undo,
            Err(()) => {
                self.set_pipe_status(1);
                if Self::fails_itself(&command.kind) { return Ok(1) } else { return self.concluded(1) }
            }
        };
        let result = self.run_kind(&command.kind);
        let flushed = self.restore(undo);
        match result {
            Ok(0) if !flushed => Ok(1),
            result => result,
        }
    }

    pub(crate) fn set_pipe_status(&mut self, status: i32) {
        self.pipe_status.clear();
        self.pipe_status.push(status);
    }

    fn run_kind(&mut self, kind: &CommandKind) -> Flow {
        match kind {
            CommandKind::Simple(_) => Ok(0),
            CommandKind::Group(list) => self.run_list(list),
            CommandKind::Subshell(list) => self.run_parentheses(list),
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
