//! The `printf` of bash.
//!
//! [`print()`] returns the text, the error messages and the variables that `%n` sets; the caller writes them. Floating-point numbers
//! have 64 bits of mantissa, as `long double` on x86 and thus in bash. They are parsed and formatted exactly, with integers of
//! arbitrary size.

pub mod civil;
mod directive;
pub mod escape;
mod float;
mod formatter;
mod number;
mod pad;
pub mod strftime;
#[cfg(test)]
mod tests;
pub mod time_zone;

use crate::Bytes;
use crate::encoding::Encoding;

pub use self::number::{NumberError, parse_integer};
pub use self::strftime::LocalTime;

/// The result of a `printf`.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Printed {
    /// The formatted text.
    pub output: Vec<u8>,
    /// The exit status: 1 if an argument does not fit its conversion.
    pub status: i32,
    /// Error messages, without the name of the command.
    pub errors: Vec<Vec<u8>>,
    /// The variables that `%n` names, each with the number of bytes formatted before it.
    pub counts: Vec<(Bytes, usize)>,
}

/// The services that `printf` needs from its caller.
pub trait PrintfHost {
    /// Returns the local time that `%(…)T` shows.
    fn local_time(&mut self, time: PrintfTime) -> LocalTime;

    /// Returns the character encoding, for `%q` and characters as numbers.
    fn encoding(&self) -> Encoding;

    /// Returns the decimal point of floating-point numbers.
    fn decimal_point(&self) -> &'static [u8] {
        b"."
    }

    /// Tells whether formatting is cancelled.
    fn is_cancelled(&mut self) -> bool;

    /// Tells whether there is memory for that many more bytes. If not, formatting ends.
    fn reserve(&mut self, bytes: usize) -> bool;
}

/// The time that `%(…)T` shows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PrintfTime {
    /// The current time.
    Now,
    /// The time when the shell started.
    Start,
    /// A number of seconds since the epoch.
    At(i64),
}

/// Formats arguments. The format is reused until all arguments are consumed.
pub fn print(format: &[u8], arguments: &[Bytes], host: &mut dyn PrintfHost) -> Printed {
    formatter::Formatter::new(arguments, host).format(format)
}
