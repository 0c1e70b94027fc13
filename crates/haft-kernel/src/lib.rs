//! Bash semantics.
//!
//! A [`Kernel`] is what sessions share: files, commands that an embedder adds, what is allowed. A [`Session`] is a
//! shell: variables, functions, options, traps, working directory, descriptors, jobs. It runs what `haft-lang` has
//! parsed, and what a script can observe is what bash 5.2 would show.
//!
//! ```
//! use haft_kernel::{Kernel, Session};
//!
//! let mut session = Session::new(Kernel::builder().build());
//! session.familiarize([("PATH", "/usr/bin:/bin")]);
//! let status = session.run_main(b"greet() { echo \"hello $1\"; }; [[ $(greet world) == 'hello world' ]]");
//! assert_eq!(status, Ok(0));
//! ```
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
//! to one another by pipes of the system, and a substitution that starts no program starts no process.
//!
//! # Nothing of the process
//!
//! The working directory, the file mode mask, the descriptors and the traps of a session are its own, so several sessions run
//! side by side in one process. Only a kernel built as a [plain shell](KernelBuilder::plain_shell), which owns its
//! process, catches signals for traps, passes its mask on to programs, and may be replaced by `exec`.
//!
//! # Stopping
//!
//! A [`CancelToken`] stops whatever a session does: loops and expansions look at it, waiting wakes up by it.
//!
//! # Limits
//!
//! A subshell has no process of its own: its `BASHPID` is a number that no process has, which `kill` and `wait` of the same
//! session understand and other programs do not. A background job that runs on a thread ends with the process.

pub mod arithmetic;
pub mod builtins;
pub mod glob;
pub mod io;
pub mod jobs;
pub mod options;
pub mod pattern;
pub mod printf;
pub mod quote;
pub mod run;
pub mod text;
pub mod traps;
pub mod variables;

mod bytes;
mod command;
mod control;
mod execute;
mod expand;
mod fan;
mod flow;
mod kernel;
mod session;
mod signals;
mod values;

pub use bytes::Bytes;
pub use command::{Backend, Command, ToolError};
pub use control::Terminal;
pub use execute::Beside;
pub use fan::{Branch, BranchEnd, FanOut, Role, STACK};
pub use flow::{Flow, Unwind};
pub use haft_process::CancelToken;
pub use kernel::{Kernel, KernelBuilder};
pub use session::{Definition, Frame, NameKind, Session};
pub use signals::SignalInbox;
pub use values::Argument;
