//! Supervision options, shared by [`Task`](crate::Task) and by programs that run scripts as jobs.

use std::os::fd::OwnedFd;
use std::sync::Arc;
use std::time::Duration;

use crate::cancel::CancelToken;
use crate::capture::CaptureLimits;
use crate::enforce::DiskMeter;
use crate::host::ScopeLimits;
use crate::job::OutputCallback;
use crate::pty::TerminalSize;

/// Default time between `SIGTERM` and `SIGKILL`.
pub const DEFAULT_GRACE: Duration = Duration::from_secs(2);

/// Source of a job's standard input.
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub enum Input {
    /// `/dev/null`.
    #[default]
    Null,
    /// These bytes, then end of file.
    Bytes(Arc<[u8]>),
    /// An open file, passed to the process as descriptor 0. A job on a terminal cannot take over the file: its bytes are
    /// forwarded, as for [`Input::Forward`].
    File(Arc<OwnedFd>),
    /// An open file that the supervisor reads and forwards. Use it for a terminal, and for input that is also written by a
    /// controller.
    Forward(Arc<OwnedFd>),
    /// A pipe that a [`JobController`](crate::JobController) writes to until it closes it.
    Pipe,
    /// The descriptor 0 of the command, or of the session that runs the script.
    Inherit,
}

/// Destination of a job's standard output and standard error.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum Streams {
    /// Both are captured, each through its own pipe.
    #[default]
    Separate,
    /// Both are captured through one pipe, in the order in which they are written.
    Merged,
    /// The descriptors 1 and 2 of the command, or of the session that runs the script. Nothing is captured.
    Inherit,
    /// A new terminal of this size is the job's input, output and error.
    Terminal(TerminalSize),
}

/// Supervision of one job: its streams, limits, deadline and cancellation.
///
/// By default: no input, both streams captured, no deadline, and a grace period of [`DEFAULT_GRACE`].
#[derive(Debug)]
pub struct SupervisionOptions {
    /// Source of standard input.
    pub input: Input,
    /// Destination of standard output and standard error.
    pub streams: Streams,
    /// How much of each captured output is kept.
    pub capture_limits: CaptureLimits,
    /// Limits for all processes of the job together.
    pub scope_limits: ScopeLimits,
    /// Time after which the job and all its processes are ended.
    pub timeout: Option<Duration>,
    /// Time between `SIGTERM` and `SIGKILL`.
    pub grace: Duration,
    /// Token that ends the job and all its processes.
    pub cancel: Option<CancelToken>,
    /// Callback that receives captured bytes as they arrive.
    pub on_output: Option<OutputCallback>,
    /// The directories that [`ScopeLimits::disk`] limits.
    pub disk_meter: Option<DiskMeter>,
}

impl Default for SupervisionOptions {
    fn default() -> SupervisionOptions {
        SupervisionOptions {
            input: Input::default(),
            streams: Streams::default(),
            capture_limits: CaptureLimits::default(),
            scope_limits: ScopeLimits::default(),
            timeout: None,
            grace: DEFAULT_GRACE,
            cancel: None,
            on_output: None,
            disk_meter: None,
        }
    }
}

/// Defines the setters of a builder that holds [`SupervisionOptions`] in the named field, so that all such builders have
/// the same ones.
#[doc(hidden)]
#[macro_export]
macro_rules! supervision_setters {
    ($options:ident) => {
        /// Sets all supervision options at once.
        pub fn supervision(mut self, options: $crate::SupervisionOptions) -> Self {
            self.$options = options;
            self
        }

        /// Sets the source of standard input. The default is `/dev/null`.
        pub fn input(mut self, input: $crate::Input) -> Self {
            self.$options.input = input;
            self
        }

        /// Sets the destination of standard output and standard error. By default both are captured separately.
        pub fn streams(mut self, streams: $crate::Streams) -> Self {
            self.$options.streams = streams;
            self
        }

        /// Sets how much of each captured output is kept.
        pub fn capture_limits(mut self, limits: $crate::capture::CaptureLimits) -> Self {
            self.$options.capture_limits = limits;
            self
        }

        /// Sets limits for all processes together.
        pub fn scope_limits(mut self, limits: $crate::ScopeLimits) -> Self {
            self.$options.scope_limits = limits;
            self
        }

        /// Sets what the limit on disk space is compared with.
        pub fn disk_meter(mut self, meter: $crate::DiskMeter) -> Self {
            self.$options.disk_meter = Some(meter);
            self
        }

        /// Sets the time after which everything is ended, with all processes.
        pub fn timeout(mut self, timeout: std::time::Duration) -> Self {
            self.$options.timeout = Some(timeout);
            self
        }

        /// Sets the time between `SIGTERM` and `SIGKILL`.
        pub fn grace(mut self, grace: std::time::Duration) -> Self {
            self.$options.grace = grace;
            self
        }

        /// Ends everything, with all processes, when the token is cancelled.
        pub fn cancel(mut self, token: &$crate::CancelToken) -> Self {
            self.$options.cancel = Some(token.clone());
            self
        }

        /// Calls back with all captured bytes as they arrive, on the supervising thread.
        pub fn on_output(mut self, callback: $crate::OutputCallback) -> Self {
            self.$options.on_output = Some(callback);
            self
        }
    };
}
