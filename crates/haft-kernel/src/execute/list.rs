//! Lists, and-or lists, and pipelines of one command.

use haft_lang::ast::{CommandKind, Connector, List, Pipeline, Statement};

use super::parameters::ExecutionParameters;
use crate::flow::Flow;
use crate::options::SetOption;
use crate::session::Session;
use crate::supervision::StageRecorder;

impl Session {
    /// Runs the statements of a list.
    pub(crate) fn run_list(&mut self, list: &List) -> Flow {
        self.run_list_with(list, ExecutionParameters::default())
    }

    /// Runs the statements of a list. The parameters hold for the last one.
    pub(crate) fn run_list_with(&mut self, list: &List, parameters: ExecutionParameters) -> Flow {
        self.within_command(|session| session.run_statements(list, parameters))
    }

    fn run_statements(&mut self, list: &List, last: ExecutionParameters) -> Flow {
        let mut status = 0;
        for (index, statement) in list.statements.iter().enumerate() {
            let is_last = index + 1 == list.statements.len() && is_plain(statement);
            let parameters = if is_last { last } else { ExecutionParameters::default() };
            if self.options.has(SetOption::NoExecute) {
                return Ok(status);
            }
            self.check_cancelled()?;
            status = match statement.background {
                true => self.run_in_background(list, index)?,
                false => self.run_statement(statement, parameters)?,
            };
        }
        Ok(status)
    }

    /// Runs pipelines joined by `&&` and `||`.
    pub(crate) fn run_statement(&mut self, statement: &Statement, parameters: ExecutionParameters) -> Flow {
        if statement.rest.is_empty() {
            return self.run_pipeline(&statement.first, parameters);
        }
        let none = ExecutionParameters::default();
        let mut status = self.as_condition(|session| session.run_pipeline(&statement.first, none))?;
        let last = statement.rest.len() - 1;
        for (index, (connector, pipeline)) in statement.rest.iter().enumerate() {
            let runs = match connector {
                Connector::And => status == 0,
                Connector::Or => status != 0,
            };
            if runs {
                status = match index == last {
                    true => self.run_pipeline(pipeline, none)?,
                    false => self.as_condition(|session| session.run_pipeline(pipeline, none))?,
                };
            }
        }
        Ok(status)
    }

    /// Runs commands joined by `|`.
    pub(crate) fn run_pipeline(&mut self, pipeline: &Pipeline, parameters: ExecutionParameters) -> Flow {
        if self.processes.is_recording() {
            return self.run_recorded(pipeline, parameters);
        }
        self.run_pipeline_recording(pipeline, parameters, &mut None)
    }

    /// Runs a pipeline. `record` collects what is known of its first stage; a pipeline of several stages takes it and
    /// records all stages itself.
    pub(crate) fn run_pipeline_recording(
        &mut self,
        pipeline: &Pipeline,
        parameters: ExecutionParameters,
        record: &mut Option<Box<StageRecorder>>,
    ) -> Flow {
        if let [command] = &*pipeline.stages
            && !pipeline.negated
            && pipeline.time.is_none()
        {
            let status = self.run_command(command, parameters, record.as_deref_mut())?;
            self.parameters.set_status(status);
            return Ok(status);
        }
        self.run_complex_pipeline(pipeline, record)
    }

    #[inline(never)]
    fn run_complex_pipeline(&mut self, pipeline: &Pipeline, record: &mut Option<Box<StageRecorder>>) -> Flow {
        if self.has_pending_signals() {
            self.run_signal_traps()?;
        }
        if let Some(format) = pipeline.time {
            return self.run_timed(pipeline, format, record);
        }
        let status = match pipeline.negated {
            true => self.negated(|session| session.run_stages(pipeline, record))?,
            false => self.run_stages(pipeline, record)?,
        };
        self.parameters.set_status(status);
        Ok(status)
    }

    /// Runs the stages of a pipeline without its `!` and `time`.
    pub(crate) fn run_stages(
        &mut self,
        pipeline: &Pipeline,
        record: &mut Option<Box<StageRecorder>>,
    ) -> Flow {
        match &*pipeline.stages {
            [] => Ok(0),
            [command] => self.run_command(command, ExecutionParameters::default(), record.as_deref_mut()),
            _ => self.run_piped(pipeline, record.take().is_some()),
        }
    }

    /// Whether failure of a command of this kind counts by itself, and not only through the commands within it.
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

/// Whether a statement is one command without `!`, `time`, `&`, `&&` or `||`.
fn is_plain(statement: &Statement) -> bool {
    statement.rest.is_empty()
        && !statement.background
        && !statement.first.negated
        && statement.first.time.is_none()
        && statement.first.stages.len() == 1
}
