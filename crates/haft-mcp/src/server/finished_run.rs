//! The result of a script that has ended.

use std::sync::{Mutex, PoisonError};

use haft_kernel::Session;
use haft_kernel::run::{Outcome, Stage, Status};
use haft_process::{Exit, Redactor, signal_name};
use serde_json::Value;

use super::reply::format_duration;

/// Longer commands are cut in messages.
const MAX_COMMAND_CHARS: usize = 60;

/// A script that has ended, with its session.
#[derive(Debug)]
pub(crate) struct FinishedRun {
    outcome: Outcome,
    session: Mutex<Option<Session>>,
}

impl FinishedRun {
    pub(crate) fn new(session: Session, outcome: Outcome) -> FinishedRun {
        FinishedRun { outcome, session: Mutex::new(Some(session)) }
    }

    /// Takes the session out. Returns `None` the second time.
    pub(crate) fn take_session(&self) -> Option<Session> {
        self.lock().take()
    }

    /// Processes that the script left in the background of an unnamed session.
    pub(crate) fn left_running(&self) -> Vec<i32> {
        let mut session = self.lock();
        session.as_mut().map_or_else(Vec::new, running)
    }

    /// Short phrases that describe the result: status, duration, failed stages, processes left, limits.
    pub(crate) fn facts(&self, expired: bool, redactor: &Redactor) -> Vec<String> {
        let outcome = &self.outcome;
        let mut facts = vec![self.status(expired), format_duration(outcome.duration)];
        facts.extend(failing_stage(&outcome.stages, redactor));
        if outcome.tree.killed > 0 {
            facts.push(format!("{} killed", count_processes(outcome.tree.killed)));
        }
        let survivors = &outcome.tree.survivors;
        if !survivors.pids().is_empty() || survivors.unknown().is_some() {
            facts.push(survivors.to_string());
        }
        facts.extend(outcome.limits.messages());
        facts
    }

    fn status(&self, expired: bool) -> String {
        match self.outcome.status {
            _ if expired => "timed out".to_owned(),
            Status::Code(code) => format!("exit {code}"),
            Status::Signal(signal) => format!("killed by {}", describe_signal(signal)),
            Status::TimedOut => "timed out".to_owned(),
            Status::Cancelled => "cancelled".to_owned(),
            Status::LimitReached(hit) => format!("{} limit reached", hit.kind().name()),
        }
    }

    /// Whether the exit status is not 0.
    pub(crate) fn has_failed(&self) -> bool {
        self.outcome.code() != 0
    }

    /// The outcome as JSON without the output, with secrets masked.
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

/// Processes in the background of a session.
fn running(session: &mut Session) -> Vec<i32> {
    session.running_jobs().into_iter().flat_map(|job| job.pids).collect()
}

/// The last failed stage that is not the last one of its pipeline, because the exit status does not show it. A stage
/// that died of `SIGPIPE` has not failed.
fn failing_stage(stages: &[Stage], redactor: &Redactor) -> Option<String> {
    let hidden = |index: &usize| {
        let (stage, next) = (&stages[*index], stages.get(index + 1));
        let last = next.is_none_or(|next| next.pipeline != stage.pipeline);
        !last && stage.exit != Exit::Code(0) && stage.closed_by.is_none()
    };
    let stage = &stages[(0..stages.len()).rev().find(hidden)?];
    let words: Vec<String> = stage.argv.iter().map(|word| word.lossy().into_owned()).collect();
    // Mask before truncating, so that no part of a secret remains.
    let command: String = redactor.text(&words.join(" ")).chars().take(MAX_COMMAND_CHARS).collect();
    let how = match stage.exit {
        Exit::Code(code) => format!("exited {code}"),
        Exit::Signal(signal) => format!("was killed by {}", describe_signal(signal)),
    };
    Some(format!("stage '{command}' {how}"))
}

fn describe_signal(signal: i32) -> String {
    signal_name(signal).map_or_else(|| format!("signal {signal}"), |name| format!("SIG{name}"))
}

/// A number of processes in words.
pub(crate) fn count_processes(count: usize) -> String {
    if count == 1 { "1 process".to_owned() } else { format!("{count} processes") }
}
