//! Commands that run in this process and only use a session: `spawn`, `timeout`, `scatter`, `gather`; and `env` and `xargs` for
//! whatever these or others run in-process.
//!
//! Each is one file and one [`CommandDescriptor`]: its name, what it does, its parameters with their types, its exit statuses,
//! examples. From that come the parser of its arguments, `help NAME` and `NAME --help`, its [JSON schema](schema), its
//! section of `docs/commands.md`, and tests, for the examples run.
//!
//! A kernel is given all of them as a table that costs nothing to set up:
//!
//! ```
//! use haft_kernel::{Kernel, Session};
//!
//! let mut session = Session::new(Kernel::builder().commands(haft_commands::TABLE).build());
//! session.familiarize([("PATH", "/usr/bin:/bin")]);
//! let script = br#"[[ $(spawn command=echo argv=["a  b", "c"]) == 'a  b c' ]]"#;
//! assert_eq!(session.run_main(script), Ok(0));
//!
//! let script = br#"[[ $(seq 3 | scatter --as N | echo "$((N * N))" | gather --text) == $'1\n4\n9' ]]"#;
//! assert_eq!(session.run_main(script), Ok(0));
//! ```
//!
//! # Arguments
//!
//! A command of haft's own takes `key=value`, `--key value`, `--key=value`, and JSON words `key=[…]` and `key={…}`, whose
//! values arrive as such: text that looks like JSON stays text.
//!
//! A command that GNU has too takes GNU's arguments and does exactly what GNU's does, or steps aside for the program. In a plain
//! shell `timeout 5 make` *is* GNU's `timeout`, so that process groups, process numbers and signals are what they are under bash;
//! the command here serves what a program could not run (functions, builtins, other commands of haft), shells that
//! supervise what they run, and machines that have no such program.
//!
//! # Limits
//!
//! A name that a program has means the program after `timeout`, even where a function hides it: bash would not see the
//! function either, and a function that wraps the program of its own name must not call itself.

mod arguments;
mod definition;
mod descriptor;
mod documentation;
mod duration;
mod env;
mod error;
mod fan_out;
mod gather;
mod help;
mod scatter;
mod schema;
mod spawn;
mod timeout;
mod xargs;

pub use arguments::{ArgumentValue, CommandArguments};
pub use descriptor::{ArgumentStyle, CommandDescriptor, CommandParameter, Example, ParameterKind};
pub use documentation::documentation;
pub use duration::parse as parse_duration;
pub use error::{Error, ErrorKind};
pub use help::{help, synopsis};
pub use schema::schema;

use haft_kernel::Command;

/// All commands, for [`haft_kernel::KernelBuilder::commands`].
pub static TABLE: &[&dyn Command] = &[
    &env::COMMAND,
    &gather::COMMAND,
    &scatter::COMMAND,
    &spawn::COMMAND,
    &timeout::COMMAND,
    &xargs::COMMAND,
];

/// The descriptors of all commands, in the order of their names.
pub static DESCRIPTORS: &[&CommandDescriptor] = &[
    &env::DESCRIPTOR,
    &gather::DESCRIPTOR,
    &scatter::DESCRIPTOR,
    &spawn::DESCRIPTOR,
    &timeout::DESCRIPTOR,
    &xargs::DESCRIPTOR,
];
