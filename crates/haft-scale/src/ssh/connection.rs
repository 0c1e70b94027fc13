//! One connection to a host: the program `ssh` with a worker at its other end.

use std::collections::VecDeque;
use std::fs::File;
use std::io::{self, BufRead as _, BufReader, Read as _, Write as _};
use std::os::fd::OwnedFd;
use std::path::PathBuf;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use haft_process::{Child, Error, ProcessGroup, Signals};
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::pipe::{PipeFlags, pipe_with};

use super::SshSettings;
use super::script::{MISSING, worker_command};
use crate::WorkerReply;
use crate::events::EventQueue;

/// The last lines of standard error that are kept to explain the end of a connection.
const MAX_ERROR_LINES: usize = 5;
/// The longest line of standard error that is kept.
const MAX_ERROR_LINE_BYTES: u64 = 1000;
/// The stack of the threads that only copy bytes.
const THREAD_STACK_BYTES: usize = 256 << 10;

/// Options of `ssh` that a connection needs, whatever the user's configuration says.
const OPTIONS: [&str; 10] = [
    "-T",
    "-x",
    "-oBatchMode=yes",
    "-oServerAliveInterval=15",
    "-oServerAliveCountMax=3",
    "-oControlMaster=no",
    "-oEscapeChar=none",
    "-oForwardAgent=no",
    "-oRequestTTY=no",
    "-oClearAllForwardings=yes",
];

/// Something that a connection has received.
#[derive(Debug)]
pub(super) struct ConnectionEvent {
    pub(super) host: usize,
    /// The number of the connection to this host.
    pub(super) generation: u32,
    /// Messages, and lines that are none.
    pub(super) replies: Vec<Result<WorkerReply, String>>,
    /// Whether the connection has ended.
    pub(super) ended: bool,
}

/// Something to send.
#[derive(Debug)]
enum Outgoing {
    Bytes(Vec<u8>),
    File(PathBuf),
}

/// A running `ssh`.
#[derive(Debug)]
pub(super) struct Connection {
    child: Child,
    /// `None` after the input of the worker was closed.
    to_worker: Option<Sender<Outgoing>>,
    errors: Arc<Mutex<VecDeque<String>>>,
    threads: Vec<JoinHandle<()>>,
}

impl Connection {
    /// Starts `ssh`.
    pub(super) fn open(
        settings: &SshSettings,
        name: &str,
        (host, generation): (usize, u32),
        events: &Arc<EventQueue<ConnectionEvent>>,
    ) -> Result<Self, Error> {
        let pipe = || pipe_with(PipeFlags::CLOEXEC).map_err(|error| Error::system("create a pipe", error));
        let ((input, to_worker), (from_worker, output), (errors, error_output)) = (pipe()?, pipe()?, pipe()?);
        let mut command = settings.program.clone();
        command
            .arguments(OPTIONS)
            .argument("--")
            .argument(name)
            .argument(worker_command(&settings.version))
            .descriptor(0, input)
            .descriptor(1, output)
            .descriptor(2, error_output)
            .group(ProcessGroup::Session)
            // When everything is ended, ssh must wait for the worker, which ends what it runs.
            .ignore_signals(Signals::none().with(Signals::TERM))
            .parent_death_signal(Signals::KILL);
        let child = command.spawn(&settings.permission)?;
        drop(command);
        let (sender, receiver) = channel();
        let kept = Arc::new(Mutex::new(VecDeque::new()));
        let (lines, events) = (kept.clone(), events.clone());
        let error_reader = start_thread(move || keep_errors(errors, &lines))?;
        let reader = start_thread(move || {
            let send = |replies, ended| events.push(ConnectionEvent { host, generation, replies, ended });
            read_replies(from_worker, |replies| send(replies, false));
            // The messages that explain the end come before it.
            let _ = error_reader.join();
            send(Vec::new(), true);
        })?;
        let writer = start_thread(move || write_all(to_worker, &receiver))?;
        Ok(Self { child, to_worker: Some(sender), errors: kept, threads: vec![reader, writer] })
    }

    /// Sends bytes to the worker.
    pub(super) fn send(&self, bytes: Vec<u8>) {
        self.push(Outgoing::Bytes(bytes));
    }

    /// Sends the contents of a file.
    pub(super) fn send_file(&self, path: PathBuf) {
        self.push(Outgoing::File(path));
    }

    fn push(&self, outgoing: Outgoing) {
        // If the writer has ended, the connection has ended, and the reader reports that.
        let _ = self.to_worker.as_ref().map(|sender| sender.send(outgoing));
    }

    /// Closes the input of the worker. Without the message that ends its work, it cancels everything and exits.
    pub(super) fn close(&mut self) {
        self.to_worker = None;
    }

    /// Waits until the connection has ended, but not for ever. Returns the reason for its end.
    pub(super) fn finish(mut self, patience: Duration) -> String {
        self.close();
        let deadline = Instant::now() + patience;
        while !self.wait_until(deadline) && Instant::now() < deadline {}
        let status = match self.child.try_wait() {
            Ok(Some((exit, _))) => Some(exit.code()),
            Ok(None) | Err(_) => None,
        };
        if status.is_none() {
            let _ = self.child.end();
        }
        for thread in self.threads.drain(..) {
            let _ = thread.join();
        }
        let lines = self.errors.lock().unwrap_or_else(PoisonError::into_inner);
        let lines: Vec<String> = lines.iter().cloned().collect();
        match (lines.is_empty(), status) {
            (false, _) => lines.join("; "),
            (true, Some(status)) => format!("the connection was closed (status {status})"),
            (true, None) => "the connection did not end and was cut".to_owned(),
        }
    }

    /// Waits until `ssh` has exited. Returns whether it has.
    fn wait_until(&self, deadline: Instant) -> bool {
        let Some(pidfd) = self.child.pidfd() else { return true };
        let rest = Timespec::try_from(deadline.saturating_duration_since(Instant::now())).ok();
        poll(&mut [PollFd::new(&pidfd, PollFlags::IN)], rest.as_ref()).is_ok_and(|ready| ready > 0)
    }
}

fn start_thread(work: impl FnOnce() + Send + 'static) -> Result<JoinHandle<()>, Error> {
    thread::Builder::new()
        .name("ssh".to_owned())
        .stack_size(THREAD_STACK_BYTES)
        .spawn(work)
        .map_err(|error| Error::system("start a thread", error))
}

/// Reads messages until the end. All complete lines that were read at once are sent at once.
fn read_replies(from_worker: OwnedFd, mut send: impl FnMut(Vec<Result<WorkerReply, String>>)) {
    let mut reader = BufReader::with_capacity(1 << 16, File::from(from_worker));
    let (mut line, mut replies) = (Vec::new(), Vec::new());
    while matches!(reader.read_until(b'\n', &mut line), Ok(length) if length > 0) {
        if line.ends_with(b"\n") {
            replies.push(parse_reply(&line));
        }
        line.clear();
        if memchr::memchr(b'\n', reader.buffer()).is_none() {
            send(std::mem::take(&mut replies));
        }
    }
}

fn parse_reply(line: &[u8]) -> Result<WorkerReply, String> {
    let text = || String::from_utf8_lossy(line).trim_end().to_owned();
    if let Some(system) = text().strip_prefix(MISSING).filter(|_| line.len() < 200) {
        return Ok(WorkerReply::Missing(system.to_owned()));
    }
    serde_json::from_slice(line).map_err(|_| text())
}

fn keep_errors(errors: OwnedFd, kept: &Mutex<VecDeque<String>>) {
    let mut reader = BufReader::new(File::from(errors));
    let mut line = Vec::new();
    while matches!((&mut reader).take(MAX_ERROR_LINE_BYTES).read_until(b'\n', &mut line), Ok(length) if length > 0)
    {
        let text = String::from_utf8_lossy(&line).trim().to_owned();
        let mut kept = kept.lock().unwrap_or_else(PoisonError::into_inner);
        if !text.is_empty() {
            kept.push_back(text);
        }
        if kept.len() > MAX_ERROR_LINES {
            kept.pop_front();
        }
        line.clear();
    }
}

/// Writes until the other side of the channel or the pipe is closed.
fn write_all(to_worker: OwnedFd, receiver: &Receiver<Outgoing>) {
    let mut pipe = File::from(to_worker);
    while let Ok(outgoing) = receiver.recv() {
        let written = match outgoing {
            Outgoing::Bytes(mut bytes) => {
                // One system call for all that waits.
                let mut next = None;
                while bytes.len() < 1 << 16 {
                    match receiver.try_recv() {
                        Ok(Outgoing::Bytes(more)) => bytes.extend_from_slice(&more),
                        Ok(file) => {
                            next = Some(file);
                            break;
                        }
                        Err(_) => break,
                    }
                }
                let written = pipe.write_all(&bytes);
                match next {
                    Some(Outgoing::File(path)) => written.and_then(|()| copy_file(&path, &mut pipe)),
                    _ => written,
                }
            }
            Outgoing::File(path) => copy_file(&path, &mut pipe),
        };
        if written.is_err() {
            return;
        }
    }
}

fn copy_file(path: &std::path::Path, pipe: &mut File) -> io::Result<()> {
    io::copy(&mut File::open(path)?, pipe).map(drop)
}
