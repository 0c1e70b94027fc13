//! All unsafe code of this crate: registering a descriptor with the async runtime.
#![expect(unsafe_code, reason = "the runtime cannot check that a descriptor stays open")]

use std::os::fd::{AsFd as _, AsRawFd, RawFd};

use haft_process::capture::{Output, OutputWatch};
use tokio::io::Interest;
use tokio::io::unix::AsyncFd;

/// Reports when an output grows or ends.
pub(crate) struct AsyncOutputWatch(AsyncFd<Watched>);

struct Watched(OutputWatch);

impl AsRawFd for Watched {
    fn as_raw_fd(&self) -> RawFd {
        self.0.as_fd().as_raw_fd()
    }
}

impl AsyncOutputWatch {
    /// Watches an output. Returns `None` if the system is out of descriptors.
    pub(crate) fn new(output: &Output) -> Option<AsyncOutputWatch> {
        let watched = Watched(output.watch().ok()?);
        // SAFETY: the watch owns its descriptor and never replaces or closes it, and the runtime owns the watch. So
        // the descriptor stays open and unchanged while it is registered.
        let registered = unsafe { AsyncFd::register_with_interest(watched, Interest::READABLE) };
        registered.ok().map(AsyncOutputWatch)
    }

    /// Waits for a change and resets the watch.
    pub(crate) async fn changed(&self) {
        if let Ok(mut ready) = self.0.readable().await {
            self.0.get_ref().0.clear();
            ready.clear_ready();
        }
    }
}
