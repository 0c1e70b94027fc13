//! What a session keeps for the commands that run now.

use crate::bytes::Bytes;
use crate::execute::Compiled;
use crate::run::Note;
use crate::traps::Trap;

/// State of what runs at the moment. A subshell begins with none of it.
#[derive(Debug, Default)]
pub(crate) struct Moment {
    /// The status of the last command substitution of the command that is being expanded.
    pub(crate) substitution_status: Option<i32>,
    /// Descriptors of the process substitutions that commands which are running use.
    pub(crate) substituted: Vec<u32>,
    /// Whether the redirections of the command that is running shall stay: set by `exec`.
    pub(crate) keep_redirections: bool,
    /// Whether output that was held back met a closed pipe.
    pub(crate) broken_pipe: bool,
    /// How many rounds loops have made.
    pub(crate) rounds: u32,
    /// The process number and the signal of a command in the foreground that died.
    pub(crate) death: Option<(i32, i32)>,
    /// The status before the trap that is running, which `exit` and `return` without one give.
    pub(crate) status_before_trap: Option<i32>,
    /// Whether `exit` ends the shell, rather than a failure: it does so where it stands.
    pub(crate) exits_in_place: bool,
    /// Whether a builtin could not write what it had to show.
    pub(crate) output_failed: bool,
    /// The coprocess whose descriptors are open, and its process number.
    pub(crate) coprocess: Option<(Bytes, i32)>,
    /// Whether the command about to run is the last of the program, so that the process may become it.
    pub(crate) may_replace: bool,
    /// Whether signals that would end this process are caught, so that what runs ends in order first.
    pub(crate) guarded: bool,
    /// Whether programs get a process group of their own, whatever the kernel says.
    pub(crate) own_group: bool,
    /// Whether the command about to run is the whole of this subshell, so that its parentheses make no other.
    pub(crate) is_whole: bool,
    /// The status that the last trap ended with.
    pub(crate) trap_status: i32,
    /// Whether the `DEBUG` trap has run already for the command that comes first.
    pub(crate) passed_debug: bool,
    /// The traps that are running.
    pub(crate) running_traps: Vec<Trap>,
    /// The regular expression that was compiled last.
    pub(crate) last_regex: Option<Compiled>,
    /// Room for arguments.
    pub(crate) spare: Vec<Vec<Bytes>>,
    /// Whether the pipelines that are about to run are the script's own, which are put on record.
    pub(crate) recording: bool,
    /// What is noted of the command that is about to run, if it is a stage to be put on record.
    pub(crate) note: Option<Box<Note>>,
    /// How many loops `break` could leave.
    pub(crate) loops: u32,
    /// Whether `set` has replaced them since the file that is being sourced began.
    pub(crate) positional_set: bool,
}
