//! Pipelines of several commands.
//!
//! Each stage is a subshell. One that turns out to be a program is started as such, wired to its neighbours by pipes of
//! the system. One that runs in this process gets a thread; the last of those may do without, and run here.

use std::sync::Arc;
use std::thread;

use haft_lang::ast::{Argument, Command, CommandKind, Pipeline, SharedSlice, SimpleCommand, WordFlags};
use haft_text::Bytes;

use super::arguments::Arguments;
use super::dispatch::Target;
use super::external::Started;
use crate::fan::{Role, STACK};
use crate::flow::{Flow, Unwind};
use crate::io::OpenFile;
use crate::jobs::{Completion, Member, ThreadControl};
use crate::options::{SetOption, ShellOption};
use crate::run::Note;
use crate::session::Session;
use crate::signals::SignalInbox;

/// A stage that runs in this process.
pub(crate) struct Work {
    session: Session,
    stages: SharedSlice<Command>,
    /// The first of its stages: the last of them, unless they are a fan-out.
    first: usize,
    index: usize,
    /// What the command expanded to, if that was found out already.
    expanded: Option<(Arguments, Target)>,
}

/// A stage that was looked at.
enum Stage {
    Running(Member),
    Ready(Box<Work>),
}

impl Session {
    /// Runs the stages of a pipeline and waits for all of them.
    pub(crate) fn run_piped(&mut self, pipeline: &Pipeline) -> Flow {
        let _ = self.flush();
        if self.controls_jobs() {
            return self.run_controlled_pipeline(pipeline);
        }
        let noted = self.moment.note.take().is_some();
        let count = pipeline.stages.len();
        if !self.has_whole_fans(&pipeline.stages) {
            self.parameters.set_pipe_status(2);
            return self.concluded(2);
        }
        let own_last = self.options.shell(ShellOption::LastPipe)
            && !self.options.has(SetOption::Monitor)
            && self.role(&pipeline.stages[count - 1]) == Role::Stage;
        let beside = if own_last { count - 1 } else { count };
        self.debug_stages(&pipeline.stages[..beside])?;
        let started = self.start_stages(pipeline, beside, noted);
        self.moment.passed_debug = false;
        let (stages, input) = match started {
            Ok(started) => started,
            Err(error) => {
                return Err(self.fail(format_args!("cannot make a pipe: {}", haft_fs::message(&error))));
            }
        };
        let mut members = self.run_stages_ready(stages, !own_last);
        let mut result = Ok(());
        let mut statuses = Vec::with_capacity(count);
        if own_last {
            let command = &pipeline.stages[count - 1];
            self.moment.note = noted.then(|| Note::new(self, command));
            let last = self.run_own_last(command, input);
            let note = self.moment.note.take();
            match last {
                Ok(status) => members.push(Member::ended(status).noted(note)),
                Err(unwind) => {
                    self.abandon(&mut members, 13);
                    return Err(unwind);
                }
            }
        }
        if noted {
            result = self.wait_all(&mut members);
        }
        for member in &mut members {
            match result.and_then(|()| self.wait_member(member)) {
                Ok(status) => statuses.push(status),
                Err(unwind) => {
                    result = Err(unwind);
                    break;
                }
            }
        }
        match result {
            Ok(()) => {}
            Err(Unwind::Signal(_)) => members.drain(..).for_each(Member::detach),
            Err(_) => self.abandon(&mut members, 15),
        }
        if noted {
            self.record(members.into_iter().filter_map(Member::into_note).collect());
        }
        result?;
        let failed = statuses.iter().rev().find(|status| **status != 0).copied().unwrap_or(0);
        let last = statuses.last().copied().unwrap_or(0);
        self.parameters.set_pipe_statuses(statuses);
        if let Some(stage) = pipeline.stages.last() {
            self.calls.set_line(stage.line);
            self.calls.set_command_span(stage.span);
            // The failure of a subshell at the end is told as that, and then as that of the pipeline.
            if last != 0 && !self.ignores_failure() && matches!(stage.kind, CommandKind::Subshell(_)) {
                self.tell_failure(last)?;
            }
        }
        self.concluded(if self.options.has(SetOption::PipeFail) { failed } else { last })
    }

    /// Makes the pipes and looks at the first `count` stages: programs are started. Yields the end of the last pipe too if
    /// there is a further stage.
    fn start_stages(
        &mut self,
        pipeline: &Pipeline,
        count: usize,
        noted: bool,
    ) -> std::io::Result<(Vec<Stage>, Option<Arc<OpenFile>>)> {
        let mut input: Option<Arc<OpenFile>> = None;
        let mut stages = Vec::with_capacity(count);
        let whole = std::mem::take(&mut self.moment.is_whole);
        let mut first = 0;
        while first < count {
            let index = self.fan_end(&pipeline.stages, first);
            let mut child = self.fork();
            if !lists_jobs(&pipeline.stages[index]) {
                child.jobs.hide_inherited();
            }
            child.moment.note = noted.then(|| Note::new(self, &pipeline.stages[index]));
            if whole {
                child.identity.take_depth_of(&self.identity);
            }
            child.moment.passed_debug =
                self.moment.passed_debug && matches!(pipeline.stages[index].kind, CommandKind::Simple(_));
            if let Some(input) = input.take() {
                child.open_files.set(0, input);
                child.open_files.set_stdin_redirected(true);
            }
            if index + 1 < pipeline.stages.len() {
                // Of the usual size: a script can tell how much fits before the reader has gone.
                let (reader, writer) = rustix::pipe::pipe_with(rustix::pipe::PipeFlags::CLOEXEC)?;
                input = Some(Arc::new(OpenFile::pipe(reader)));
                let output = Arc::new(OpenFile::pipe(writer));
                child.moment.note.iter_mut().for_each(|note| note.count(output.written().clone()));
                child.open_files.set(1, output);
            }
            if index > first {
                // The stages of a fan-out have one member between them; those that it swallows have no status.
                stages.extend((first..index).map(|_| Stage::Running(Member::ended(0))));
                let work =
                    Work { session: child, stages: pipeline.stages.clone(), first, index, expanded: None };
                stages.push(Stage::Ready(Box::new(work)));
            } else {
                stages.push(start_stage(child, &pipeline.stages, index));
            }
            first = index + 1;
        }
        Ok((stages, input))
    }

    /// Runs the stages that run in this process: all on threads, but the last of them here if that is safe.
    fn run_stages_ready(&mut self, stages: Vec<Stage>, inline: bool) -> Vec<Member> {
        let last_stage = stages.len() - 1;
        let last_ready = stages.iter().rposition(|stage| matches!(stage, Stage::Ready(_)));
        // A stage in the middle of a substitution must not run here: nobody would read what the next one writes.
        let here = last_ready.filter(|at| inline && (*at == last_stage || !self.processes.is_captured()));
        let mut chosen = None;
        let mut members = Vec::with_capacity(stages.len());
        for (index, stage) in stages.into_iter().enumerate() {
            members.push(match stage {
                Stage::Running(member) => member,
                Stage::Ready(work) if Some(index) == here => {
                    chosen = Some((index, work));
                    Member::ended(0)
                }
                Stage::Ready(work) => work.start(),
            });
        }
        if let Some((index, work)) = chosen {
            let (status, note) = work.run();
            members[index] = Member::ended(status).noted(note);
        }
        members
    }

    /// `lastpipe`: the last stage runs in this very session.
    fn run_own_last(&mut self, command: &Command, input: Option<Arc<OpenFile>>) -> Flow {
        let Some(input) = input else { return self.run_command(command) };
        let before = self.open_files.set(0, input);
        let result = self.without_errors(|session| session.run_command(command));
        match before {
            Some(before) => drop(self.open_files.set(0, before)),
            None => drop(self.open_files.close(0)),
        }
        result
    }

    /// Starts a pipeline and does not wait: its stages.
    pub(crate) fn start_pipeline(&mut self, pipeline: &Pipeline) -> Vec<Member> {
        let _ = self.flush();
        if !self.has_whole_fans(&pipeline.stages) {
            return vec![Member::ended(2)];
        }
        match self.start_stages(pipeline, pipeline.stages.len(), false) {
            Ok((stages, _)) => self.run_stages_ready(stages, false),
            Err(error) => {
                self.report(format_args!("cannot make a pipe: {}", haft_fs::message(&error)));
                vec![Member::ended(254)]
            }
        }
    }
}

/// Looks at a stage: a command that is known to be a program is started.
fn start_stage(mut session: Session, stages: &SharedSlice<Command>, index: usize) -> Stage {
    let ready = |session, expanded| {
        Stage::Ready(Box::new(Work { session, stages: stages.clone(), first: index, index, expanded }))
    };
    let command = &stages[index];
    let CommandKind::Simple(simple) = &command.kind else { return ready(session, None) };
    if simple.arguments.is_empty() || runs_commands(command, simple) || session.traps.has_actions() {
        return ready(session, None);
    }
    session.calls.set_line(command.line);
    session.calls.set_command_span(stages[index].span);
    let arguments = match session.expand_arguments(simple) {
        Ok(arguments) => arguments,
        Err(unwind) => return failed(session, Err(unwind)),
    };
    let target = arguments.words.first().map(|name| session.find(name));
    let target = target.map(|target| session.settle(target, &arguments.words));
    match target {
        Some(Target::External) => start_program(session, stages, index, arguments),
        Some(target) => ready(session, Some((arguments, target))),
        None => ready(session, None),
    }
}

/// Whether expanding a command runs commands, which must not happen before all stages are there.
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

fn failed(mut session: Session, result: Flow) -> Stage {
    let status = session.end_subshell(result).unwrap_or(130);
    Stage::Running(Member::ended(status).noted(session.moment.note.take()))
}

fn start_program(
    mut session: Session,
    stages: &SharedSlice<Command>,
    index: usize,
    arguments: Arguments,
) -> Stage {
    let command = &stages[index];
    match session.redirect(&command.redirects) {
        Ok(Some(undo)) => session.forget(undo),
        Ok(None) => return failed(session, Ok(1)),
        Err(unwind) => return failed(session, Err(unwind)),
    }
    if session.options.has(SetOption::Trace)
        && let Err(unwind) = session.trace_words(&arguments.words)
    {
        return failed(session, Err(unwind));
    }
    session.moment.note.iter_mut().for_each(|note| note.identify(&Target::External, &arguments.words));
    match session.start_external(&arguments.words, &[]) {
        Ok(Started::Child(child)) => Stage::Running(Member::process(child).noted(session.moment.note.take())),
        Ok(Started::Failed(status)) => failed(session, Ok(status)),
        Ok(Started::Headless(_)) => {
            let expanded = Some((arguments, Target::External));
            Stage::Ready(Box::new(Work { session, stages: stages.clone(), first: index, index, expanded }))
        }
        Err(unwind) => failed(session, Err(unwind)),
    }
}

impl Work {
    /// A statement of a list as the whole work of a session.
    pub(crate) fn on_thread(
        mut session: Session,
        run: impl FnOnce(&mut Session) -> Flow + Send + 'static,
    ) -> Member {
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
            let counted = memory.enter_thread();
            let status = session.run_as_subshell(run);
            session.leave();
            left.leave_note(session.moment.note.take());
            drop(session);
            drop(registered);
            memory.leave_thread(counted);
            left.complete(status);
        };
        match thread::Builder::new().stack_size(STACK).spawn(body) {
            Ok(_) => Member::thread(pid, completion, control),
            Err(_) => Member::ended(254),
        }
    }

    fn start(self) -> Member {
        let Self { session, stages, first, index, expanded } = self;
        Self::on_thread(session, move |session| run_stage(session, &stages[first..=index], expanded))
    }

    /// Runs the stage on this thread.
    fn run(self) -> (i32, Option<Box<Note>>) {
        let Self { mut session, stages, first, index, expanded } = self;
        let status = session.run_as_subshell(|session| run_stage(session, &stages[first..=index], expanded));
        session.leave();
        (status, session.moment.note.take())
    }
}

fn run_stage(session: &mut Session, stages: &[Command], expanded: Option<(Arguments, Target)>) -> Flow {
    let [command] = stages else { return session.run_fan(stages) };
    let CommandKind::Simple(simple) = &command.kind else {
        session.moment.is_whole = matches!(command.kind, CommandKind::Subshell(_));
        return session.run_command(command);
    };
    // A simple command is the whole of its subshell, so its failure springs no trap there.
    let Some((arguments, target)) = expanded else {
        session.calls.set_line(command.line);
        return session.run_simple(command, simple);
    };
    let Some(undo) = session.redirect(&command.redirects)? else { return Ok(1) };
    if session.options.has(SetOption::Trace) {
        session.trace_words(&arguments.words)?;
    }
    let assigned: [(Bytes, Bytes); 0] = [];
    let result = session.run_target(target, &arguments, &assigned);
    let flushed = session.restore(undo);
    match result {
        Ok(0) if !flushed => Ok(1),
        Err(Unwind::Return(status)) => Ok(status),
        other => other,
    }
}

/// Whether a stage is `jobs` itself, which then shows those of the shell that the stage is part of.
fn lists_jobs(stage: &Command) -> bool {
    matches!(&stage.kind, CommandKind::Simple(simple) if simple.name().is_some_and(|name| name == b"jobs"))
}
