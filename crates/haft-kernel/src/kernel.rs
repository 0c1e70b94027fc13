//! What sessions share.

use std::sync::Arc;

use haft_fs::{FileSystem, Local};
use haft_process::Disposition;

use crate::signals::SignalInbox;

/// Everything that does not change while sessions run: the file system, and what they may do.
#[derive(Debug)]
pub struct Kernel {
    pub(crate) files: Arc<dyn FileSystem>,
    /// Whether programs may be started.
    pub(crate) external: bool,
    /// Whether this process is a shell and nothing else: it may be replaced, and its jobs outlive it.
    pub(crate) plain_shell: bool,
    /// Signals on their way to the session.
    pub(crate) signals: Arc<SignalInbox>,
}

/// Makes a [`Kernel`].
#[derive(Debug)]
pub struct KernelBuilder {
    kernel: Kernel,
}

impl Kernel {
    /// A kernel on the machine's own files that may start programs.
    #[must_use]
    pub fn builder() -> KernelBuilder {
        KernelBuilder {
            kernel: Kernel {
                files: Arc::new(Local),
                external: true,
                plain_shell: false,
                signals: Arc::default(),
            },
        }
    }
}

impl Kernel {
    /// Has this process ignore a signal, obey it, or catch it and put it into the inbox. Only a plain shell does that.
    pub(crate) fn dispose(&self, signal: i32, disposition: Disposition) {
        if disposition == Disposition::Catch {
            let inbox = self.signals.clone();
            haft_process::set_signal_catcher(move |caught| inbox.raise(caught));
        }
        let _ = haft_process::set_disposition(signal, disposition);
    }
}

impl KernelBuilder {
    /// The file system that everything is opened through.
    #[must_use]
    pub fn files(mut self, files: Arc<dyn FileSystem>) -> Self {
        self.kernel.files = files;
        self
    }

    /// Whether programs may be started.
    #[must_use]
    pub fn external(mut self, external: bool) -> Self {
        self.kernel.external = external;
        self
    }

    /// Says that this process is a shell and nothing else.
    #[must_use]
    pub fn plain_shell(mut self, plain: bool) -> Self {
        self.kernel.plain_shell = plain;
        self
    }

    /// Where the signals that this process catches are put.
    #[must_use]
    pub fn signals(mut self, signals: Arc<SignalInbox>) -> Self {
        self.kernel.signals = signals;
        self
    }

    /// The kernel.
    #[must_use]
    pub fn build(self) -> Arc<Kernel> {
        Arc::new(self.kernel)
    }
}
