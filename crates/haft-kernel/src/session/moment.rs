//! What a session keeps for the commands that run now.

use crate::run::Note;

/// State of what runs at the moment. A subshell begins with none of it.
#[derive(Debug, Default)]
pub(crate) struct Moment {
    /// Whether a builtin could not write what it had to show.
    pub(crate) output_failed: bool,
    /// Whether the command about to run is the last of the program, so that the process may become it.
    pub(crate) may_replace: bool,
    /// Whether the command about to run is the whole of this subshell, so that its parentheses make no other.
    pub(crate) is_whole: bool,
    /// Whether the `DEBUG` trap has run already for the command that comes first.
    pub(crate) passed_debug: bool,
    /// What is noted of the command that is about to run, if it is a stage to be put on record.
    pub(crate) note: Option<Box<Note>>,
}
