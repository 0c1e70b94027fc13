//! Knowing when to stop: we are asked to, or nobody reads any more what we write.

use std::io;
use std::os::fd::OwnedFd;

use haft_process::CancelToken;
use rustix::event::{PollFd, PollFlags, poll};
use tokio_util::sync::CancellationToken;

/// A thread that waits for either. It ends when this is dropped.
#[derive(Debug)]
pub(crate) struct Watch {
    /// Cancelled when it is time to stop.
    pub(crate) stop: CancellationToken,
    over: CancelToken,
}

impl Watch {
    /// Starts to watch the token and, if there is one, the other end of an output.
    pub(crate) fn start(output: Option<OwnedFd>, cancel: &CancelToken) -> io::Result<Watch> {
        let watch = Watch { stop: CancellationToken::new(), over: CancelToken::new() };
        let (stop, over, cancel) = (watch.stop.clone(), watch.over.clone(), cancel.clone());
        let wait = move || {
            let _ = wait(output.as_ref(), &cancel, &over);
            stop.cancel();
        };
        std::thread::Builder::new().name("watch".to_owned()).stack_size(64 * 1024).spawn(wait)?;
        Ok(watch)
    }
}

impl Drop for Watch {
    fn drop(&mut self) {
        self.over.cancel();
    }
}

/// Waits until one of the tokens is cancelled or nobody is left to read the output.
fn wait(output: Option<&OwnedFd>, cancel: &CancelToken, over: &CancelToken) -> io::Result<()> {
    let tokens = [cancel.descriptor(), over.descriptor()];
    let mut polled = Vec::new();
    for token in tokens {
        polled.push(PollFd::from_borrowed_fd(token.map_err(io::Error::other)?, PollFlags::IN));
    }
    // A closed other end is told whether it is asked for or not.
    polled.extend(output.map(|output| PollFd::new(output, PollFlags::empty())));
    loop {
        match poll(&mut polled, None) {
            Err(rustix::io::Errno::INTR) => {}
            result => return result.map(|_| ()).map_err(Into::into),
        }
    }
}
