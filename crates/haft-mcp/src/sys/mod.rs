//! The one call that the compiler cannot check: a descriptor handed to the runtime.
#![expect(unsafe_code, reason = "the runtime takes descriptors on trust")]

use std::os::fd::{AsFd as _, AsRawFd, RawFd};

use haft_process::capture::{Output, OutputWatch};
use tokio::io::Interest;
use tokio::io::unix::AsyncFd;

/// Rings when an output grows or finishes.
pub(crate) struct AsyncOutputWatch(AsyncFd<Watched>);

struct Watched(OutputWatch);

impl AsRawFd for Watched {
    fn as_raw_fd(&self) -> RawFd {
        self.0.as_fd().as_raw_fd()
    }
}

impl AsyncOutputWatch {
    /// A bell for an output; `None` if there is no descriptor for it.
    pub(crate) fn new(output: &Output) -> Option<AsyncOutputWatch> {
        let watched = Watched(output.watch().ok()?);
        // SAFETY: the watch owns its descriptor and never gives it away or changes it, and the runtime owns the watch:
        // the descriptor is open, and the same, for as long as it is registered.
        let registered = unsafe { AsyncFd::register_with_interest(watched, Interest::READABLE) };
        registered.ok().map(AsyncOutputWatch)
    }

    /// Waits until it has rung; from then on it can ring again.
    pub(crate) async fn changed(&self) {
        if let Ok(mut ready) = self.0.readable().await {
            self.0.get_ref().0.clear();
            ready.clear_ready();
        }
    }
}
