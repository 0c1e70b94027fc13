//! A script, started: what it was, how it ended, what it has left.

use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use haft_kernel::Session;
use haft_kernel::run::{Outcome, Run, Stage, Status};
use haft_process::{Exit, Redactor, signal_name};
use serde_json::Value;

use super::reply::format_duration;

pub(crate) use haft_kernel::run::{Controller, Input, Streams};

/// What a script is started with.
#[derive(Debug)]
pub(crate) struct RunRequest {
    pub(crate) script: String,
    pub(crate) variables: Vec<(String, String)>,
    pub(crate) input: Input,
    pub(crate) streams: Streams,
}

impl RunRequest {
    /// The run.
    pub(crate) fn run(self) -> Run {
        let run = Run::new(self.script.into_bytes()).input(self.input).streams(self.streams);
        self.variables
            .into_iter()
            .fold(run, |run, (name, value)| run.variable(name.into_bytes(), value.into_bytes()))
    }
}

/// A script that has ended.
#[derive(Debug)]
pub(crate) struct FinishedRun {
    outcome: Outcome,
    session: Mutex<Option<Session>>,
}

impl FinishedRun {
    pub(crate) fn new(session: Session, outcome: Outcome) -> FinishedRun {
        FinishedRun { outcome, session: Mutex::new(Some(session)) }
    }

    /// The session as the script has left it, once.
    pub(crate) fn take_session(&self) -> Option<Session> {
        self.lock().take()
    }

    /// The processes that the script has left in the background and that belong to no named session.
    pub(crate) fn left_running(&self) -> Vec<i32> {
        let mut session = self.lock();
        session.as_mut().map_or_else(Vec::new, running)
    }

    /// What there is to say of its end, in a few words each.
    pub(crate) fn facts(&self, expired: bool, redactor: &Redactor) -> Vec<String> {
        let outcome = &self.outcome;
        let mut facts = vec![self.status(expired), format_duration(outcome.duration)];
        facts.extend(failing_stage(&outcome.stages, redactor));
        if outcome.tree.killed > 0 {
            facts.push(format!("{} ended", processes(outcome.tree.killed)));
        }
        let survivors = &outcome.tree.survivors;
        if !survivors.pids().is_empty() {
            facts.push(format!(
                "{} could not be ended: {:?}",
                processes(survivors.pids().len()),
                survivors.pids()
            ));
        }
        if let Some(reason) = survivors.unknown() {
            facts.push(format!("it is unknown whether processes are left: {reason}"));
        }
        facts.extend(outcome.limits.messages());
        facts
    }

    fn status(&self, expired: bool) -> String {
        match self.outcome.status {
            _ if expired => "timed out".to_owned(),
            Status::Code(code) => format!("exit {code}"),
            Status::Signal(signal) => format!("killed by {}", signal_words(signal)),
            Status::TimedOut => "timed out".to_owned(),
            Status::Cancelled => "ended on request".to_owned(),
            Status::LimitReached(hit) => format!("{} limit reached", hit.kind().name()),
        }
    }

    /// Whether it has failed.
    pub(crate) fn has_failed(&self) -> bool {
        self.outcome.code() != 0
    }

    /// The outcome as data, without what was written, keys masked.
    pub(crate) fn data(&self, expired: bool, redactor: &Redactor) -> Value {
        let mut outcome = self.outcome.clone();
        if expired {
            outcome.status = Status::TimedOut;
        }
        let mut report = outcome.report(0);
        report.redact(redactor);
        serde_json::to_value(report).unwrap_or_default()
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, Option<Session>> {
        self.session.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The processes that still run in the background of a session.
fn running(session: &mut Session) -> Vec<i32> {
    session.running_jobs().into_iter().flat_map(|job| job.pids).collect()
}

/// Ends a session with everything that runs in its background. `grace` replaces the time its processes have to end by
/// themselves.
pub(crate) fn end_session(mut session: Session, grace: Option<Duration>) {
    if let Some(grace) = grace {
        session.end_jobs(Duration::ZERO, grace);
    }
}

/// Where a session is.
pub(crate) fn directory(session: &Session) -> PathBuf {
    session.directory().to_owned()
}

/// Puts a session into a directory, relative to where it is.
pub(crate) fn enter(session: &mut Session, wanted: &Path) -> Result<(), String> {
    let path = directory(session).join(wanted);
    match path.metadata() {
        Ok(metadata) if metadata.is_dir() => {
            session.set_directory(path);
            Ok(())
        }
        Ok(_) => Err(format!("\"cwd\" is no directory: \"{}\"", path.display())),
        Err(error) => {
            let reason = haft_process::reason(&error);
            Err(format!("\"cwd\" cannot be entered: \"{}\": {reason}", path.display()))
        }
    }
}

/// A stage that has failed and is not the last of its pipeline, so that the exit status does not show it. One that died
/// because those after it had enough has not failed.
fn failing_stage(stages: &[Stage], redactor: &Redactor) -> Option<String> {
    let hidden = |index: &usize| {
        let (stage, next) = (&stages[*index], stages.get(index + 1));
        let last = next.is_none_or(|next| next.pipeline != stage.pipeline);
        !last && stage.exit != Exit::Code(0) && stage.closed_by.is_none()
    };
    let stage = &stages[(0..stages.len()).rev().find(hidden)?];
    let words: Vec<String> = stage.argv.iter().map(|word| word.lossy().into_owned()).collect();
    // Masked before it is cut, so that no part of a key is left.
    let command: String = redactor.text(&words.join(" ")).chars().take(60).collect();
    let how = match stage.exit {
        Exit::Code(code) => format!("exited {code}"),
        Exit::Signal(signal) => format!("was killed by {}", signal_words(signal)),
    };
    Some(format!("stage \"{command}\" {how}"))
}

fn signal_words(signal: i32) -> String {
    signal_name(signal).map_or_else(|| format!("signal {signal}"), |name| format!("SIG{name}"))
}

fn processes(count: usize) -> String {
    if count == 1 { "1 process".to_owned() } else { format!("{count} processes") }
}
