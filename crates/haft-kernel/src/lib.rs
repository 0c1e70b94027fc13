//! Bash semantics.
//!
//! A [`Kernel`] is what sessions share: files, commands, limits. A [`Session`] is a shell: variables, functions, options,
//! traps, working directory, descriptors, jobs. It runs the programs that `haft-lang` parses and yields what
//! became of them.
//!
//! Nothing here touches the state of the process: the working directory, the file mode mask, the descriptors and the
//! signal dispositions of a session are its own, so several sessions run side by side in one process.

pub mod arithmetic;
pub mod builtins;
pub mod cancel;
pub mod glob;
pub mod io;
pub mod jobs;
pub mod options;
pub mod pattern;
pub mod printf;
pub mod quote;
pub mod text;
pub mod traps;
pub mod variables;

mod bytes;
mod execute;
mod expand;
mod flow;
mod kernel;
mod session;
mod signals;

pub use bytes::Bytes;
pub use cancel::CancelToken;
pub use flow::{Flow, Unwind};
pub use kernel::{Kernel, KernelBuilder};
pub use session::{Definition, Frame, Session};
pub use signals::SignalInbox;
