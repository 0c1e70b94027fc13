//! Detects that the server must stop: it was cancelled, or its client has disconnected.

use std::io;
use std::os::fd::OwnedFd;

use haft_process::CancelToken;
use rustix::event::{PollFd, PollFlags, poll};
use tokio_util::sync::CancellationToken;

/// A thread that polls for shutdown. It exits when this is dropped.
#[derive(Debug)]
pub(crate) struct ShutdownWatch {
    /// Cancelled when the server must stop: on request, or because the client no longer reads.
    pub(crate) stop: CancellationToken,
    /// Cancelled when the client has closed the input. Earlier messages may still be unread.
    pub(crate) input_closed: CancellationToken,
    dropped: CancelToken,
}

/// The descriptors of the connection to the client.
#[derive(Debug)]
pub(crate) struct ClientDescriptors {
    pub(crate) input: OwnedFd,
    pub(crate) output: OwnedFd,
}

impl ShutdownWatch {
    /// Starts the thread. `client` is `None` for an HTTP server.
    pub(crate) fn start(
        client: Option<ClientDescriptors>,
        cancel: &CancelToken,
    ) -> io::Result<ShutdownWatch> {
        let watch = ShutdownWatch {
            stop: CancellationToken::new(),
            input_closed: CancellationToken::new(),
            dropped: CancelToken::new(),
        };
        // Made here, so that a lack of descriptors is an error and not the end of the watch.
        for token in [cancel, &watch.dropped] {
            token.descriptor().map_err(io::Error::other)?;
        }
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

/// Waits until a token is cancelled or the reading end of the output is closed.
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
        // `POLLERR` and `POLLHUP` are always reported. Sockets report a closed peer only as `POLLRDHUP`, which must
        // be requested.
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
