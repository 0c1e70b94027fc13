//! Fan-out: the stages of a pipeline that stand between two commands, run once for each item.
//!
//! A command that [opens](Role::Opens) a fan-out and one that [closes](Role::Closes) it are recognised by their names
//! before a pipeline starts. They and all between them become one stage: the opening command is given a [`FanOut`], makes a
//! [`Branch`] of it for each item, and runs those on threads of its own, as many at once as it likes.

use std::io;
use std::sync::Arc;
use std::time::{Duration, Instant};

use haft_lang::ast::Pipeline;
use haft_process::CancelToken;
use haft_text::Bytes;
use rustix::event::{PollFd, PollFlags, Timespec, poll};

use crate::execute::ExecutionParameters;
use crate::io::{Capture, OpenFile};
use crate::session::Session;

/// The stack that a thread which runs a [`Branch`] needs. It is taken from the system only as far as it is used.
pub const STACK: usize = 8 << 20;

/// An item that fits into a pipe whatever the size of that, so that writing it never waits.
const FITS: usize = 4096;

/// How long the output of a branch that has ended is waited for while somebody else holds it open.
const QUIET: Duration = Duration::from_millis(100);

/// What a command is to the stages of a pipeline around it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Role {
    /// A stage like others.
    #[default]
    Stage,
    /// It opens a fan-out that the command of this name closes.
    Opens(&'static str),
    /// It closes a fan-out that the command of this name opens.
    Closes(&'static str),
}

/// A fan-out that is about to run.
#[derive(Debug)]
pub struct FanOut<'a> {
    /// The arguments of the command that opens it.
    pub opening: &'a [Bytes],
    /// The arguments of the command that closes it.
    pub closing: &'a [Bytes],
    /// Where the items come from; `None` if that is closed.
    pub input: Option<Arc<OpenFile>>,
    /// What the branches begin with.
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

/// What became of a [`Branch`].
#[derive(Debug)]
pub struct BranchEnd {
    /// The exit status, as `$?` would show it.
    pub status: i32,
    /// What it wrote to standard output.
    pub stdout: Vec<u8>,
    /// What it wrote to standard error.
    pub stderr: Vec<u8>,
    /// How long it took.
    pub duration: Duration,
    /// Whether Ctrl-C has ended a program of it, so that the whole fan-out is to end.
    pub interrupted: bool,
}

impl FanOut<'_> {
    /// The stages for an item: the variable is bound to it, and standard input holds it as a line.
    ///
    /// # Errors
    /// If the system is out of descriptors.
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

    /// The stages as text.
    #[must_use]
    pub fn text(&self) -> Bytes {
        let stages = &self.body.stages;
        match (stages.first(), stages.last()) {
            (Some(first), Some(last)) => self.base.text_of(first.span.to(last.span)),
            _ => Bytes::new(),
        }
    }
}

/// A file that holds an item as a line.
fn line(item: &[u8]) -> io::Result<std::os::fd::OwnedFd> {
    let text = [item, b"\n"].concat();
    if text.len() <= FITS {
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
    /// What stops it.
    #[must_use]
    pub fn cancel_token(&self) -> CancelToken {
        self.session.limits.cancel().clone()
    }

    /// Runs it to its end. What it leaves running does not hold it up.
    #[must_use]
    pub fn run(mut self) -> BranchEnd {
        let started = Instant::now();
        let _counted = self.session.memory.enter();
        let body = self.body.clone();
        let status = self.session.run_as_subshell(|session| match &*body.stages {
            [only] => session.run_command(only, ExecutionParameters::default(), None),
            _ => session.run_piped(&body, false),
        });
        let interrupted = self.session.was_interrupted(status);
        self.session.leave();
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
            let quiet = Timespec::try_from(QUIET).ok();
            if matches!(poll(&mut polled, quiet.as_ref()), Ok(0)) {
                return;
            }
        }
    }
}
