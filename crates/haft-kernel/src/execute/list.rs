//! Lists, statements, pipelines of one command.

use haft_lang::ast::{CommandKind, Connector, List, Pipeline, Statement};

use crate::flow::Flow;
use crate::options::SetOption;
use crate::session::Session;

impl Session {
    /// Runs the statements of a list.
    pub(crate) fn run_list(&mut self, list: &List) -> Flow {
        self.as_parts(|session| session.run_statements(list))
    }

    fn run_statements(&mut self, list: &List) -> Flow {
        let mut status = 0;
        let last = std::mem::take(&mut self.moment.may_replace);
        for (index, statement) in list.statements.iter().enumerate() {
            self.moment.may_replace = last && index + 1 == list.statements.len() && is_plain(statement);
            if self.options.has(SetOption::NoExecute) {
                return Ok(status);
            }
            self.check_cancelled()?;
            status = match statement.background {
                true => self.run_in_background(list, index)?,
                false => self.run_statement(statement)?,
            };
        }
        Ok(status)
    }

    /// Runs pipelines joined by `&&` and `||`.
    pub(crate) fn run_statement(&mut self, statement: &Statement) -> Flow {
        if statement.rest.is_empty() {
            return self.run_pipeline(&statement.first);
        }
        let mut status = self.without_errors(|session| session.run_pipeline(&statement.first))?;
        let last = statement.rest.len() - 1;
        for (index, (connector, pipeline)) in statement.rest.iter().enumerate() {
            let runs = match connector {
                Connector::And => status == 0,
                Connector::Or => status != 0,
            };
            if runs {
                status = match index == last {
                    true => self.run_pipeline(pipeline)?,
                    false => self.without_errors(|session| session.run_pipeline(pipeline))?,
                };
            }
        }
        Ok(status)
    }

    /// Runs commands joined by `|`.
    pub(crate) fn run_pipeline(&mut self, pipeline: &Pipeline) -> Flow {
        if self.processes.is_recording() {
            return self.run_recorded(pipeline);
        }
        if let [command] = &*pipeline.stages
            && !pipeline.negated
            && pipeline.time.is_none()
        {
            let status = self.run_command(command)?;
            self.parameters.set_status(status);
            return Ok(status);
        }
        self.run_complex_pipeline(pipeline)
    }

    #[inline(never)]
    fn run_complex_pipeline(&mut self, pipeline: &Pipeline) -> Flow {
        if self.has_pending_signals() {
            self.run_signal_traps()?;
        }
        if let Some(format) = pipeline.time {
            return self.run_timed(pipeline, format);
        }
        let status = match pipeline.negated {
            true => self.negated(|session| session.run_stages(pipeline))?,
            false => self.run_stages(pipeline)?,
        };
        self.parameters.set_status(status);
        Ok(status)
    }

    /// Runs the stages of a pipeline, whatever stands before it.
    pub(crate) fn run_stages(&mut self, pipeline: &Pipeline) -> Flow {
        match &*pipeline.stages {
            [] => Ok(0),
            [command] => self.run_command(command),
            _ => self.run_piped(pipeline),
        }
    }

    /// Whether a failure of a command of this kind is looked at where it stands, and not where it is nested.
    pub(crate) fn fails_itself(kind: &CommandKind) -> bool {
        matches!(
            kind,
            CommandKind::Simple(_)
                | CommandKind::Subshell(_)
                | CommandKind::Conditional(_)
                | CommandKind::Arithmetic(_)
        )
    }
}

/// Whether a statement is one command that is run as it stands.
fn is_plain(statement: &Statement) -> bool {
    statement.rest.is_empty()
        && !statement.background
        && !statement.first.negated
        && statement.first.time.is_none()
        && statement.first.stages.len() == 1
}
