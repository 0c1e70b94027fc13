//! Starts processes, supervises them, and ends them with everything they have started.
//!
//! A program that runs other programs meets the same problems again and again. A background child keeps a pipe open, and the
//! call never returns. A timeout kills the shell and leaves its grandchildren running. Output is lost with the process that
//! wrote it. This crate solves these problems in one place.
//!
//! # Commands
//!
//! A [`Command`] describes a program to start: arguments, exact [`Environment`], working directory, descriptors by number,
//! process group, limits, sandbox. The child inherits nothing else: no other descriptor, signal mask or variable.
//!
//! ```
//! use haft_process::{Command, Exit, StartPermission};
//!
//! let mut child = Command::new("/bin/sh").arguments(["-c", "exit 3"]).spawn(&StartPermission::all())?;
//! let (exit, usage) = child.wait()?;
//! assert_eq!(exit, Exit::Code(3));
//! assert!(usage.max_rss > 0);
//! # Ok::<(), haft_process::Error>(())
//! ```
//!
//! A program that cannot be started is an [`Error`], never an exit status. Its [`ErrorKind`] says what is wrong, and
//! [`exit_code`](Error::exit_code) returns the status of a shell.
//!
//! ```
//! use haft_process::{Command, ErrorKind, StartPermission};
//!
//! let all = StartPermission::all();
//! let error = Command::new("no-such-program").spawn(&all).unwrap_err();
//! assert_eq!((error.kind(), error.exit_code()), (ErrorKind::NotFound, 127));
//!
//! let error = Command::new("/bin/echo").argument("x".repeat(200 << 10)).spawn(&all).unwrap_err();
//! assert_eq!(error.kind(), ErrorKind::ArgumentTooLong);
//! ```
//!
//! # Jobs
//!
//! A [`Task`] is a command with [`SupervisionOptions`]: input, captured output, deadline, grace period, cancellation. Running
//! it returns a [`JobOutcome`].
//!
//! ```
//! use haft_process::capture::OutputView;
//! use haft_process::{Command, Host, Task};
//! use std::time::Duration;
//!
//! let mut command = Command::new("/bin/sh");
//! command.arguments(["-c", "echo before; (trap '' TERM; sleep 60) & sleep 60"]);
//! let task = Task::new(command).timeout(Duration::from_millis(100)).grace(Duration::from_millis(100));
//! let outcome = task.run(&Host::plain())?;
//!
//! assert!(outcome.timed_out);
//! assert!(outcome.tree.survivors.pids().is_empty());
//! let stdout = outcome.captured.stdout.unwrap();
//! assert_eq!(stdout.slice(&OutputView::HeadAndTail, 1024).unwrap().to_bytes(), b"before\n");
//! # Ok::<(), haft_process::Error>(())
//! ```
//!
//! The call returns when the foreground process has ended and its output has been quiet for 100 ms. Processes that still
//! have the output open continue as an [adopted](JobOutcome::adopted) job, whose output is captured too. A [`Job`] can also
//! run [in the background](Job::background). A [`JobController`] writes its input, resizes its terminal, checks whether it
//! [needs input](JobController::needs_input), and ends it, from any thread.
//!
//! # Hosts
//!
//! [`Host::plain`] changes no setting of the calling process. An application sets up more with [`Host::builder`]: a directory
//! for large outputs, control groups, a subreaper, and a watcher that ends all processes if the application is killed.
//!
//! # Limits
//!
//! Linux only, on x86-64 and aarch64. Without control groups, a process can leave its [`Scope`] if it has changed its
//! session, lost its parent, cleared its environment, *and* the calling process is not a subreaper. A process that is stuck in
//! the kernel survives `SIGKILL` and is reported as a survivor.

mod argument_size;
mod attribution;
mod cancel;
mod capability;
pub mod capture;
mod cgroup;
mod child;
mod command;
mod detached;
mod end_process;
mod enforce;
mod environment;
mod error;
mod group;
mod guardian;
mod host;
mod inherited;
mod job;
mod kill_retry;
mod ladder;
mod limit;
pub mod live;
mod lookup;
mod memory;
mod namespace;
mod needs_input;
mod network;
mod outcome;
mod permission;
mod proc;
mod protection;
mod pty;
mod reaper;
mod report_text;
mod run_processes;
pub mod rundir;
mod scope;
mod scope_kill;
mod scope_scan;
mod secret;
mod signal;
mod status;
mod survivors;
mod sys;
mod tree;
mod watcher;

pub use argument_size::max_argument_bytes;
pub use cancel::CancelToken;
pub use child::{Child, ForkedChild};
pub use command::{Command, DescriptorSource, PermittedCommand, ProcessGroup, Sandbox};
pub use end_process::end_process;
pub use enforce::{DiskMeter, EnforcedBy, LimitKind, LimitState, RunLimits};
pub use environment::Environment;
pub use error::{Error, ErrorKind, reason};
pub use group::{GroupChange, group_change, own_group, signal_group};
pub use guardian::{enter_guarded, has_control_groups, is_guardian, needs_guardian, parent_process};
pub use host::{Host, HostBuilder, ScopeLimits, clean_stale, clean_stale_private};
pub use inherited::inherited_descriptors;
pub use job::{
    DEFAULT_GRACE, InProcessJob, InProcessWork, Input, Job, JobController, JobHandle, OutputCallback,
    StreamKind, Streams, SupervisionOptions, Task,
};
pub use limit::{Resource, ResourceLimit};
pub use lookup::{Executability, find_program, find_program_with};
pub use memory::{available_memory, resident_memory};
pub use namespace::{Namespaces, OverlayMount, ProtectedPaths};
pub use needs_input::while_reading;
pub use network::PrivateNetwork;
pub use outcome::{
    CANCELLED, Captured, CapturedReport, JobOutcome, JobOutcomeReport, LIMIT_EXCEEDED, RunningJobReport,
    StageReport, StatusReport, TIMED_OUT,
};
pub use permission::{Denial, StartPermission, StartPolicy, StartRequest};
pub use proc::{is_computing, process_start};
pub use protection::{Tracing, is_withheld, protect_process, withhold_file};
pub use pty::TerminalSize;
pub use reaper::{become_subreaper, is_descendant, reap_orphans, resign_subreaper};
pub use run_processes::{ProcessTable, RunProcesses};
pub use scope::{MARKER, Scope};
pub use secret::{Redactor, looks_secret};
pub use signal::{
    Disposition, Signals, claim_signals, on_sent_signals, on_signals, send_signal, set_disposition,
    set_signal_catcher, signal_name, signal_number, with_blocked_signals,
};
pub use status::{Exit, Usage, seconds};
pub use survivors::{Survivors, Tree, UnknownSurvivors};
pub use watcher::{is_watcher, watch};
