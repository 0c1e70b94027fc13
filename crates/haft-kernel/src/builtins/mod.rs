//! The builtins, one file each.
//!
//! A builtin is a function in a file of its own and an entry of [`ALL`]. It gets a [`Context`], which holds the session and the name it
//! was called by, and its arguments. It returns a [`Flow`]: its exit status, or a reason to unwind.
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
mod compopt;
mod context;
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
mod function_listing;
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

use std::collections::HashMap;
use std::sync::LazyLock;

use foldhash::fast::RandomState;
use haft_text::Bytes;

use crate::flow::Flow;
use crate::variables::Assigned;

pub use context::Context;
pub use table::ALL;

/// A builtin.
#[derive(Clone, Copy, Debug)]
pub struct Builtin {
    /// Its name.
    pub name: &'static str,
    /// The function that runs it.
    pub run: BuiltinFunction,
    /// Whether it is a POSIX special builtin: in POSIX mode it is found before functions, and its errors can exit the shell.
    pub special: bool,
    /// The synopsis, for `help` and usage errors.
    pub synopsis: &'static str,
    /// A sentence for `help`.
    pub summary: &'static str,
}

/// The function that runs a builtin.
#[derive(Clone, Copy, Debug)]
pub enum BuiltinFunction {
    /// Takes words.
    Words(fn(&mut Context<'_>, &[Bytes]) -> Flow),
    /// Takes words and assignments, as `declare` does.
    Operands(fn(&mut Context<'_>, &[Operand]) -> Flow),
}

/// An argument of a builtin that takes assignments.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Operand {
    /// A word.
    Word(Bytes),
    /// An assignment that the parser recognised.
    Assignment(Assigned),
}

static BY_NAME: LazyLock<HashMap<&'static [u8], &'static Builtin, RandomState>> =
    LazyLock::new(|| ALL.iter().map(|builtin| (builtin.name.as_bytes(), builtin)).collect());

/// Returns the builtin of this name.
#[must_use]
pub fn find(name: &[u8]) -> Option<&'static Builtin> {
    BY_NAME.get(name).copied()
}
