//! The builtins, one file each.
//!
//! A builtin is a function in a file of its own and an entry of [`ALL`]. It gets a [`Context`], which holds the session and the name it
//! was called by, and its arguments. It returns a [`Flow`](crate::Flow): its exit status, or a reason to unwind.
//!
//! [`Context::print`] writes output and [`Context::error`] error messages; both respect the redirections of the command.

mod alias;
mod bg;
mod bind;
mod break_;
mod builtin;
mod caller;
mod cd;
mod colon;
mod command;
mod compgen;
mod complete;
mod completion;
mod compopt;
mod continue_;
mod declare;
mod descriptor_reader;
mod directory_stack;
mod dirs;
mod disown;
mod echo;
mod enable;
mod eval;
mod exec;
mod exit;
mod export;
mod false_;
mod fc;
mod fg;
pub(crate) mod function_listing;
mod getopts;
mod hash;
mod help;
mod history;
mod integer;
mod invoke;
mod jobs;
mod kill;
mod kill_target;
mod let_;
mod local;
mod logout;
mod mapfile;
mod name_lookup;
mod options;
mod popd;
mod printf;
mod pushd;
mod pwd;
mod read;
mod readline_files;
mod readonly;
mod return_;
mod set;
mod shift;
mod shopt;
mod source;
mod suspend;
mod table;
mod test;
mod times;
mod trap;
mod true_;
mod type_;
mod ulimit;
mod umask;
mod unalias;
mod unset;
pub(crate) mod variable_listing;
mod wait;

pub use crate::command::{Builtin, BuiltinFunction, Context, Operand};
pub use completion::{CompletionRequest, ProgrammableCompletion};
pub use readline_files::EditorBindings;
pub use table::{ALL, find};
