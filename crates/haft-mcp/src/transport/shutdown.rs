//! Noticing that the server is to end: it was asked to, or its client has gone.

use std::io;
use std::os::fd::OwnedFd;

use haft_process::CancelToken;
use rustix::event::{PollFd, PollFlags, poll};
use tokio_util::sync::CancellationToken;

/// A thread that waits for either. It ends when this is dropped.
#[derive(Debug)]
pub(crate) struct ShutdownWatch {
    /// Cancelled when the server was asked to end, or nothing can be written to the client any more.
    pub(crate) stop: CancellationToken,
    /// Cancelled when the client has closed its end of the input. What it wrote before may still be unread.
    pub(crate) input_closed: CancellationToken,
    dropped: CancelToken,
}

/// The client's ends of a connection, to be watched.
#[derive(Debug)]
pub(crate) struct ClientDescriptors {
    pub(crate) input: OwnedFd,
    pub(crate) output: OwnedFd,
}

impl ShutdownWatch {
    /// Starts to watch the token and, if there are some, the client's ends.
    pub(crate) fn start(
        client: Option<ClientDescriptors>,
        cancel: &CancelToken,
    ) -> io::Result<ShutdownWatch> {
        let watch = ShutdownWatch {
            stop: CancellationToken::new(),
            input_closed: CancellationToken::new(),
            dropped: CancelToken::new(),
        };
        let (stop, input_closed) = (watch.stop.clone(), watch.input_closed.clone());
        let (dropped, cancel) = (watch.dropped.clone(), cancel.clone());
        let wait = move || {
            let _ = wait(client, &input_closed, [&cancel, &dropped]);
            stop.cancel();
        };
        std::thread::Builder::new().name("watch".to_owned()).stack_size(64 * 1024).spawn(wait)?;
        Ok(watch)
    }
}

impl Drop for ShutdownWatch {
    fn drop(&mut self) {
        self.dropped.cancel();
    }
}

/// Waits until one of the tokens is cancelled or nobody is left to read the output.
fn wait(
    client: Option<ClientDescriptors>,
    input_closed: &CancellationToken,
    tokens: [&CancelToken; 2],
) -> io::Result<()> {
    let (mut input, output) = client.map(|client| (client.input, client.output)).unzip();
    loop {
        let mut polled = Vec::new();
        for token in tokens {
            let descriptor = token.descriptor().map_err(io::Error::other)?;
            polled.push(PollFd::from_borrowed_fd(descriptor, PollFlags::IN));
        }
        // A pipe whose other end is closed reports that without being asked; a socket has to be asked.
        polled.extend(output.as_ref().map(|output| PollFd::new(output, PollFlags::empty())));
        let watched = polled.len();
        polled.extend(input.as_ref().map(|input| PollFd::new(input, PollFlags::RDHUP)));
        match poll(&mut polled, None) {
            Err(rustix::io::Errno::INTR) => continue,
            result => result?,
        };
        if polled[..watched].iter().any(|polled| !polled.revents().is_empty()) {
            return Ok(());
        }
        input_closed.cancel();
        input = None;
    }
}
