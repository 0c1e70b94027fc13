//! The processes and threads around a session: the run it is in, its job, and what it has left running.

use std::sync::Arc;

use haft_process::CancelToken;
use haft_text::Bytes;

use crate::control::JobGroup;
use crate::io::{Capture, OpenFile, SubstitutionPipe};
use crate::jobs::{Member, Orphans};
use crate::supervision::{Leftovers, Supervision};

/// Processes and threads that a session belongs to or has started, other than its jobs.
///
/// The order of the fields matters: leftovers of runs are ended, with their grace, before orphans are reaped.
#[derive(Debug, Default)]
pub(crate) struct SessionProcesses {
    /// Captures of command substitutions around this session. They are read whenever it waits.
    captures: Vec<Arc<Capture>>,
    /// Whether this is a branch of a fan-out, whose programs end with the process.
    is_branch: bool,
    /// Whether the session runs in the background: after `&`, as a coprocess or in a process substitution.
    is_background: bool,
    /// Whether programs get a process group of their own, whatever the kernel says.
    needs_own_group: bool,
    /// The supervised run that the session is in.
    run: Option<Arc<Supervision>>,
    /// Whether the next pipeline is one of the script's own, which the run records.
    is_recording: bool,
    /// Whether the last command ended because its timeout expired.
    timed_out: bool,
    /// Jobs of earlier runs that still run.
    leftovers: Leftovers,
    /// Jobs of subshells that still run.
    orphans: Arc<Orphans>,
    /// The job that the session is part of, with job control.
    group: Option<Arc<JobGroup>>,
    /// Process substitutions that still run.
    substitutions: Vec<Member>,
    /// The pipe of the process substitution whose commands this session runs.
    substitution_pipe: Option<Arc<SubstitutionPipe>>,
    coprocess: Option<CoprocessId>,
    /// A foreground command that a signal killed, until this is reported.
    killed_command: Option<KilledCommand>,
}

/// The coprocess whose descriptors are open.
#[derive(Clone, Debug)]
pub(crate) struct CoprocessId {
    pub(crate) name: Bytes,
    pub(crate) pid: i32,
}

/// A foreground command that a signal killed.
#[derive(Clone, Copy, Debug)]
pub(crate) struct KilledCommand {
    pub(crate) pid: i32,
    pub(crate) signal: i32,
}

impl SessionProcesses {
    /// A subshell belongs to the same run and job. It records nothing and has started nothing yet.
    pub(super) fn for_subshell(&self) -> Self {
        Self {
            captures: self.captures.clone(),
            is_branch: self.is_branch,
            is_background: self.is_background,
            run: self.run.clone(),
            orphans: self.orphans.clone(),
            group: self.group.clone(),
            substitution_pipe: self.substitution_pipe.clone(),
            ..Self::default()
        }
    }

    /// Captures of command substitutions around this session.
    #[inline]
    pub(crate) fn captures(&self) -> &[Arc<Capture>] {
        &self.captures
    }

    /// Whether output goes to a command substitution.
    #[inline]
    pub(crate) fn is_captured(&self) -> bool {
        !self.captures.is_empty()
    }

    /// Adds a capture that this session must read whenever it waits.
    pub(crate) fn add_capture(&mut self, capture: Arc<Capture>) {
        self.captures.push(capture);
    }

    /// Replaces the captures; returns the previous ones.
    pub(crate) fn set_captures(&mut self, captures: Vec<Arc<Capture>>) -> Vec<Arc<Capture>> {
        std::mem::replace(&mut self.captures, captures)
    }

    /// Whether this is a branch of a fan-out.
    pub(crate) fn is_branch(&self) -> bool {
        self.is_branch
    }

    /// Says whether this is a branch of a fan-out.
    pub(crate) fn set_branch(&mut self, is_branch: bool) {
        self.is_branch = is_branch;
    }

    /// Whether the session runs in the background.
    pub(crate) fn is_background(&self) -> bool {
        self.is_background
    }

    /// Says that the session runs in the background.
    pub(crate) fn set_background(&mut self) {
        self.is_background = true;
    }

    /// Whether programs get a process group of their own, whatever the kernel says.
    pub(crate) fn needs_own_group(&self) -> bool {
        self.needs_own_group
    }

    /// Gives each program a process group of its own.
    pub(crate) fn require_own_group(&mut self) {
        self.needs_own_group = true;
    }

    /// The supervised run that the session is in.
    #[inline]
    pub(crate) fn run(&self) -> Option<&Arc<Supervision>> {
        self.run.as_ref()
    }

    /// Whether the session is in a supervised run.
    #[inline]
    pub(crate) fn is_supervised(&self) -> bool {
        self.run.is_some()
    }

    /// Puts the session into a run, or a part of one.
    pub(crate) fn set_run(&mut self, run: Arc<Supervision>) {
        self.run = Some(run);
    }

    /// Takes the session out of its run.
    pub(crate) fn leave_run(&mut self) {
        self.run = None;
        self.is_recording = false;
    }

    /// Whether the next pipeline is one of the script's own, which the run records.
    #[inline]
    pub(crate) fn is_recording(&self) -> bool {
        self.is_recording
    }

    /// Says whether the last command ended because its timeout expired. Returns what was said before.
    pub(crate) fn set_timed_out(&mut self, timed_out: bool) -> bool {
        std::mem::replace(&mut self.timed_out, timed_out)
    }

    /// Says whether the next pipeline is one of the script's own.
    pub(crate) fn set_recording(&mut self, is_recording: bool) {
        self.is_recording = is_recording;
    }

    /// Jobs of earlier runs that still run.
    pub(crate) fn leftovers(&self) -> &Leftovers {
        &self.leftovers
    }

    /// Jobs of earlier runs, to be changed.
    pub(crate) fn leftovers_mut(&mut self) -> &mut Leftovers {
        &mut self.leftovers
    }

    /// Jobs of subshells that still run.
    pub(crate) fn orphans(&self) -> &Orphans {
        &self.orphans
    }

    /// Forgets the jobs of subshells without reaping them: in a copy of the process they are not children.
    pub(crate) fn forget_orphans(&mut self) {
        std::mem::forget(std::mem::take(&mut self.orphans));
    }

    /// The job that the session is part of.
    #[inline]
    pub(crate) fn group(&self) -> Option<&Arc<JobGroup>> {
        self.group.as_ref()
    }

    /// Makes the session part of a job, or of none.
    pub(crate) fn set_group(&mut self, group: Option<Arc<JobGroup>>) {
        self.group = group;
    }

    /// Process substitutions that still run.
    pub(crate) fn substitutions(&self) -> &[Member] {
        &self.substitutions
    }

    /// Process substitutions, to be changed.
    pub(crate) fn substitutions_mut(&mut self) -> &mut Vec<Member> {
        &mut self.substitutions
    }

    /// Makes this session run the commands of a process substitution, which write to `output`. Returns the token to cancel
    /// when they have ended.
    pub(crate) fn enter_substitution(&mut self, output: Arc<OpenFile>) -> CancelToken {
        let pipe = SubstitutionPipe::new(output);
        let ended = pipe.ended().clone();
        self.substitution_pipe = Some(Arc::new(pipe));
        ended
    }

    /// Takes the pipe of the process substitution that the session is part of.
    pub(crate) fn take_substitution_pipe(&mut self) -> Option<Arc<SubstitutionPipe>> {
        self.substitution_pipe.take()
    }

    /// The coprocess whose descriptors are open.
    pub(crate) fn coprocess(&self) -> Option<&CoprocessId> {
        self.coprocess.as_ref()
    }

    /// Sets the coprocess.
    pub(crate) fn set_coprocess(&mut self, coprocess: CoprocessId) {
        self.coprocess = Some(coprocess);
    }

    /// Forgets the coprocess if it is the process `pid`; returns it.
    pub(crate) fn take_coprocess(&mut self, pid: i32) -> Option<CoprocessId> {
        self.coprocess.take_if(|coprocess| coprocess.pid == pid)
    }

    /// Remembers that a signal killed a foreground command.
    pub(crate) fn set_killed_command(&mut self, pid: i32, signal: i32) {
        self.killed_command = Some(KilledCommand { pid, signal });
    }

    /// The foreground command that a signal killed, if that was not reported yet.
    #[inline]
    pub(crate) fn take_killed_command(&mut self) -> Option<KilledCommand> {
        self.killed_command.take()
    }
}
