//! Open files and descriptor tables.
//!
//! Each session has its own descriptor table, independent of the process: several sessions run in one process, each with its
//! own standard output. A program gets exactly the descriptors of the table, under the same numbers.

mod blocking_call;
mod capture;
mod descriptors;
mod drain;
mod file;
mod input;
mod substitution_pipe;
mod wait;

pub(crate) use blocking_call::BlockingCall;
pub use capture::Capture;
pub use descriptors::Descriptors;
pub use file::OpenFile;
pub(crate) use file::Written;
pub(crate) use substitution_pipe::SubstitutionPipe;
pub use wait::{Ready, wait_readable};
