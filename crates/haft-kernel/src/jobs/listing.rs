//! Jobs as lines of text: the list that `jobs` prints, and notices before a prompt.

use haft_text::Bytes;

use super::{InheritedJob, Job, JobState, Jobs, shown_text};
use crate::signals::signal_description;

/// The format of a job in the list.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum JobFormat {
    /// One line, without process IDs.
    Line,
    /// `-l`: with process IDs.
    Long,
    /// `-p`: process IDs only.
    Pids,
}

/// A job in the list.
pub(crate) struct ListedJob {
    pub(crate) id: u32,
    pub(crate) state: JobState,
    /// The state that was reported last.
    pub(crate) told: Option<JobState>,
    pids: Vec<i32>,
    text: Bytes,
    stages: Vec<Bytes>,
    died: Option<i32>,
}

impl ListedJob {
    /// A job of this shell.
    pub(crate) fn of(job: &Job) -> Self {
        Self {
            id: job.id,
            pids: job.members.iter().map(|member| member.pid).collect(),
            text: job.text.clone(),
            stages: job.stages.clone(),
            state: job.state(),
            died: job.died(),
            told: job.told,
        }
    }

    /// A job of the parent shell.
    pub(crate) fn inherited(job: &InheritedJob) -> Self {
        Self {
            id: job.id,
            pids: job.members.iter().map(|member| member.pid).collect(),
            text: job.text.clone(),
            stages: job.stages.clone(),
            state: job.state,
            died: None,
            told: None,
        }
    }

    /// Its text in the list. `current` has the number of the current job and, after it, of the previous one.
    pub(crate) fn shown(&self, form: JobFormat, current: &[u32]) -> Vec<u8> {
        if form == JobFormat::Pids {
            return format!("{}\n", self.pids.first().unwrap_or(&0)).into_bytes();
        }
        let mark = match current.iter().position(|id| *id == self.id) {
            Some(0) => '+',
            Some(1) => '-',
            _ => ' ',
        };
        let head = match form {
            JobFormat::Long => format!("[{}]{mark} {:>5} ", self.id, self.pids.first().unwrap_or(&0)),
            _ => format!("[{}]{mark}  ", self.id),
        };
        let state_text = match self.died.and_then(signal_description) {
            Some(words) => format!("{words:<24}"),
            None => format!("{:<24}", state(self.state, form)),
        };
        let tail: &[u8] = if self.state == JobState::Running { b" &\n" } else { b"\n" };
        let text = match form {
            JobFormat::Long if self.stages.len() == self.pids.len() && self.pids.len() > 1 => by_stage(self),
            _ => shown_text(&self.text).into_vec(),
        };
        [head.as_bytes(), state_text.as_bytes(), &text, tail].concat()
    }
}

/// Returns the stages of a pipeline, each on a line with its process ID.
fn by_stage(job: &ListedJob) -> Vec<u8> {
    let mut text = shown_text(&job.stages[0]).into_vec();
    for (pid, stage) in job.pids.iter().zip(&job.stages).skip(1) {
        text.extend_from_slice(format!("\n     {pid:>5} {:<22}| ", "").as_bytes());
        text.extend_from_slice(&shown_text(stage));
    }
    text
}

/// Returns the state of a job in words.
fn state(state: JobState, form: JobFormat) -> String {
    match state {
        JobState::Running => "Running".to_owned(),
        JobState::Stopped(_) if form != JobFormat::Long => "Stopped".to_owned(),
        JobState::Stopped(signal) => match haft_process::signal_name(signal).as_deref() {
            Some("TTIN") => "Stopped (tty input)".to_owned(),
            Some("TTOU") => "Stopped (tty output)".to_owned(),
            Some("STOP") => "Stopped (signal)".to_owned(),
            _ => "Stopped".to_owned(),
        },
        JobState::Done(0) => "Done".to_owned(),
        JobState::Done(status) => format!("Exit {status}"),
    }
}

/// Returns the line that reports the state of a job.
pub(crate) fn job_line(jobs: &Jobs, id: u32) -> Option<Vec<u8>> {
    let job = jobs.get(id)?;
    Some(ListedJob::of(job).shown(JobFormat::Line, &jobs.ranked()))
}
