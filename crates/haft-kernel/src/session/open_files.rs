//! The open files of a session: descriptors, the file mode creation mask, output that is held back.

use std::sync::{Arc, Weak};

use crate::io::{Descriptors, OpenFile};

/// Loop iterations between two flushes of a loop that only computes.
const FLUSH_INTERVAL: u32 = 128;

/// The open files of a session.
#[derive(Debug)]
pub(crate) struct OpenFiles {
    descriptors: Descriptors,
    /// The files that the process has inherited and that the script did not ask for.
    inherited: Vec<Weak<OpenFile>>,
    umask: u32,
    /// Whether standard input was redirected in this shell; background commands then share it.
    is_stdin_redirected: bool,
    /// Whether the redirections of the running command stay after it, as `exec` asks for.
    keeps_redirections: bool,
    /// Descriptors of the process substitutions that running commands use.
    substitutions: Vec<u32>,
    /// The file whose output is held back. There is never more than one.
    held_back: Option<Arc<OpenFile>>,
    /// Whether a flush found that the pipe is closed.
    has_broken_pipe: bool,
    /// Counts loop iterations, for [`FLUSH_INTERVAL`].
    iterations: u32,
}

impl OpenFiles {
    /// No open file, and the usual mask.
    pub(super) fn new() -> Self {
        Self {
            descriptors: Descriptors::default(),
            inherited: Vec::new(),
            umask: 0o022,
            is_stdin_redirected: false,
            keeps_redirections: false,
            substitutions: Vec::new(),
            held_back: None,
            has_broken_pipe: false,
            iterations: 0,
        }
    }

    /// A subshell inherits all descriptors.
    pub(super) fn for_subshell(&self) -> Self {
        Self {
            descriptors: self.descriptors.clone(),
            inherited: self.inherited.clone(),
            umask: self.umask,
            is_stdin_redirected: self.is_stdin_redirected,
            held_back: self.held_back.clone(),
            ..Self::new()
        }
    }

    /// The file open under a number.
    #[inline]
    pub(crate) fn get(&self, number: u32) -> Option<&Arc<OpenFile>> {
        self.descriptors.get(number)
    }

    /// Opens a file under a number; returns the file it replaces.
    pub(crate) fn set(&mut self, number: u32, file: Arc<OpenFile>) -> Option<Arc<OpenFile>> {
        self.descriptors.set(number, file)
    }

    /// Opens a file under a number that the script did not ask for.
    pub(super) fn inherit(&mut self, number: u32, file: Arc<OpenFile>) {
        self.inherited.push(Arc::downgrade(&file));
        self.set(number, file);
    }

    /// The numbers above 2 under which the script has opened files.
    pub(crate) fn opened_by_script(&self) -> impl Iterator<Item = u32> {
        let is_inherited = |file: &Arc<OpenFile>| {
            self.inherited.iter().any(|inherited| std::ptr::eq(inherited.as_ptr(), Arc::as_ptr(file)))
        };
        let opened = self.iter().filter(move |(number, file)| *number > 2 && !is_inherited(file));
        opened.map(|(number, _)| number)
    }

    /// Closes a number; returns the file that was open under it.
    pub(crate) fn close(&mut self, number: u32) -> Option<Arc<OpenFile>> {
        self.descriptors.close(number)
    }

    /// Opens `file` under a number, or closes the number.
    pub(crate) fn restore(&mut self, number: u32, file: Option<Arc<OpenFile>>) {
        match file {
            Some(file) => drop(self.set(number, file)),
            None => drop(self.close(number)),
        }
    }

    /// Closes everything.
    pub(crate) fn close_all(&mut self) {
        self.descriptors = Descriptors::default();
    }

    /// All open files by number.
    pub(crate) fn iter(&self) -> impl Iterator<Item = (u32, &Arc<OpenFile>)> {
        self.descriptors.iter()
    }

    /// The lowest free number that bash would choose for `{name}>`.
    pub(crate) fn free(&self) -> u32 {
        self.descriptors.free()
    }

    /// The highest free number that bash would choose for a process substitution or a coprocess.
    pub(crate) fn free_from_top(&self) -> u32 {
        const TOP: u32 = 63;
        (0..=TOP).rev().find(|number| self.get(*number).is_none()).unwrap_or(TOP)
    }

    /// The file mode creation mask.
    pub(crate) fn umask(&self) -> u32 {
        self.umask
    }

    /// Sets the file mode creation mask.
    pub(crate) fn set_umask(&mut self, mask: u32) {
        self.umask = mask;
    }

    /// Whether standard input was redirected in this shell.
    pub(crate) fn is_stdin_redirected(&self) -> bool {
        self.is_stdin_redirected
    }

    /// Says whether standard input was redirected in this shell; returns the previous value.
    pub(crate) fn set_stdin_redirected(&mut self, redirected: bool) -> bool {
        std::mem::replace(&mut self.is_stdin_redirected, redirected)
    }

    /// Makes the redirections of the running command stay after it.
    pub(crate) fn keep_redirections(&mut self) {
        self.keeps_redirections = true;
    }

    /// Whether [`OpenFiles::keep_redirections`] was called since the last call.
    pub(crate) fn take_keep_redirections(&mut self) -> bool {
        std::mem::take(&mut self.keeps_redirections)
    }

    /// How many descriptors of process substitutions are open.
    #[inline]
    pub(crate) fn substitution_count(&self) -> usize {
        self.substitutions.len()
    }

    /// Opens a pipe of a process substitution; returns its number.
    pub(crate) fn open_substitution(&mut self, file: Arc<OpenFile>) -> u32 {
        let number = self.free_from_top();
        self.set(number, file);
        self.substitutions.push(number);
        number
    }

    /// Closes the pipes of process substitutions but for the first `count`.
    #[inline]
    pub(crate) fn close_substitutions(&mut self, count: usize) {
        while self.substitutions.len() > count {
            if let Some(number) = self.substitutions.pop() {
                self.close(number);
            }
        }
    }

    /// The file whose output is held back.
    #[inline]
    pub(crate) fn held_back(&self) -> Option<&Arc<OpenFile>> {
        self.held_back.as_ref()
    }

    /// Says that output of a file is held back.
    pub(crate) fn hold_back(&mut self, file: Arc<OpenFile>) {
        self.held_back = Some(file);
    }

    /// The file whose output is held back, which the caller is about to flush.
    #[inline]
    pub(crate) fn take_held_back(&mut self) -> Option<Arc<OpenFile>> {
        self.held_back.take()
    }

    /// Whether a flush found that the pipe is closed.
    #[inline]
    pub(crate) fn has_broken_pipe(&self) -> bool {
        self.has_broken_pipe
    }

    /// Says whether a flush found that the pipe is closed.
    pub(crate) fn set_broken_pipe(&mut self, broken: bool) {
        self.has_broken_pipe = broken;
    }

    /// Counts a loop iteration; returns whether held-back output should be flushed.
    #[inline]
    pub(crate) fn count_iteration(&mut self) -> bool {
        self.iterations = self.iterations.wrapping_add(1);
        self.iterations.is_multiple_of(FLUSH_INTERVAL)
    }
}
