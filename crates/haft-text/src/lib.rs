//! The text layer of the shell: everything bash does with bytes that needs no session.
//!
//! Shell data is bytes, not Unicode text. [`Bytes`] is the string type for it: short strings are stored in place, long ones are
//! shared when cloned. The locale decides what one character is; [`encoding::Encoding`]
//! represents it.
//!
//! | module | bash feature |
//! |---|---|
//! | [`pattern`] | pattern matching: `*`, `?`, `[…]`, `extglob` |
//! | [`glob`](mod@glob) | pathname expansion |
//! | [`braces`] | brace expansion |
//! | [`arithmetic`] | `$((…))`, `((…))`, `let`: evaluation of parsed expressions |
//! | [`regex`](mod@regex) | `[[ =~ ]]`: POSIX extended regular expressions |
//! | [`quote`] | `${x@Q}`, `printf %q`, `declare -p`, `set -x` |
//! | [`history`] | history expansion, `cmdhist` |
//! | [`printf`] | the `printf` builtin, the escapes of `echo -e`, `strftime` |
//!
//! ```
//! use haft_text::encoding::Encoding;
//! use haft_text::pattern::{Pattern, PatternOptions};
//! use haft_text::quote;
//!
//! // ${path##*/}
//! let path = b"/usr/share/my file.txt";
//! let pattern = Pattern::compile(b"*/", PatternOptions::default());
//! let end = pattern.prefix(path, true).unwrap_or(0);
//! assert_eq!(&path[end..], b"my file.txt");
//!
//! // printf %q
//! assert_eq!(quote::escaped(&path[end..], Encoding::Utf8), b"my\\ file.txt");
//! ```
//!
//! # Dependencies as arguments
//!
//! Functions take what they need as arguments: [`glob::glob`] a file system, [`arithmetic::evaluate`] the variables, [`printf::print`]
//! the clock. Long operations take a callback, so that the caller can cancel them. `printf` also reserves memory before it writes a
//! large field.
//!
//! # Limits
//!
//! Errors have the words of bash 5.2. Messages and names of days are those of the C locale. Matching of patterns takes polynomial
//! time on every input; see [`pattern`].

pub mod arithmetic;
pub mod braces;
pub mod encoding;
pub mod glob;
pub mod history;
pub mod pattern;
pub mod printf;
pub mod quote;
pub mod regex;

mod decimal;
mod os_string;

pub use decimal::format_number;
pub use haft_lang::Bytes;
pub use os_string::{os_str, path};
