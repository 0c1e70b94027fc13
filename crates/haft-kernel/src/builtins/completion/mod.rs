//! Programmable completion, shared by `complete`, `compgen`, `compopt` and the interactive shell.

mod actions;
mod arguments;
mod candidates;
mod function;
mod line;
mod programmable;
mod word_list;

pub(super) use arguments::{named_command, parse};
pub(super) use candidates::{Completing, candidates, default_candidates};
pub use programmable::{CompletionRequest, ProgrammableCompletion};
