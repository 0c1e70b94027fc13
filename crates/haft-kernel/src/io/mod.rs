//! Open files and the table of descriptors.
//!
//! Descriptors of a session are entries in a table of its own, not of the process: several sessions run in one process,
//! each with its own standard output. An external command gets exactly the table's entries under their numbers.

mod capture;
mod descriptors;
mod drain;
mod elsewhere;
mod file;
mod input;
mod wait;

pub use capture::Capture;
pub use descriptors::Descriptors;
pub(crate) use elsewhere::Elsewhere;
pub use file::OpenFile;
pub(crate) use file::Written;
pub use wait::{Ready, wait_readable};
