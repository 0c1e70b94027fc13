//! The commands that are part of the shell, one file each.
//!
//! A builtin is a function in a file of its own and a line in [`ALL`]. It gets a [`Context`] — the session and the
//! name it was called by — and its arguments without that name, and yields a [`Flow`]: its exit status, or a
//! reason to leave what encloses it.
//!
//! Output goes through [`Context::print`], complaints through [`Context::error`]; both use the session's own
//! descriptors, with the redirections of the command in place.

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

pub use context::Context;
pub(crate) use jobs::job_line;
pub(crate) use printf::zone;
pub use table::ALL;

/// A builtin.
#[derive(Clone, Copy, Debug)]
pub struct Builtin {
    /// Its name.
    pub name: &'static str,
    /// What kind of arguments it takes.
    pub run: Run,
    /// Whether POSIX calls it special: it is found before functions in posix mode, and its errors may end the shell.
    pub special: bool,
    /// One line for `help`: the synopsis.
    pub synopsis: &'static str,
    /// What it does, for `help`.
    pub summary: &'static str,
}

/// The function that is the builtin.
#[derive(Clone, Copy, Debug)]
pub enum Run {
    /// It takes words.
    Words(fn(&mut Context<'_>, &[Bytes]) -> Flow),
    /// It takes words and assignments, as `declare` does.
    Operands(fn(&mut Context<'_>, &[Operand]) -> Flow),
}

/// An argument of `declare` and its kin.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Operand {
    /// A word.
    Word(Bytes),
    /// An assignment that was recognised when the command was parsed.
    Assignment(Assigned),
}

/// An assignment whose words have been expanded.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Assigned {
    /// The variable.
    pub name: Bytes,
    /// The text between the brackets, expanded: a key, or an expression for the index.
    pub subscript: Option<Bytes>,
    /// Whether it is `+=`.
    pub append: bool,
    /// What is assigned.
    pub value: AssignedValue,
}

/// The right side of an assignment whose words have been expanded.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum AssignedValue {
    /// A string.
    Scalar(Bytes),
    /// `(…)`.
    List(Vec<AssignedElement>),
}

/// An element of `(…)`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AssignedElement {
    /// The text between the brackets, expanded, if there are any.
    pub subscript: Option<Bytes>,
    /// Whether it is `[subscript]+=`.
    pub append: bool,
    /// The value.
    pub value: Bytes,
}

static BY_NAME: LazyLock<HashMap<&'static [u8], &'static Builtin, RandomState>> =
    LazyLock::new(|| ALL.iter().map(|builtin| (builtin.name.as_bytes(), builtin)).collect());

/// The builtin of this name.
#[must_use]
pub fn find(name: &[u8]) -> Option<&'static Builtin> {
    BY_NAME.get(name).copied()
}
