//! Fan-out: the stages of a pipeline between two commands run once for each item.
//!
//! The commands that [open](Role::Opens) and [close](Role::Closes) a fan-out are recognised by their names before a pipeline
//! starts. They and the stages between them become one stage: the opening command gets a [`FanOut`], makes a [`Branch`] for
//! each item, and runs the branches on threads of its own.

use std::io;
use std::sync::Arc;
use std::time::{Duration, Instant};

use haft_lang::ast::Pipeline;
use haft_process::CancelToken;
use haft_text::Bytes;
use rustix::event::{PollFd, PollFlags, Timespec, poll};

use crate::io::{Capture, OpenFile};
use crate::session::Session;

/// The stack size that a thread needs to run a [`Branch`]. Memory is used only as far as it is touched.
pub const STACK: usize = 8 << 20;

/// The longest item that fits into a pipe of any size, so that writing it never blocks.
const MAX_PIPE_ITEM_BYTES: usize = 4096;

/// How long the output of a branch that has ended must be quiet while another process holds it open.
const QUIET_INTERVAL: Duration = Duration::from_millis(100);

/// The role of a command in the pipeline around it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Role {
    /// An ordinary stage.
    #[default]
    Stage,
    /// It opens a fan-out, which the command of this name closes.
    Opens(&'static str),
    /// It closes a fan-out, which the command of this name opens.
    Closes(&'static str),
}

/// A fan-out that is about to run.
#[derive(Debug)]
pub struct FanOut<'a> {
    /// The arguments of the command that opens it.
    pub opening: &'a [Bytes],
    /// The arguments of the command that closes it.
    pub closing: &'a [Bytes],
    /// The input with the items; `None` if it is closed.
    pub input: Option<Arc<OpenFile>>,
    /// The session that each branch is forked from.
    pub(crate) base: Session,
    /// The stages between the two commands.
    pub(crate) body: Arc<Pipeline>,
}

/// The stages of a fan-out for one item, about to run.
#[derive(Debug)]
pub struct Branch {
    session: Session,
    body: Arc<Pipeline>,
    stdout: Arc<Capture>,
    stderr: Arc<Capture>,
}

/// The result of a [`Branch`].
#[derive(Debug)]
pub struct BranchEnd {
    /// The exit status, as `$?` would show it.
    pub status: i32,
    /// Its standard output.
    pub stdout: Vec<u8>,
    /// Its standard error.
    pub stderr: Vec<u8>,
    /// How long it took.
    pub duration: Duration,
    /// Whether Ctrl-C ended one of its programs, so that the whole fan-out must end.
    pub interrupted: bool,
}

impl FanOut<'_> {
    /// The stages for an item. The variable is set to it, and standard input contains it as a line.
    ///
    /// # Errors
    /// If there are too many open files.
    pub fn branch(&self, variable: &[u8], item: &[u8]) -> io::Result<Branch> {
        let mut session = self.base.snapshot();
        let (stdout, stderr) = (Arc::new(Capture::default()), Arc::new(Capture::default()));
        session.limits.set_cancel(self.base.limits.cancel().child());
        session.processes.set_branch(true);
        session.open_files.set(0, Arc::new(OpenFile::pipe(line(item)?)));
        session.open_files.set(1, Arc::new(OpenFile::capture(stdout.clone())));
        session.open_files.set(2, Arc::new(OpenFile::capture(stderr.clone())));
        session.open_files.set_stdin_redirected(true);
        session.processes.set_captures(vec![stdout.clone(), stderr.clone()]);
        session.limits.begin_thread();
        session.set(variable, item).map_err(|error| io::Error::other(error.to_string()))?;
        Ok(Branch { session, body: self.body.clone(), stdout, stderr })
    }

    /// The source text of the stages.
    #[must_use]
    pub fn text(&self) -> Bytes {
        let stages = &self.body.stages;
        match (stages.first(), stages.last()) {
            (Some(first), Some(last)) => self.base.text_of(first.span.to(last.span)),
            _ => Bytes::new(),
        }
    }
}

/// A readable file that contains an item as a line.
fn line(item: &[u8]) -> io::Result<std::os::fd::OwnedFd> {
    let text = [item, b"\n"].concat();
    if text.len() <= MAX_PIPE_ITEM_BYTES {
        let (reader, writer) = rustix::pipe::pipe_with(rustix::pipe::PipeFlags::CLOEXEC)?;
        rustix::io::write(&writer, &text)?;
        return Ok(reader);
    }
    let file = rustix::fs::memfd_create("item", rustix::fs::MemfdFlags::CLOEXEC)?;
    let mut rest = text.as_slice();
    while !rest.is_empty() {
        let written = rustix::io::write(&file, rest)?;
        rest = &rest[written..];
    }
    rustix::fs::seek(&file, rustix::fs::SeekFrom::Start(0))?;
    Ok(file)
}

impl Branch {
    /// The token that cancels it.
    #[must_use]
    pub fn cancel_token(&self) -> CancelToken {
        self.session.limits.cancel().clone()
    }

    /// Runs it to its end, without waiting for processes it leaves running.
    #[must_use]
    pub fn run(mut self) -> BranchEnd {
        let started = Instant::now();
        let _counted = self.session.memory.enter();
        let body = self.body.clone();
        let status = self.session.run_as_subshell(|session| session.run_branch(&body));
        let interrupted = self.session.was_interrupted(status);
        self.session.release_jobs();
        self.session.open_files.close_all();
        self.drain();
        let (stdout, stderr) = (self.stdout.take(), self.stderr.take());
        BranchEnd { status, stdout, stderr, duration: started.elapsed(), interrupted }
    }

    fn drain(&self) {
        self.stdout.close();
        self.stderr.close();
        while self.session.check_cancelled().is_ok() {
            let open: Vec<_> = [&self.stdout, &self.stderr]
                .into_iter()
                .filter(|capture| matches!(capture.drain(), Ok(false)))
                .filter_map(|capture| capture.reader())
                .collect();
            if open.is_empty() {
                return;
            }
            let mut polled: Vec<PollFd<'_>> =
                open.iter().map(|reader| PollFd::new(reader, PollFlags::IN)).collect();
            let quiet = Timespec::try_from(QUIET_INTERVAL).ok();
            if matches!(poll(&mut polled, quiet.as_ref()), Ok(0)) {
                return;
            }
        }
    }
}
