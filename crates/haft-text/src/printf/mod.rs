//! `printf`: bash's formatting on bytes.
//!
//! [`print()`] formats, and reports what it complained about and which variables `%n` is to set; writing that anywhere is up to
//! the caller. Floating-point numbers are those of the x87, 64 bits of mantissa, as in bash: they are read and shown
//! exactly, by arithmetic on whole numbers of any size.

mod directive;
pub mod escape;
mod float;
mod number;
mod pad;
mod run;
pub mod strftime;
#[cfg(test)]
mod tests;
pub mod time_zone;

use crate::Bytes;
use crate::encoding::Encoding;

pub use self::number::{NumberError, parse_integer};
pub use self::strftime::LocalTime;

/// What a `printf` made.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Printed {
    /// The text.
    pub output: Vec<u8>,
    /// The exit status: 1 if an argument was not what the format asked for.
    pub status: i32,
    /// Complaints, without the name of the command.
    pub complaints: Vec<Vec<u8>>,
    /// The variables that `%n` names, and how many bytes there were when it was met.
    pub counts: Vec<(Bytes, usize)>,
}

/// What `printf` needs of its surroundings.
pub trait Surroundings {
    /// The time, for `%(…)T` without an argument, or of a number of seconds since the epoch.
    fn local_time(&mut self, when: When) -> LocalTime;

    /// What a character is, for `%q`.
    fn encoding(&self) -> Encoding;

    /// Whether to stop before the end.
    fn stopped(&mut self) -> bool;

    /// Whether there is memory for so many bytes more; if not, nothing more is printed.
    fn has_room(&mut self, bytes: usize) -> bool;
}

/// A time that `%(…)T` asks for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum When {
    /// Now.
    Now,
    /// When the shell began.
    Start,
    /// So many seconds since the epoch.
    At(i64),
}

/// Formats arguments; the format is used again as long as there are arguments left.
pub fn print(format: &[u8], arguments: &[Bytes], surroundings: &mut dyn Surroundings) -> Printed {
    run::Run::new(arguments, surroundings).all(format)
}
