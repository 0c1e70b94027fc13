//! The end of a substitution whose pipe is still held by background jobs.
//!
//! A plain shell waits until the last of them has let go, as bash does. In a run the substitution ends when its own commands
//! have ended and the pipe was quiet for a moment. The jobs go on; what they write later goes to standard error. For that, a
//! background job of a process substitution writes through a pipe of its own.

use std::io;
use std::os::fd::{AsFd as _, OwnedFd};
use std::sync::Arc;
use std::thread;
use std::time::{Duration, Instant};

use haft_process::CancelToken;

use crate::flow::Unwind;
use crate::io::{Capture, OpenFile, Ready, wait_readable};
use crate::session::Session;

/// So much quiet is enough, as it is for the output of a run.
const QUIET: Duration = Duration::from_millis(100);

/// A job that keeps computing or writing is not waited for any longer.
const LONGEST: Duration = Duration::from_secs(5);

/// The thread that passes on what comes later needs little.
const STACK: usize = 64 << 10;

/// The pipe that the commands of `<(…)` write to.
#[derive(Debug)]
pub(crate) struct SubstitutionPipe {
    output: Arc<OpenFile>,
    /// Cancelled when those commands have ended.
    ended: CancelToken,
}

impl SubstitutionPipe {
    /// Makes a subshell the commands of a process substitution; yields what to cancel when they have ended.
    pub(crate) fn enter(session: &mut Session, output: &Arc<OpenFile>) -> CancelToken {
        let ended = CancelToken::new();
        session
            .processes
            .set_substitution_pipe(Arc::new(Self { output: output.clone(), ended: ended.clone() }));
        ended
    }
}

impl Session {
    /// Gives a background job of a process substitution a pipe of its own in place of that of the substitution.
    pub(crate) fn leave_substitution(&mut self) -> io::Result<()> {
        let Some(substitution) = self.processes.take_substitution_pipe() else { return Ok(()) };
        let is_pipe = |file: &Arc<OpenFile>| Arc::ptr_eq(file, &substitution.output);
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
        let later = self.open_files.get(2).cloned();
        let body = move || relay(&reader, substitution, later);
        thread::Builder::new().name("substitution".to_owned()).stack_size(STACK).spawn(body).map(drop)
    }

    /// Reads what is written into a capture until all that may write to it have let go, or need not be waited for.
    pub(crate) fn drain_to_end(&mut self, capture: &Arc<Capture>) -> Result<(), Unwind> {
        capture.close();
        let Some(reader) = capture.reader() else { return Ok(()) };
        let over = Instant::now() + LONGEST;
        let mut adopts = self.processes.is_supervised();
        loop {
            let before = capture.len();
            let drained = capture.drain();
            self.memory.note_growth(capture.len().saturating_sub(before));
            if let Ok(true) | Err(_) = drained {
                return self.check_cancelled();
            }
            let ready = self.wait_at_most(&[reader.as_fd()], adopts.then_some(QUIET))?;
            // Process substitutions are commands of the substitution itself, which ends after them.
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

    /// Lets a thread read the rest, so that no job is ended by a pipe without a reader, and pass it on to standard error.
    fn pass_on(&mut self, reader: &Arc<OwnedFd>) -> io::Result<()> {
        let _ = self.flush();
        let output = match self.open_files.get(2) {
            // A capture is passed on through its pipe, whose reader notices that somebody may still write.
            Some(file) if file.is_capture() => Some(Arc::new(OpenFile::from_shared(file.for_program()?))),
            other => other.cloned(),
        };
        let reader = reader.clone();
        let body = move || copy_rest(&reader, output);
        thread::Builder::new().name("substitution".to_owned()).stack_size(STACK).spawn(body).map(drop)
    }
}

/// Copies what a background job writes to the pipe of its substitution until that has ended and is quiet, and to standard
/// error from then on.
fn relay(reader: &OwnedFd, substitution: Arc<SubstitutionPipe>, later: Option<Arc<OpenFile>>) {
    let mut buffer = [0; 4096];
    let never = CancelToken::new();
    loop {
        let ready = match substitution.ended.is_cancelled() {
            false => wait_readable(&[reader.as_fd()], None, &substitution.ended),
            true => wait_readable(&[reader.as_fd()], Some(QUIET), &never),
        };
        match ready {
            Ready::TimedOut => break,
            Ready::Cancelled | Ready::Interrupted => continue,
            Ready::Descriptor(_) => {}
        }
        match rustix::io::read(reader, &mut buffer) {
            Ok(length) if length > 0 => {
                let output = &substitution.output;
                if output.write(&buffer[..length], None).and_then(|_| output.flush(None)).is_err() {
                    return;
                }
            }
            Err(rustix::io::Errno::INTR) => {}
            _ => return,
        }
    }
    // The reader of the substitution sees its end.
    drop(substitution);
    copy_rest(reader, later);
}

/// Copies what comes through a pipe until it ends. Output that cannot be written is read all the same.
fn copy_rest(reader: &OwnedFd, mut output: Option<Arc<OpenFile>>) {
    let mut buffer = [0; 4096];
    loop {
        match rustix::io::read(reader, &mut buffer) {
            Ok(0) => return,
            Ok(length) => {
                let bytes = &buffer[..length];
                output = output.filter(|file| file.write(bytes, None).and_then(|_| file.flush(None)).is_ok());
            }
            Err(rustix::io::Errno::AGAIN) => {
                let _ = wait_readable(&[reader.as_fd()], None, &CancelToken::new());
            }
            Err(rustix::io::Errno::INTR) => {}
            Err(_) => return,
        }
    }
}
