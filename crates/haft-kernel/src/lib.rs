//! Bash semantics.
//!
//! A [`Kernel`] is what sessions share: files, commands that an embedder adds, what is allowed. A [`Session`] is a
//! shell: variables, functions, options, traps, working directory, descriptors, jobs. A [`Run`](run::Run) is a script in a
//! session, supervised to its end. What a script can observe is what bash 5.2 would show.
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
//! The [`Outcome`](run::Outcome) has the status, every stage of the script's own pipelines with its status and cost, both
//! outputs whole, the working directory, what still runs, and proof that nothing else does; its
//! [`report`](run::Outcome::report) is all of that as JSON. The session keeps variables, functions and directory for the
//! next run. A host is what an application sets up once: see [`run::Host`].
//!
//! Output can be watched while it comes, and a run be stopped by anybody who holds its token:
//!
//! ```
//! use haft_kernel::run::{Host, OutputCallback, Run, Status};
//! use haft_kernel::{CancelToken, Session};
//!
//! let token = CancelToken::new();
//! let stop = token.clone();
//! // Enough was seen once something was.
//! let live = OutputCallback::new(move |_, bytes| if bytes.ends_with(b"enough\n") { stop.cancel() });
//! let mut session = Session::isolated(1 << 20);
//! let run = Run::new("echo enough; while :; do :; done").on_output(live).cancel(&token);
//! assert_eq!(run.run(&Host::plain(), &mut session)?.status, Status::Cancelled);
//! # Ok::<(), haft_kernel::run::Error>(())
//! ```
//!
//! [`Run::start`](run::Run::start) runs it on a thread of its own, to be written to, looked at and waited for.
//!
//! # Presets
//!
//! [`Session::hermetic`] has the variables that every shell has and nothing of the machine's environment;
//! [`Session::with_environment`] gets an environment and a directory; [`Session::isolated`] has files in memory and no programs, so
//! that a script touches nothing:
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
//! # Commands and tools of one's own
//!
//! A [`Command`] runs in this process and is found like a program; a [`Backend`] is asked for tools that nothing else
//! has. Either may leave a typed result in the outcome.
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
//! # Before it runs
//!
//! [`run::check`] says what is wrong with a script, [`run::plan`] what it would run, read and write, with names meaning what
//! they mean in a session.
//!
//! # The way of a command
//!
//! Expansion makes arguments of words; execution redirects, assigns, and asks one `dispatch` what the name means: a
//! function, a builtin, an added [`Command`], a script on the script path, a program, a tool of the [`Backend`], in this
//! order and in every position. The result is a [`Flow`]: a status, or a reason to leave what encloses it.
//!
//! # Subshells
//!
//! [`Session::fork`] is a snapshot that shares everything until one of the two changes it. `( )` and `$( )` run a fork on the
//! same thread; a pipeline stage or background job that is no program runs one on a thread of its own. Programs are wired
//! to one another by pipes of the system, and a substitution that starts no program starts no process. In a plain shell,
//! background work that is no program runs in a copy of the process, and outlives the shell.
//!
//! # Nothing of the process
//!
//! The working directory, the file mode mask, the descriptors and the traps of a session are its own, so several sessions run
//! side by side in one process. Only a kernel built as a [plain shell](KernelBuilder::plain_shell), which owns its
//! process, catches signals for traps, passes its mask on to programs, and may be replaced by `exec`.
//!
//! # Stopping
//!
//! A [`CancelToken`] stops whatever a session does: loops and expansions look at it; waiting, a write without room and a named
//! pipe that nobody opens wake up by it. When a run is cancelled or its time is up, all its programs are ended as well, with
//! everything they have started: asked, given their grace, killed. Background jobs end with their session in the same way.
//!
//! # Limits
//!
//! A subshell has no process of its own: its `BASHPID` is a number that no process has, which `kill` and `wait` of the same
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
mod sys;
mod values;

pub use command::{Backend, Command, ToolError};
pub use control::Terminal;
pub use execute::StartedCommand;
pub use fan::{Branch, BranchEnd, FanOut, Role, STACK};
pub use flow::{Flow, Unwind};
pub use haft_process::{CancelToken, Disposition, Environment, Scope, Signals, StartPermission};
pub use haft_text::Bytes;
pub use kernel::{Kernel, KernelBuilder};
pub use session::{BASH_VERSION, Definition, Frame, NameKind, Session};
pub use signals::SignalInbox;
pub use values::TypedArgument;
