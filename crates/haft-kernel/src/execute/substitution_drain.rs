//! Substitutions whose pipe is still held open by background jobs.
//!
//! A plain shell waits until the last job has closed the pipe, as bash does. In a run, the substitution ends when its own
//! commands have ended and the pipe has been quiet for a moment. The jobs go on, and what they write later is kept in an
//! output of the run. For that, a background job of a process substitution gets a pipe of its own.

use std::io;
use std::os::fd::{AsFd as _, OwnedFd};
use std::sync::Arc;
use std::thread;
use std::time::{Duration, Instant};

use haft_process::CancelToken;
use haft_process::capture::Output;

use crate::flow::Unwind;
use crate::io::{Capture, OpenFile, Ready, SubstitutionPipe, wait_readable};
use crate::session::Session;

/// How long the pipe must be quiet, the same as for the output of a run.
const QUIET_INTERVAL: Duration = Duration::from_millis(100);

/// The longest wait for jobs that keep computing or writing.
const MAX_DRAIN_TIME: Duration = Duration::from_secs(5);

/// The stack of the thread that copies later output.
const COPY_STACK_BYTES: usize = 64 << 10;

impl Session {
    /// Gives a background job of a process substitution a pipe of its own instead of the pipe of the substitution.
    pub(crate) fn leave_substitution(&mut self) -> io::Result<()> {
        let Some(substitution) = self.processes.take_substitution_pipe() else { return Ok(()) };
        let is_pipe = |file: &Arc<OpenFile>| Arc::ptr_eq(file, substitution.output());
        let held = self.open_files.iter().filter(|(_, file)| is_pipe(file));
        let numbers: Vec<u32> = held.map(|(number, _)| number).collect();
        if numbers.is_empty() {
            return Ok(());
        }
        let (reader, writer) = rustix::pipe::pipe_with(rustix::pipe::PipeFlags::CLOEXEC)?;
        let writer = Arc::new(OpenFile::pipe(writer));
        for number in numbers {
            self.open_files.set(number, writer.clone());
        }
        let late = self.late_output();
        let body = move || relay(&reader, substitution, late.as_ref());
        thread::Builder::new()
            .name("substitution".to_owned())
            .stack_size(COPY_STACK_BYTES)
            .spawn(body)
            .map(drop)
    }

    /// Reads a capture until all writers have closed it, or need not be waited for any more.
    pub(crate) fn drain_to_end(&mut self, capture: &Arc<Capture>) -> Result<(), Unwind> {
        capture.close();
        let Some(reader) = capture.reader() else { return Ok(()) };
        let over = Instant::now() + MAX_DRAIN_TIME;
        let mut adopts = self.processes.is_supervised();
        loop {
            let before = capture.len();
            let drained = capture.drain();
            self.memory.note_growth(capture.len().saturating_sub(before));
            if let Ok(true) | Err(_) = drained {
                return self.check_cancelled();
            }
            let ready = self.wait_at_most(&[reader.as_fd()], adopts.then_some(QUIET_INTERVAL))?;
            // Process substitutions belong to the command substitution itself, which ends after them.
            if !adopts || self.processes.orphans().has_substitutions() {
                continue;
            }
            let is_quiet = ready == Ready::TimedOut && !self.processes.orphans().any_computes();
            if is_quiet || Instant::now() >= over {
                adopts = self.pass_on(&reader).is_err();
                if !adopts {
                    return Ok(());
                }
            }
        }
    }

    /// Returns the output of the run for what jobs write after their substitution has ended.
    fn late_output(&self) -> Option<Output> {
        self.processes.run().and_then(|run| run.captured.late.clone())
    }

    /// Starts a thread that keeps the rest in the late output of the run, so that no job gets `SIGPIPE`.
    fn pass_on(&mut self, reader: &Arc<OwnedFd>) -> io::Result<()> {
        let (reader, late) = (reader.clone(), self.late_output());
        let body = move || copy_rest(&reader, late.as_ref());
        thread::Builder::new()
            .name("substitution".to_owned())
            .stack_size(COPY_STACK_BYTES)
            .spawn(body)
            .map(drop)
    }
}

/// Copies the output of a background job to the pipe of its substitution until that has ended and is quiet, and to the late
/// output of the run from then on.
fn relay(reader: &OwnedFd, substitution: Arc<SubstitutionPipe>, late: Option<&Output>) {
    let mut buffer = [0; 4096];
    let never = CancelToken::new();
    loop {
        let ready = match substitution.ended().is_cancelled() {
            false => wait_readable(&[reader.as_fd()], None, substitution.ended()),
            true => wait_readable(&[reader.as_fd()], Some(QUIET_INTERVAL), &never),
        };
        match ready {
            Ready::TimedOut => break,
            Ready::Cancelled | Ready::Interrupted => continue,
            Ready::Descriptor(_) => {}
        }
        match rustix::io::read(reader, &mut buffer) {
            Ok(length) if length > 0 => {
                let output = substitution.output();
                if output.write(&buffer[..length], None).and_then(|_| output.flush(None)).is_err() {
                    return;
                }
            }
            Err(rustix::io::Errno::INTR) => {}
            _ => return,
        }
    }
    // The reader of the substitution sees the end of its input.
    drop(substitution);
    copy_rest(reader, late);
}

/// Copies a pipe to the late output until its end.
fn copy_rest(reader: &OwnedFd, late: Option<&Output>) {
    let mut buffer = [0; 4096];
    loop {
        match rustix::io::read(reader, &mut buffer) {
            Ok(0) => return,
            Ok(length) => late.into_iter().for_each(|late| late.append(&buffer[..length])),
            Err(rustix::io::Errno::AGAIN) => {
                let _ = wait_readable(&[reader.as_fd()], None, &CancelToken::new());
            }
            Err(rustix::io::Errno::INTR) => {}
            Err(_) => return,
        }
    }
}
