//! Background jobs.

use crate::bytes::Bytes;

/// The jobs of a session.
#[derive(Debug, Default)]
pub struct Jobs {
    list: Vec<Job>,
}

/// A background job.
#[derive(Debug)]
pub struct Job {
    /// Its number, as in `%1`.
    pub id: u32,
    /// The process number of its last stage, as in `$!`.
    pub pid: i32,
    /// What it runs.
    pub text: Bytes,
    /// What became of it.
    pub state: JobState,
}

/// What became of a job.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum JobState {
    /// It runs.
    Running,
    /// It was stopped by a signal.
    Stopped(i32),
    /// It ended with this status.
    Done(i32),
}

impl Jobs {
    /// All jobs, in the order of their numbers.
    pub fn iter(&self) -> impl Iterator<Item = &Job> {
        self.list.iter()
    }
}
