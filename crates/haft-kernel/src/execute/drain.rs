//! The end of a command substitution whose pipe is still held by background jobs.
//!
//! A plain shell waits until the last of them has let go, as bash does. In a run the substitution ends when its own commands
//! have ended and the pipe was quiet for a moment. The jobs go on; what they write later goes to standard error.

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

impl Session {
    /// Reads what is written into a capture until all that may write to it have let go, or need not be waited for.
    pub(crate) fn drain_to_end(&mut self, capture: &Arc<Capture>) -> Result<(), Unwind> {
        capture.close();
        let Some(reader) = capture.reader() else { return Ok(()) };
        let over = Instant::now() + LONGEST;
        let mut adopts = self.run.is_some();
        loop {
            let before = capture.len();
            let drained = capture.drain();
            self.memory.note_growth(capture.len().saturating_sub(before));
            if let Ok(true) | Err(_) = drained {
                return self.check_cancelled();
            }
            let ready = self.wait_at_most(&[reader.as_fd()], adopts.then_some(QUIET))?;
            // Process substitutions are commands of the substitution itself, which ends after them.
            if !adopts || self.orphans.has_substitutions() {
                continue;
            }
            let is_quiet = ready == Ready::TimedOut && !self.orphans.any_computes();
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
        let output = match self.descriptors.get(2) {
            // A capture is passed on through its pipe, whose reader notices that somebody may still write.
            Some(file) if file.is_capture() => Some(Arc::new(OpenFile::from_shared(file.for_program()?))),
            other => other.cloned(),
        };
        let reader = reader.clone();
        let body = move || copy_rest(&reader, output);
        thread::Builder::new().name("substitution".to_owned()).stack_size(STACK).spawn(body).map(drop)
    }
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
