//! Putting a session into a run, and taking it out again.

use std::sync::{Arc, Weak};
use std::time::Duration;

use haft_lang::Script;
use haft_process::{
    CancelToken, Captured, Error, Exit, Host, InProcessJob, Input, JobHandle, LimitKind, Streams, Task,
};
use haft_text::Bytes;

use super::Run;
use super::control::{Controller, FinishedEvent};
use super::outcome::{Outcome, Status};
use crate::execute::exported;
use crate::flow::{Flow, Unwind};
use crate::io::OpenFile;
use crate::memory::{LimitHit, MemoryLimit, uncounted};
use crate::session::{ErrexitContext, ProgramOrigin, Session};
use crate::shared::CopyOnWrite;
use crate::signals::SignalInbox;
use crate::supervision::{Stopping, Supervision};
use crate::variables::Variable;

/// A session that is in a run.
#[derive(Debug)]
pub(super) struct EnteredRun {
    inside: InProcessJob,
    handle: JobHandle,
    controller: Controller,
    finished: Arc<FinishedEvent>,
    supervision: Arc<Supervision>,
    saved: SavedSession,
}

/// The state of the session before the run, to be restored.
#[derive(Debug)]
struct SavedSession {
    standard: [Option<Arc<OpenFile>>; 3],
    cancel: CancelToken,
    stop: CancelToken,
    signals: Option<Arc<SignalInbox>>,
    name: Option<Bytes>,
    positional: Option<CopyOnWrite<Vec<Bytes>>>,
    variables: Vec<(Bytes, Option<Variable>)>,
    program: ProgramOrigin,
    stdin_redirected: bool,
}

impl EnteredRun {
    /// Starts the supervising job on a thread and puts the session into it.
    pub(super) fn new(run: Run, host: &Host, session: &mut Session) -> Result<EnteredRun, Error> {
        let finished = FinishedEvent::new()?;
        let own = session.limits.cancel().is_shared().then(|| session.limits.cancel().clone());
        let stopping = Stopping::new(&session.memory);
        let mut options = run.options;
        let inherits_input = matches!(options.input, Input::Inherit);
        if inherits_input {
            options.input = own_input(session);
        }
        options.cancel = options.cancel.or(own);
        // The limit of the whole run includes the script.
        let memory_limit = options.scope_limits.memory.map_or(run.memory_limit, MemoryLimit::Bytes);
        let (grace, has_terminal) = (options.grace, matches!(options.streams, Streams::Terminal(_)));
        let (job, inside) = Task::in_process(stopping.clone()).supervision(options).start_in_process(host)?;
        let terminal = if has_terminal { inside.standard(0) } else { None };
        session.memory.set_limit(memory_limit);
        let supervision = Arc::new(Supervision {
            scope: inside.scope().clone(),
            limits: inside.limits().iter().chain(&run.program_limits).copied().collect(),
            group: run.group,
            stopping,
            grace,
            captured: job.controller().captured().clone(),
            started_in: session.directory().to_owned(),
            stdout: inside.standard(1).map_or_else(Weak::new, |stdout| Arc::downgrade(&stdout)),
            terminal,
            record: Arc::default(),
            observer: run.observer,
            job: job.controller(),
        });
        let controller = Controller::new(job.controller(), finished.clone(), &supervision);
        let handle = job.background()?;
        let begin = InitialState { name: run.name, arguments: run.arguments, variables: run.variables };
        let saved = begin.put(session, &inside, &supervision, inherits_input);
        if let Some(observer) = &supervision.observer {
            observer.started(&supervision.job, &supervision.started_in);
        }
        Ok(EnteredRun { inside, handle, controller, finished, supervision, saved })
    }

    pub(super) fn controller(&self) -> Controller {
        self.controller.clone()
    }

    /// Runs the script in the session and takes the session out of the run.
    pub(super) fn run(self, session: &mut Session, script: &Script) -> Outcome {
        let _counted = session.memory.enter();
        let flow = session.catch_panic(|session| session.run_script(script));
        self.leave(session, flow)
    }

    /// Takes the session out of the run and waits until the run is over.
    fn leave(self, session: &mut Session, flow: Flow) -> Outcome {
        let EnteredRun { inside, handle, finished, supervision, saved, .. } = self;
        saved.put_back(session);
        let exit = match flow {
            Ok(code) => Exit::Code(code),
            Err(Unwind::Signal(signal)) => Exit::Signal(signal),
            Err(unwind) => Exit::Code(unwind.status()),
        };
        inside.finish(exit);
        let ended = handle.wait();
        let id = supervision.scope.id().to_owned();
        let outcome = conclude(id, exit, ended, session, &supervision);
        finished.set();
        outcome
    }
}

fn conclude(
    id: String,
    exit: Exit,
    ended: Option<haft_process::JobOutcome>,
    session: &mut Session,
    supervision: &Arc<Supervision>,
) -> Outcome {
    // The outcome outlives the session, so its memory does not count towards the budget.
    let counted = std::mem::take(&mut *supervision.record());
    let mut record = uncounted(|| counted.clone());
    drop(counted);
    let mut outcome = Outcome {
        id,
        status: match exit {
            Exit::Code(code) => Status::Code(code),
            Exit::Signal(signal) => Status::Signal(signal),
        },
        stages: Vec::from(std::mem::take(&mut record.stages)),
        stages_omitted: record.omitted,
        captured: Captured::default(),
        data: record.data,
        started_in: supervision.started_in.clone(),
        cwd: session.directory().to_owned(),
        needed_input: false,
        jobs: Vec::new(),
        tree: haft_process::Tree::unchecked(supervision.scope.started()),
        limits: haft_process::RunLimits::default(),
        duration: Duration::ZERO,
    };
    if let Some(ended) = ended {
        if ended.timed_out {
            outcome.status = Status::TimedOut;
        } else if let Some(hit) = session.memory.hit() {
            outcome.status = Status::LimitReached(LimitHit::Memory(hit));
        } else if ended.cancelled {
            outcome.status = Status::Cancelled;
        } else if ended.limits.ended_by.is_some() {
            outcome.status = Status::Signal(haft_process::Signals::KILL);
        }
        outcome.captured = ended.captured;
        outcome.needed_input = ended.needed_input;
        outcome.tree = ended.tree;
        outcome.limits = ended.limits;
        if session.memory.hit().is_some() {
            outcome.limits.note_end(LimitKind::Memory);
        }
        outcome.duration = ended.duration;
        if let Some(left) = ended.adopted {
            session.processes.leftovers_mut().add(left);
        }
    }
    outcome.jobs = session.running_jobs();
    outcome
}

/// The session's own standard input. Null if it is closed or a program cannot use it.
fn own_input(session: &Session) -> Input {
    let file = session.open_files.get(0).and_then(|file| file.for_program().ok());
    file.map_or(Input::Null, Input::File)
}

/// The initial state of a session in a run.
struct InitialState {
    name: Option<Bytes>,
    arguments: Option<Vec<Bytes>>,
    variables: Vec<(Bytes, Bytes)>,
}

impl InitialState {
    fn put(
        self,
        session: &mut Session,
        inside: &InProcessJob,
        supervision: &Arc<Supervision>,
        inherits_input: bool,
    ) -> SavedSession {
        let _ = session.flush();
        let standard = [0, 1, 2].map(|number: u32| {
            let before = session.open_files.get(number).cloned();
            let wired = inside.standard(i32::try_from(number).unwrap_or(0));
            if let Some(file) = wired.filter(|_| number != 0 || !inherits_input || before.is_none()) {
                session.open_files.set(number, Arc::new(OpenFile::from_shared(file)));
            }
            before
        });
        let variables = self.variables.into_iter().map(|(name, value)| {
            let before = session.variables.swap(&name, Some(exported(value)));
            (name, before)
        });
        let variables = variables.collect();
        let stopping = &supervision.stopping;
        let saved = SavedSession {
            standard,
            cancel: session.limits.set_cancel(stopping.main.cancel.clone()),
            stop: session.limits.set_stop(stopping.stop.clone()),
            signals: session.signals.replace(stopping.main.signals.clone()),
            name: self.name.map(|name| session.parameters.set_zero(name)),
            positional: self.arguments.map(|arguments| session.parameters.replace_positional(arguments)),
            variables,
            program: session.identity.set_program(ProgramOrigin::CommandString),
            stdin_redirected: session.open_files.set_stdin_redirected(false),
        };
        session.processes.set_run(supervision.clone());
        session.processes.set_recording(true);
        session.publish_traps();
        saved
    }
}

impl SavedSession {
    /// Restores the state of the session before the run.
    fn put_back(self, session: &mut Session) {
        let _ = session.flush();
        session.reset_transient_state();
        for (number, file) in (0..).zip(self.standard) {
            session.open_files.restore(number, file);
        }
        session.limits.set_cancel(self.cancel);
        session.limits.set_stop(self.stop);
        session.signals = self.signals;
        if let Some(name) = self.name {
            session.parameters.set_zero(name);
        }
        if let Some(positional) = self.positional {
            session.parameters.restore_positional(positional);
        }
        for (name, before) in self.variables.into_iter().rev() {
            session.variables.swap(&name, before);
        }
        session.identity.set_program(self.program);
        session.open_files.set_stdin_redirected(self.stdin_redirected);
    }
}

impl Session {
    /// Resets the state of running commands. A script may have ended anywhere.
    fn reset_transient_state(&mut self) {
        self.processes.leave_run();
        self.processes.set_captures(Vec::new());
        self.calls.clear();
        self.calls.set_loops(0);
        self.calls.set_errexit(ErrexitContext::Active);
        self.trap_state.clear();
        self.open_files.close_substitutions(0);
        self.open_files.take_keep_redirections();
        self.open_files.set_broken_pipe(false);
    }
}
