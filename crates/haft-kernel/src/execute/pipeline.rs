//! Pipelines of several commands.
//!
//! Each stage is a subshell. A stage that is a program is started directly, connected to its neighbours by pipes. A stage
//! that runs in this process gets a thread, except that the last of those may run on the thread of the session.

use std::sync::Arc;
use std::thread;

use haft_lang::ast::{Argument, Command, CommandKind, Pipeline, SharedSlice, SimpleCommand, WordFlags};
use haft_process::{CANCELLED, Signals};

use super::arguments::CommandArguments;
use super::dispatch::CommandTarget;
use super::external::Started;
use super::parameters::ExecutionParameters;
use crate::fan::{Role, STACK};
use crate::flow::{Flow, Unwind};
use crate::io::OpenFile;
use crate::jobs::{Completion, Member, ThreadControl};
use crate::memory::MemoryBudget;
use crate::options::{SetOption, ShellOption};
use crate::session::Session;
use crate::signals::SignalInbox;
use crate::supervision::{StageKind, StageRecorder};
use crate::traps::Trap;

/// The status of a stage for which there was no pipe or thread.
pub(super) const CANNOT_START: i32 = 254;

/// A stage that runs in this process.
pub(crate) struct StageWork {
    session: Session,
    stages: SharedSlice<Command>,
    /// The first stage of a fan-out; else the same as `index`.
    first: usize,
    index: usize,
    /// The expanded words and their meaning, if they are known already.
    expanded: Option<(CommandArguments, CommandTarget)>,
    debug_trap_has_run: bool,
    record: Option<Box<StageRecorder>>,
}

/// State that all stages of a pipeline share.
#[derive(Clone, Copy, Default)]
struct StageOptions {
    /// Each stage is recorded.
    recorded: bool,
    /// The pipeline is all that its subshell runs.
    is_whole_subshell: bool,
    /// The `DEBUG` trap has run for the stages that are simple commands.
    debug_trap_has_run: bool,
}

/// A stage after [`start_stage`].
enum PreparedStage {
    Running(Member),
    Ready(Box<StageWork>),
}

impl Session {
    /// Runs the stages of a pipeline and waits for all of them.
    pub(crate) fn run_piped(&mut self, pipeline: &Pipeline, recorded: bool) -> Flow {
        let _ = self.flush();
        if self.controls_jobs() {
            return self.run_controlled_pipeline(pipeline);
        }
        let count = pipeline.stages.len();
        if !self.has_whole_fans(&pipeline.stages) {
            self.parameters.set_pipe_status(2);
            return self.check_failure(2);
        }
        let own_last = self.options.shell(ShellOption::LastPipe)
            && !self.options.has(SetOption::Monitor)
            && self.role(&pipeline.stages[count - 1]) == Role::Stage;
        let forked = if own_last { count - 1 } else { count };
        let debug_trap_has_run = self.debug_stages(&pipeline.stages[..forked])?;
        let options = StageOptions { recorded, debug_trap_has_run, is_whole_subshell: false };
        let (stages, input) = match self.start_stages(pipeline, forked, options) {
            Ok(started) => started,
            Err(error) => {
                return Err(self.fail(format_args!("cannot make a pipe: {}", haft_fs::message(&error))));
            }
        };
        let mut members = self.run_stages_ready(stages, !own_last);
        if own_last {
            let command = &pipeline.stages[count - 1];
            let mut record = recorded.then(|| self.stage_recorder(command));
            match self.run_own_last(command, input, record.as_deref_mut()) {
                Ok(status) => members.push(Member::ended(status).recorded(record)),
                Err(unwind) => {
                    self.abandon(&mut members, Signals::PIPE);
                    return Err(unwind);
                }
            }
        }
        let statuses = self.wait_for_stages(&mut members, recorded);
        if recorded {
            self.record(members.into_iter().filter_map(Member::into_record).collect());
        }
        self.end_pipeline(pipeline, statuses?)
    }

    /// Waits for all stages of a pipeline and returns their exit statuses. If the wait is cut short, the stages that still run are ended,
    /// or left to their signal.
    fn wait_for_stages(&mut self, members: &mut Vec<Member>, recorded: bool) -> Result<Vec<i32>, Unwind> {
        let held = self.hold_interrupt();
        let waited = if recorded { self.wait_all(members) } else { Ok(()) };
        let statuses =
            waited.and_then(|()| members.iter_mut().map(|member| self.wait_member(member)).collect());
        let died_of_it = members.last().is_some_and(|last| last.died == Some(Signals::INT));
        let released = self.release_interrupt(held, died_of_it);
        let result = statuses.and_then(|statuses| released.map(|()| statuses));
        match result {
            Ok(_) => {}
            Err(Unwind::Signal(_)) => members.drain(..).for_each(Member::detach),
            Err(_) => self.abandon(members, Signals::TERM),
        }
        result
    }

    /// Sets `PIPESTATUS` and returns the status of a pipeline whose stages have ended.
    pub(super) fn end_pipeline(&mut self, pipeline: &Pipeline, statuses: Vec<i32>) -> Flow {
        let failed = statuses.iter().rev().find(|status| **status != 0).copied().unwrap_or(0);
        let last = statuses.last().copied().unwrap_or(0);
        self.parameters.set_pipe_statuses(statuses);
        if let Some(stage) = pipeline.stages.last() {
            self.calls.set_line(stage.line);
            self.calls.set_command_span(stage.span);
            // Failure of a subshell at the end triggers the `ERR` trap once for itself and once for the pipeline.
            if last != 0 && !self.ignores_failure() && matches!(stage.kind, CommandKind::Subshell(_)) {
                self.run_error_trap(last)?;
            }
        }
        self.check_failure(if self.options.has(SetOption::PipeFail) { failed } else { last })
    }

    /// Makes the pipes and starts those of the first `count` stages that are programs. Also returns the read end of the
    /// last pipe if there is a further stage.
    fn start_stages(
        &mut self,
        pipeline: &Pipeline,
        count: usize,
        options: StageOptions,
    ) -> std::io::Result<(Vec<PreparedStage>, Option<Arc<OpenFile>>)> {
        let mut input: Option<Arc<OpenFile>> = None;
        let mut stages = Vec::with_capacity(count);
        let mut first = 0;
        while first < count {
            let index = self.fan_end(&pipeline.stages, first);
            let mut child = self.fork();
            if !lists_jobs(&pipeline.stages[index]) {
                child.jobs.hide_inherited();
            }
            let mut record = options.recorded.then(|| self.stage_recorder(&pipeline.stages[index]));
            if options.is_whole_subshell {
                child.identity.take_depth_of(&self.identity);
            }
            if let Some(input) = input.take() {
                child.open_files.set(0, input);
                child.open_files.set_stdin_redirected(true);
            }
            if index + 1 < pipeline.stages.len() {
                // The pipe has the usual size: a script can observe how much fits.
                let (reader, writer) = rustix::pipe::pipe_with(rustix::pipe::PipeFlags::CLOEXEC)?;
                input = Some(Arc::new(OpenFile::pipe(reader)));
                let output = Arc::new(OpenFile::pipe(writer));
                record.iter_mut().for_each(|record| record.count(output.written().clone()));
                child.open_files.set(1, output);
            }
            let work = Box::new(StageWork {
                session: child,
                stages: pipeline.stages.clone(),
                first,
                index,
                expanded: None,
                debug_trap_has_run: options.debug_trap_has_run,
                record,
            });
            if index > first {
                // A fan-out has one member for all its stages; the others have no status of their own.
                stages.extend((first..index).map(|_| PreparedStage::Running(Member::ended(0))));
                stages.push(PreparedStage::Ready(work));
            } else {
                stages.push(start_stage(work));
            }
            first = index + 1;
        }
        Ok((stages, input))
    }

    /// Runs the stages that run in this process on threads; the last one on this thread if that is safe.
    fn run_stages_ready(&mut self, stages: Vec<PreparedStage>, inline: bool) -> Vec<Member> {
        let last_stage = stages.len() - 1;
        let last_ready = stages.iter().rposition(|stage| matches!(stage, PreparedStage::Ready(_)));
        // With an `EXIT` trap, a signal that ends the shell is caught, and must not wait for a stage.
        let inline = inline && self.traps.get(Trap::Exit).is_none();
        // In a command substitution, a stage before the last must not run here: the capture would not be read meanwhile.
        let here = last_ready.filter(|at| inline && (*at == last_stage || !self.processes.is_captured()));
        let mut chosen = None;
        let mut members = Vec::with_capacity(stages.len());
        for (index, stage) in stages.into_iter().enumerate() {
            members.push(match stage {
                PreparedStage::Running(member) => member,
                PreparedStage::Ready(work) if Some(index) == here => {
                    chosen = Some((index, work));
                    Member::ended(0)
                }
                PreparedStage::Ready(work) => work.start(),
            });
        }
        if let Some((index, work)) = chosen {
            let (status, record) = work.run();
            members[index] = Member::ended(status).recorded(record);
        }
        members
    }

    /// `lastpipe`: runs the last stage in this session.
    fn run_own_last(
        &mut self,
        command: &Command,
        input: Option<Arc<OpenFile>>,
        record: Option<&mut StageRecorder>,
    ) -> Flow {
        let parameters = ExecutionParameters::default();
        let Some(input) = input else { return self.run_command(command, parameters, record) };
        let before = self.open_files.set(0, input);
        let result = self.as_condition(|session| session.run_command(command, parameters, record));
        self.open_files.restore(0, before);
        result
    }

    /// Starts a pipeline without waiting for it; returns its stages.
    pub(crate) fn start_pipeline(&mut self, pipeline: &Pipeline, is_whole_subshell: bool) -> Vec<Member> {
        let _ = self.flush();
        if !self.has_whole_fans(&pipeline.stages) {
            return vec![Member::ended(2)];
        }
        let debug_trap_has_run = is_whole_subshell && pipeline.stages.len() == 1;
        let options = StageOptions { is_whole_subshell, debug_trap_has_run, ..StageOptions::default() };
        match self.start_stages(pipeline, pipeline.stages.len(), options) {
            Ok((stages, _)) => self.run_stages_ready(stages, false),
            Err(error) => {
                self.report(format_args!("cannot make a pipe: {}", haft_fs::message(&error)));
                vec![Member::ended(CANNOT_START)]
            }
        }
    }
}

/// Starts a stage if it is a program.
fn start_stage(mut work: Box<StageWork>) -> PreparedStage {
    let stages = work.stages.clone();
    let command = &stages[work.index];
    let session = &mut work.session;
    let CommandKind::Simple(simple) = &command.kind else { return PreparedStage::Ready(work) };
    if simple.arguments.is_empty() || runs_commands(command, simple) || session.traps.has_actions() {
        return PreparedStage::Ready(work);
    }
    session.calls.set_line(command.line);
    session.calls.set_command_span(command.span);
    let arguments = match session.expand_arguments(simple) {
        Ok(arguments) => arguments,
        Err(unwind) => return work.failed(Err(unwind)),
    };
    let target = arguments.words.first().map(|name| session.resolve_name(name));
    let target = target.map(|target| session.resolve_target(target, &arguments.words));
    let target = target.map(|target| session.resolve_stand_in(target, &arguments.words, command));
    match target {
        Some(CommandTarget::External) => start_program(work, command, arguments),
        Some(target) => {
            work.expanded = Some((arguments, target));
            PreparedStage::Ready(work)
        }
        None => PreparedStage::Ready(work),
    }
}

/// Whether expanding a command runs commands, which must not happen before all stages exist.
pub(super) fn runs_commands(command: &Command, simple: &SimpleCommand) -> bool {
    let in_arguments = simple.arguments.iter().any(|argument| match argument {
        Argument::Word(word) => word.flags.contains(WordFlags::COMMANDS),
        _ => true,
    });
    in_arguments || !simple.assignments.is_empty() || command.redirects.iter().any(|_| has_commands(command))
}

fn has_commands(command: &Command) -> bool {
    use haft_lang::ast::{Duplicate, RedirectKind as Kind};
    command.redirects.iter().any(|redirect| match &redirect.kind {
        Kind::Read(word)
        | Kind::Write(word)
        | Kind::Clobber(word)
        | Kind::Append(word)
        | Kind::ReadWrite(word)
        | Kind::WriteBoth(word)
        | Kind::AppendBoth(word)
        | Kind::HereString(word) => word.flags.contains(WordFlags::COMMANDS),
        Kind::HereDocument(document) => document.body().flags.contains(WordFlags::COMMANDS),
        Kind::DuplicateInput(Duplicate::Word(word)) | Kind::DuplicateOutput(Duplicate::Word(word)) => {
            word.flags.contains(WordFlags::COMMANDS)
        }
        Kind::DuplicateInput(_) | Kind::DuplicateOutput(_) => false,
    })
}

fn start_program(mut work: Box<StageWork>, command: &Command, arguments: CommandArguments) -> PreparedStage {
    let session = &mut work.session;
    match session.redirect(&command.redirects) {
        Ok(Some(undo)) => session.make_permanent(undo),
        Ok(None) => return work.failed(Ok(1)),
        Err(unwind) => return work.failed(Err(unwind)),
    }
    if session.options.has(SetOption::Trace)
        && let Err(unwind) = session.trace_words(&arguments.words)
    {
        return work.failed(Err(unwind));
    }
    work.record.iter_mut().for_each(|record| record.identify(StageKind::External, &arguments.words));
    match session.start_external(&arguments.words, &[]) {
        Ok(Started::Child(child)) => {
            PreparedStage::Running(Member::process(child).recorded(work.record.take()))
        }
        Ok(Started::Failed(status)) => work.failed(Ok(status)),
        Ok(Started::NoShebang(_)) => {
            work.expanded = Some((arguments, CommandTarget::External));
            PreparedStage::Ready(work)
        }
        Err(unwind) => work.failed(Err(unwind)),
    }
}

impl StageWork {
    /// Runs something in a subshell on a new thread.
    pub(crate) fn on_thread(
        session: Session,
        run: impl FnOnce(&mut Session) -> Flow + Send + 'static,
    ) -> Member {
        on_recorded_thread(session, None, |session, _| run(session))
    }

    fn start(self) -> Member {
        let Self { session, stages, first, index, expanded, debug_trap_has_run, record } = self;
        on_recorded_thread(session, record, move |session, record| {
            run_stage(session, &stages[first..=index], expanded, debug_trap_has_run, record)
        })
    }

    /// Runs the stage on this thread.
    fn run(self) -> (i32, Option<Box<StageRecorder>>) {
        let Self { mut session, stages, first, index, expanded, debug_trap_has_run, mut record } = self;
        let status = session.run_as_subshell(|session| {
            run_stage(session, &stages[first..=index], expanded, debug_trap_has_run, record.as_deref_mut())
        });
        session.release_jobs();
        (status, record)
    }

    /// Ends the stage before it has begun.
    fn failed(mut self: Box<Self>, result: Flow) -> PreparedStage {
        let status = self.session.end_subshell(result).unwrap_or(CANCELLED);
        PreparedStage::Running(Member::ended(status).recorded(self.record.take()))
    }
}

/// Runs something in a subshell on a new thread, whose record is left in the member.
fn on_recorded_thread(
    mut session: Session,
    mut record: Option<Box<StageRecorder>>,
    run: impl FnOnce(&mut Session, Option<&mut StageRecorder>) -> Flow + Send + 'static,
) -> Member {
    if session.is_stopping() {
        return Member::ended(CANCELLED);
    }
    let completion = Completion::new();
    let cancel = session.limits.cancel().child();
    session.limits.set_cancel(cancel.clone());
    let signals: Arc<SignalInbox> = Arc::default();
    session.signals = Some(signals.clone());
    session.publish_traps();
    let stop = session.limits.stop().child();
    session.limits.set_stop(stop.clone());
    let control = ThreadControl { cancel, stop, signals };
    let registered = session.processes.run().map(|run| run.stopping.register(&control));
    session.limits.begin_thread();
    let (pid, left) = (session.identity.own_pid(), completion.clone());
    let memory = session.memory.clone();
    let body = move || {
        let counted = memory.enter();
        let status = session.run_as_subshell(|session| run(session, record.as_deref_mut()));
        session.release_jobs();
        left.leave_record(record);
        drop(session);
        drop(registered);
        MemoryBudget::release_stack();
        drop(counted);
        left.complete(status);
    };
    MemoryBudget::count_stack();
    match thread::Builder::new().stack_size(STACK).spawn(body) {
        Ok(_) => Member::thread(pid, completion, control),
        Err(_) => {
            MemoryBudget::release_stack();
            Member::ended(CANNOT_START)
        }
    }
}

fn run_stage(
    session: &mut Session,
    stages: &[Command],
    expanded: Option<(CommandArguments, CommandTarget)>,
    debug_trap_has_run: bool,
    record: Option<&mut StageRecorder>,
) -> Flow {
    let [command] = stages else { return session.run_fan(stages, record) };
    let CommandKind::Simple(simple) = &command.kind else {
        let is_whole_subshell = matches!(command.kind, CommandKind::Subshell(_));
        let parameters = ExecutionParameters { is_whole_subshell, ..Default::default() };
        return session.run_command(command, parameters, record);
    };
    let parameters = ExecutionParameters { debug_trap_has_run, ..Default::default() };
    // A simple command is the whole of its subshell, so its failure triggers no trap there.
    let Some((arguments, target)) = expanded else {
        session.calls.set_line(command.line);
        return session.run_simple(command, simple, parameters, record);
    };
    let Some(undo) = session.redirect(&command.redirects)? else { return Ok(1) };
    if session.options.has(SetOption::Trace) {
        session.trace_words(&arguments.words)?;
    }
    let result = session.run_target(target, &arguments, &[], parameters, record);
    let flushed = session.restore(undo);
    match result {
        Ok(0) if !flushed => Ok(1),
        Err(Unwind::Return(status)) => Ok(status),
        other => other,
    }
}

/// Whether a stage is `jobs`, which then shows the jobs of the parent shell.
fn lists_jobs(stage: &Command) -> bool {
    matches!(&stage.kind, CommandKind::Simple(simple) if simple.name().is_some_and(|name| name == b"jobs"))
}
