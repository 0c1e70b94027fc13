//! An embeddable bash.
//!
//! A [`Kernel`] is what sessions share: the file system, added commands, permissions. A [`Session`] is a shell: variables,
//! functions, options, traps, working directory, descriptors, jobs. A [`Run`](run::Run) is a supervised script in a session.
//! Scripts observe what bash 5.2 would show.
//!
//! # Embed in ten lines
//!
//! ```
//! use haft_kernel::run::{Host, Run};
//! use haft_kernel::{Kernel, Session};
//! use std::time::Duration;
//!
//! let mut session = Session::with_environment(Kernel::builder().build(), [("PATH", "/usr/bin:/bin")], "/tmp");
//! let script = "count=$(seq 40 | wc -l); echo $((count + 2)) | cat; exit 3";
//! let outcome = Run::new(script).timeout(Duration::from_secs(10)).run(&Host::plain(), &mut session)?;
//! assert_eq!((outcome.code(), outcome.stdout()), (3, b"42\n".to_vec()));
//! # Ok::<(), haft_kernel::run::Error>(())
//! ```
//!
//! The [`Outcome`](run::Outcome) has the status, every stage of the script's own pipelines with its status and resource usage,
//! the complete output, the working directory, the jobs that still run, and a check that no other process is left. Its
//! [`report`](run::Outcome::report) is the same as JSON. The session keeps variables, functions and the directory for the next
//! run. An application sets up one [`run::Host`] for all its runs.
//!
//! Output can be observed as it arrives, and a token cancels a run:
//!
//! ```
//! use haft_kernel::run::{Host, OutputCallback, Run, Status};
//! use haft_kernel::{CancelToken, Session};
//!
//! let token = CancelToken::new();
//! let stop = token.clone();
//! let live = OutputCallback::new(move |_, bytes| if bytes.ends_with(b"enough\n") { stop.cancel() });
//! let mut session = Session::isolated(1 << 20);
//! let run = Run::new("echo enough; while :; do :; done").on_output(live).cancel(&token);
//! assert_eq!(run.run(&Host::plain(), &mut session)?.status, Status::Cancelled);
//! # Ok::<(), haft_kernel::run::Error>(())
//! ```
//!
//! [`Run::start`](run::Run::start) runs a script in the background, where it can be given input, observed and waited for.
//! With an [`AsyncSession`](run::AsyncSession), a run is a future for every async runtime.
//!
//! # Presets
//!
//! [`Session::hermetic`] has only the variables that every shell has;
//! [`Session::with_environment`] has an environment and a working directory; [`Session::isolated`] has files in memory and no
//! programs, so a script cannot touch the machine:
//!
//! ```
//! use haft_kernel::Session;
//! use haft_kernel::run::{Host, Run};
//!
//! let script = "echo note > /tmp/file; read text < /tmp/file; echo $text; ls";
//! let outcome = Run::new(script).run(&Host::plain(), &mut Session::isolated(1 << 20))?;
//! assert_eq!((outcome.stdout(), outcome.code()), (b"note\n".to_vec(), 126));
//! # Ok::<(), haft_kernel::run::Error>(())
//! ```
//!
//! # Adding commands and tools
//!
//! A [`Command`] runs in this process and is found like a program. A [`Backend`] provides tools, which are looked up after all
//! other commands. Both can add a typed result to the outcome.
//!
//! ```
//! use haft_kernel::builtins::Context;
//! use haft_kernel::run::{Host, Run};
//! use haft_kernel::{Backend, Bytes, Flow, Kernel, Session, ToolError};
//! use std::sync::Arc;
//!
//! #[derive(Debug)]
//! struct Weather;
//!
//! impl Backend for Weather {
//!     fn call_tool(&self, context: &mut Context<'_>, words: &[Bytes]) -> Result<Flow, ToolError> {
//!         context.set_data(serde_json::json!({ "sky": "clear" }));
//!         Ok(context.print(format!("clear in {}\n", words[1]).as_bytes()))
//!     }
//!
//!     fn has_tool(&self, name: &[u8]) -> bool {
//!         name == b"weather"
//!     }
//!
//!     fn resolve_real_path(&self, _: &[u8]) -> Option<Vec<u8>> {
//!         None
//!     }
//! }
//!
//! let kernel = Kernel::builder().external(false).backend(Arc::new(Weather)).build();
//! let mut session = Session::hermetic(kernel);
//! let outcome = Run::new("weather Delft").run(&Host::plain(), &mut session)?;
//! assert_eq!((outcome.stdout(), outcome.data.unwrap()["sky"].as_str()), (b"clear in Delft\n".to_vec(), Some("clear")));
//! # Ok::<(), haft_kernel::run::Error>(())
//! ```
//!
//! # Checking a script before it runs
//!
//! [`run::check`] returns diagnostics, [`run::plan`] the commands that a script would run and the files it would read and
//! write. Both resolve names as the session does.
//!
//! # How a command runs
//!
//! Expansion turns words into arguments. Execution redirects, assigns, and resolves the command name: a function, a builtin, an
//! added [`Command`], a script on the script path, a program, a tool of the [`Backend`], in this order and in every position.
//! The result is a [`Flow`]: a status, or a reason to leave the commands around it.
//!
//! # Subshells
//!
//! [`Session::fork`] is a snapshot that shares everything with its parent until one of them changes it. `( )` and `$( )` run a
//! fork on the same thread. A pipeline stage or background job that is not a program runs a fork on a thread of its own.
//! Programs are connected by pipes, and a command substitution that starts no program starts no process. In a plain shell,
//! background work that is not a program runs in a copy of the process and can outlive the shell.
//!
//! # Independence from the process
//!
//! Each session has its own working directory, file mode mask, descriptors and traps, so several sessions run side by side in
//! one process. Only a kernel built as a [plain shell](KernelBuilder::plain_shell), which owns its process, catches signals,
//! changes the mask of the process, and may be replaced by `exec`.
//!
//! # Cancellation
//!
//! A [`CancelToken`] stops a session: loops and expansions check it, and it interrupts waiting, blocked writes and the opening
//! of named pipes. When a run is cancelled or times out, all its processes are ended too: `SIGTERM`, a grace period, `SIGKILL`.
//! Background jobs end with their session in the same way.
//!
//! # Limits
//!
//! A subshell has no process of its own. Its `BASHPID` is a number that no process has, which `kill` and `wait` of the same
//! session understand and other programs do not. A background job that runs on a thread ends with the process.

pub mod builtins;
pub mod io;
pub mod jobs;
pub mod memory;
pub mod options;
pub mod run;
pub mod traps;
pub mod variables;

mod command;
mod control;
mod discard;
mod execute;
mod expand;
mod fan;
mod flow;
mod kernel;
mod session;
mod shared;
mod signals;
mod supervision;
mod sys;
mod transfer;
mod values;

pub use command::{Backend, Command, CommandGate, GatedCommand, InProcessKind, ToolError};
pub use control::Terminal;
pub use execute::{NameKind, StartedCommand};
pub use fan::{Branch, BranchEnd, FanOut, Role, STACK};
pub use flow::{Flow, Unwind};
pub use haft_lang::{Script, SyntaxError};
pub use haft_process::{CancelToken, Disposition, Environment, Scope, Signals, StartPermission};
pub use haft_text::Bytes;
pub use kernel::{Kernel, KernelBuilder, isolated_files};
pub use session::{
    BASH_VERSION, CompletionOption, CompletionOptions, Definition, Frame, HostIdentity, KeyBinding, Session,
};
pub use signals::SignalInbox;
pub use transfer::{TextAtLine, Transfer, belongs_to_machine};
pub use values::TypedArgument;
