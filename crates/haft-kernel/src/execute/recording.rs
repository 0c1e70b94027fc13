//! Recording the stages of the script's own pipelines for the result of its run.

use std::os::fd::{AsFd as _, AsRawFd as _};

use haft_lang::ast::{Command, CommandKind, Pipeline};
use haft_process::{Exit, Signals, Usage};
use haft_text::Bytes;

use super::arguments::CommandArguments;
use super::dispatch::CommandTarget;
use super::parameters::ExecutionParameters;
use crate::flow::{Flow, SIGNAL_BASE, Unwind};
use crate::memory::uncounted;
use crate::session::Session;
use crate::supervision::{Stage, StageKind, StageRecorder};

/// The status of a stand-in that wrote to a closed pipe.
const BROKEN_PIPE: i32 = SIGNAL_BASE + Signals::PIPE;

impl Session {
    /// A recorder for a command that is about to be expanded.
    pub(super) fn stage_recorder(&self, command: &Command) -> Box<StageRecorder> {
        let kind = match &command.kind {
            CommandKind::Simple(simple) if simple.arguments.is_empty() => {
                return StageRecorder::new(StageKind::Assignment, None);
            }
            CommandKind::Simple(_) => StageKind::Unexpanded,
            _ => StageKind::Compound,
        };
        StageRecorder::new(kind, Some(&self.text_of(command.span)))
    }

    /// Runs a pipeline of the script itself and records its stages.
    #[inline(never)]
    pub(crate) fn run_recorded(&mut self, pipeline: &Pipeline, parameters: ExecutionParameters) -> Flow {
        self.processes.set_recording(false);
        let earlier = self.processes.run().map_or(0, |run| {
            let mut record = run.record();
            record.data = None;
            record.pipelines
        });
        let before = self.count_output();
        let mut record = pipeline.stages.first().map(|first| self.stage_recorder(first));
        let result = self.run_pipeline_recording(pipeline, parameters, &mut record);
        if let Some(record) = record {
            let status = match result {
                Ok(_) => self.parameters.pipe_status().last().copied().unwrap_or(0),
                Err(unwind) => unwind.status(),
            };
            self.record(vec![(record, status)]);
        }
        self.record_output(pipeline, before);
        self.report_stages(earlier);
        self.processes.set_recording(true);
        result
    }

    /// How many bytes were written to the run's standard output until now, if it is captured separately.
    fn count_output(&mut self) -> Option<u64> {
        let run = self.processes.run().cloned()?;
        let (captured, pipe) = (run.captured.stdout.as_ref()?, run.stdout.upgrade()?);
        let _ = self.flush();
        let own = self.open_files.get(1)?.descriptor()?;
        (own.as_raw_fd() == pipe.as_raw_fd()).then(|| captured.written_through(pipe.as_fd()))?
    }

    /// Attributes what a pipeline wrote to the run's standard output to its last stage, unless that stage redirects its
    /// output or something in the background may have written too.
    fn record_output(&mut self, pipeline: &Pipeline, before: Option<u64>) {
        let redirected = pipeline.stages.last().is_some_and(|last| !last.redirects.is_empty());
        let (Some(before), false, true) = (before, redirected, self.runs_nothing_else()) else { return };
        let Some(now) = self.count_output() else { return };
        if let Some(run) = self.processes.run()
            && let Some(last) = run.record().stages.back_mut()
        {
            last.bytes_out = Some(now - before);
        }
    }

    /// Tells the observer of the run about the stages of all pipelines after the `earlier` ones.
    fn report_stages(&self, earlier: usize) {
        let Some(run) = self.processes.run() else { return };
        let Some(observer) = &run.observer else { return };
        // The observer's memory does not belong to the script.
        uncounted(|| {
            let stages = run.record().stages_after(earlier);
            stages.iter().for_each(|stage| observer.stage_ended(stage));
        });
    }

    /// Whether neither jobs nor process substitutions nor orphans run.
    fn runs_nothing_else(&self) -> bool {
        self.jobs.is_empty()
            && self.processes.substitutions().is_empty()
            && self.processes.orphans().is_empty()
    }

    /// Adds the stages of a pipeline to the record of the run.
    pub(crate) fn record(&mut self, records: Vec<(Box<StageRecorder>, i32)>) {
        let Some(run) = self.processes.run() else { return };
        let mut stages: Vec<Stage> =
            records.into_iter().map(|(record, status)| record.into_stage(status)).collect();
        for index in 1..stages.len() {
            let stage = &mut stages[index - 1];
            if matches!(stage.exit, Exit::Signal(Signals::PIPE))
                || (stage.usage.is_none() && stage.exit == Exit::Code(SIGNAL_BASE + Signals::PIPE))
            {
                stage.exit = Exit::Signal(Signals::PIPE);
                stage.closed_by = Some(index);
            }
        }
        run.record().add(stages);
    }

    /// Runs what a name was resolved to, and records what that is and how it ended.
    #[inline(never)]
    pub(crate) fn run_recorded_target(
        &mut self,
        target: CommandTarget,
        arguments: &CommandArguments,
        assigned: &[(Bytes, Bytes)],
        record: &mut StageRecorder,
    ) -> Flow {
        let parameters = ExecutionParameters::default();
        record.identify(target.stage_kind(), &arguments.words);
        if matches!(target, CommandTarget::External) {
            return self.invoke_target(target, arguments, assigned, parameters, Some(record));
        }
        let is_stand_in = matches!(target, CommandTarget::StandIn(_));
        self.processes.set_timed_out(false);
        let result = self.invoke_target(target, arguments, assigned, parameters, None);
        record.set_timed_out(self.processes.set_timed_out(false));
        match result {
            Ok(BROKEN_PIPE) if is_stand_in => record.end(Exit::Signal(Signals::PIPE), Usage::default()),
            Err(Unwind::Signal(signal)) => record.end(Exit::Signal(signal), Usage::default()),
            Err(unwind) => record.end_with(unwind.status()),
            Ok(status) => record.end_with(status),
        }
        result
    }
}

impl CommandTarget {
    /// The kind of stage that it is.
    pub(super) fn stage_kind(&self) -> StageKind {
        match self {
            CommandTarget::Function(_) => StageKind::Function,
            CommandTarget::Builtin(_) => StageKind::Builtin,
            CommandTarget::Added(_) | CommandTarget::StandIn(_) => StageKind::Command,
            CommandTarget::Script(_) => StageKind::Script,
            CommandTarget::External => StageKind::External,
            CommandTarget::Tool => StageKind::Tool,
        }
    }
}
