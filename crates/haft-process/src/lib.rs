//! Processes for agents: started exactly as told, supervised to the end, ended with everything they have started.
//!
//! A program that runs other programs on somebody's behalf suffers from what processes do: a background child keeps the pipe
//! open and the call never returns; a timeout kills the shell and leaves its grandchildren running; output is thrown away
//! with the process that wrote it; a full disk, a full argument list or a full pipe stops everything. This crate is the
//! place where all of that is dealt with once.
//!
//! # A command
//!
//! A [`Command`] says what to start: program, arguments, exact [`Environment`], directory, descriptors by number, process
//! group, limits, sandbox. Nothing else reaches the child: no descriptor that was not given, no signal mask, no variable.
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
//! What keeps a program from starting is an [`Error`] and never an exit status; its [`ErrorKind`] says which it was, its
//! [`exit_code`](Error::exit_code) what a shell would report.
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
//! # A job
//!
//! A [`Task`] is a command with its supervision: input, captured output, deadline, grace, cancellation. Running it gives
//! an [`JobOutcome`].
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
//! The call returns when the process that was asked for has ended and its output has been quiet for a moment. Whatever
//! still holds the output open goes on as a job of its own, [adopted](JobOutcome::adopted), and goes on being captured. A
//! [`Job`] can also run [in the background](Job::background); a [`JobController`] writes to it, resizes its terminal, asks
//! whether it [needs input](JobController::needs_input) and ends it, from any thread.
//!
//! # A host
//!
//! [`Host::plain`] changes nothing of the process it is used in. An application that owns its process asks for more with
//! [`Host::builder`]: a directory for large outputs, control groups, the inheritance of orphans, and a watcher which ends
//! everything should the application itself be killed.
//!
//! # Limits
//!
//! Linux only, on x86-64 and aarch64. Where no control group can be made, a process gets away from its [`Scope`] if it has
//! changed its session, lost its parent, cleared its environment *and* this process does not inherit orphans.
//! A process that is stuck in the kernel outlives a `SIGKILL`; it is reported as a survivor.

mod attribution;
mod cancel;
mod capability;
pub mod capture;
mod cgroup;
mod child;
mod command;
mod departed;
mod enforce;
mod environment;
mod error;
mod group;
mod guardian;
mod host;
mod inherited;
mod job;
mod ladder;
mod limit;
mod look;
mod lookup;
mod memory;
mod needs_input;
mod outcome;
mod permission;
mod proc;
mod pty;
mod pursuit;
mod reaper;
pub mod rundir;
mod scope;
mod secret;
mod shield;
mod signal;
mod size;
mod status;
mod survivors;
mod sweep;
mod sys;
mod tree;
mod watcher;

pub use cancel::CancelToken;
pub use child::{Child, ForkedChild};
pub use command::{Command, DescriptorSource, ProcessGroup, Sandbox};
pub use enforce::{EnforcedBy, LimitKind, LimitState, RunLimits};
pub use environment::Environment;
pub use error::{Error, ErrorKind, reason};
pub use group::{GroupChange, group_change, own_group, signal_group};
pub use guardian::{enter_guarded, is_guardian, needs_guardian, parent_process};
pub use host::{Host, HostBuilder, ScopeLimits, clean_stale, clean_stale_private};
pub use inherited::inherited_descriptors;
pub use job::{
    DEFAULT_GRACE, InProcessJob, InProcessWork, Input, Job, JobController, JobHandle, OutputCallback,
    StreamKind, Streams, SupervisionOptions, Task,
};
pub use limit::{Resource, ResourceLimit};
pub use lookup::find_program;
pub use memory::{available_memory, resident_memory};
pub use needs_input::while_reading;
pub use outcome::{
    CANCELLED, Captured, CapturedReport, JobOutcome, JobOutcomeReport, LIMIT_EXCEEDED, RunningJobReport,
    StageReport, StatusReport, TIMED_OUT,
};
pub use permission::{Denial, StartPermission, StartPolicy, StartRequest};
pub use proc::{is_computing, is_descendant, process_start};
pub use pty::TerminalSize;
pub use reaper::{become_subreaper, reap_orphans, resign_subreaper};
pub use scope::{MARKER, Scope};
pub use secret::{Redactor, looks_secret};
pub use shield::{Tracing, is_withheld, protect_process, withhold_file};
pub use signal::{
    Disposition, Signals, claim_signals, on_sent_signals, on_signals, send_signal, set_disposition,
    set_signal_catcher, signal_name, signal_number,
};
pub use size::max_argument_bytes;
pub use status::{Exit, Usage, seconds};
pub use survivors::{Survivors, Tree, UnknownSurvivors};
pub use watcher::{is_watcher, watch};
