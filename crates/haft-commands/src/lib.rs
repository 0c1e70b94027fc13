//! Shell commands that run in-process: `spawn`, `timeout`, `scatter`, `gather`, `env` and `xargs`.
//!
//! `spawn` runs a program under supervision with exact arguments, `scatter` and `gather` run part of a pipeline once per
//! input line in parallel, and `timeout`, `env` and `xargs` are GNU's commands, extended to everything that haft can run:
//! functions, builtins, these commands and tools.
//!
//! # Using the commands
//!
//! [`TABLE`] holds all commands. Pass it to a kernel; setting it up costs nothing:
//!
//! ```
//! use haft_kernel::{Kernel, Session};
//!
//! let mut session = Session::new(Kernel::builder().commands(haft_commands::TABLE).build());
//! session.import_environment([("PATH", "/usr/bin:/bin")]);
//!
//! // Each string of `argv` is exactly one argument of the program.
//! let script = br#"[[ $(spawn command=echo argv=["a  b", "c"]) == 'a  b c' ]]"#;
//! assert_eq!(session.run_main(script), Ok(0));
//!
//! // The stage between `scatter` and `gather` runs once per line, in parallel. The output keeps the input's order.
//! let script = br#"[[ $(seq 3 | scatter --as N | echo "$((N * N))" | gather --text) == $'1\n4\n9' ]]"#;
//! assert_eq!(session.run_main(script), Ok(0));
//!
//! // GNU's `timeout` cannot run a shell function. This one can.
//! let script = b"spin() { while :; do :; done; }; timeout 0.1 spin";
//! assert_eq!(session.run_main(script), Ok(124));
//! ```
//!
//! To add a command of your own, implement [`haft_kernel::Command`] and pass it to the same builder;
//! `examples/add_a_command.rs` does that.
//!
//! # Descriptors
//!
//! Each command is one file and one [`CommandDescriptor`]: name, summary, parameters with types, exit statuses, examples.
//! The descriptor yields the argument parser, `help NAME` and `NAME --help`, the JSON [`schema`], the section in
//! `docs/commands.md`, and tests, because every example runs as one.
//!
//! ```
//! let gather = haft_commands::DESCRIPTORS.iter().find(|it| it.name == "gather").unwrap();
//! assert_eq!(haft_commands::synopsis(gather), "gather [--unordered] [--text] [joblog=FILE]");
//! ```
//!
//! # Arguments
//!
//! haft's own commands take `key=value`, `--key value`, `--key=value`, and JSON words: `key=[…]` and `key={…}`. A JSON word
//! arrives as a typed value. So does text that is JSON, quoted or from a variable, where a list or an object is expected.
//!
//! Commands that GNU has too take GNU's arguments. They either do exactly what GNU's command does, or step aside for the
//! program. In a plain shell, `timeout 5 make` *is* GNU's `timeout`, so process groups, process ids and signals are the same
//! as under bash. The in-process command takes over where a program cannot work: for functions, builtins and commands
//! of haft, in shells that supervise what they run, and on machines without the program.
//!
//! # Limits
//!
//! - After `timeout`, a name that exists as a program means the program, even if a function has the same name. bash behaves
//!   the same way, and a function that wraps the program of its own name must not call itself.
//! - `env` and `xargs` run neither functions nor builtins, as in GNU.
//! - `scatter` and `gather` must be in the same pipeline, with at least one stage between them.

mod arguments;
mod awk;
mod compare;
mod definition;
mod descriptor;
mod documentation;
mod duration;
mod env;
mod error;
mod fan_out;
mod file;
mod gather;
mod group;
mod halt;
mod help;
mod jq;
mod rows;
mod scatter;
mod schema;
mod search;
mod spawn;
mod status;
mod step_aside;
mod sys;
mod system;
mod text;
mod timeout;
mod xargs;

pub use arguments::{ArgumentValue, CommandArguments};
pub use descriptor::{
    ArgumentStyle, CommandDescriptor, CommandParameter, Example, JsonColumn, JsonKind, ParameterKind,
};
pub use documentation::documentation;
pub use duration::parse as parse_duration;
pub use error::{Error, ErrorKind};
pub use fan_out::{WorkerItems, WorkerRecords, transfer_of};
pub use group::{CommandGroup, GNU_GROUPS, with_gnu_commands, with_stand_ins};
pub use halt::Halt;
pub use help::{help, synopsis};
pub use schema::{output_schema, schema};

use haft_kernel::{Bytes, Command};

/// The problem with literal arguments of `spawn`, `scatter` or `gather`. `None` if there is none, or the command is another one.
///
/// ```
/// let problem = haft_commands::argument_problem(b"spawn", &[b"comand=make"]);
/// assert_eq!(problem.as_deref(), Some("unknown parameter 'comand'"));
/// assert_eq!(haft_commands::argument_problem(b"spawn", &[b"make", b"x=1"]), None);
/// ```
#[must_use]
pub fn argument_problem(name: &[u8], arguments: &[&[u8]]) -> Option<String> {
    let descriptor = DESCRIPTORS.iter().find(|it| it.name.as_bytes() == name && it.style.is_typed())?;
    let words: Vec<Bytes> = arguments.iter().map(|word| Bytes::from(*word)).collect();
    CommandArguments::of_words(descriptor, &words).err().map(|error| error.to_string())
}

/// All commands, for [`haft_kernel::KernelBuilder::commands`].
pub static TABLE: &[&dyn Command] = &[
    &env::COMMAND,
    &gather::COMMAND,
    &scatter::COMMAND,
    &spawn::COMMAND,
    &timeout::COMMAND,
    &xargs::COMMAND,
];

/// The descriptors of all commands, sorted by name.
pub static DESCRIPTORS: &[&CommandDescriptor] = &[
    &env::DESCRIPTOR,
    &gather::DESCRIPTOR,
    &scatter::DESCRIPTOR,
    &spawn::DESCRIPTOR,
    &timeout::DESCRIPTOR,
    &xargs::DESCRIPTOR,
];
