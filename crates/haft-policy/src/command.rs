//! Commands that a policy judges.

use std::path::{Path, PathBuf};

use haft_lang::plan::PlannedWord;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The kind of a command.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum DispatchKind {
    /// A shell function. Its commands are judged when they run.
    Function,
    /// A builtin of the shell.
    Builtin,
    /// A command of haft, such as `cat`.
    InProcess,
    /// A script on the script path, which runs in haft.
    Script,
    /// A program.
    External,
    /// A tool.
    Tool,
}

impl DispatchKind {
    /// The name in configuration files.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            DispatchKind::Function => "function",
            DispatchKind::Builtin => "builtin",
            DispatchKind::InProcess => "in-process",
            DispatchKind::Script => "script",
            DispatchKind::External => "external",
            DispatchKind::Tool => "tool",
        }
    }

    /// Whether the command itself does nothing outside the shell, or only runs commands that are judged too. Such a
    /// command is allowed unless a rule matches it.
    pub(crate) fn is_shell(self) -> bool {
        matches!(self, DispatchKind::Function | DispatchKind::Builtin)
    }
}

/// A command that is about to run.
#[derive(Clone, Copy, Debug)]
pub struct CommandRequest<'a> {
    /// The kind.
    pub kind: DispatchKind,
    /// The name and the arguments, after all expansions.
    pub argv: &'a [&'a [u8]],
    /// The file of a program or a script, best without symbolic links.
    pub path: Option<&'a Path>,
    /// The working directory, for a relative `path`.
    pub directory: &'a Path,
}

/// A word of a command, as far as it is known.
#[derive(Clone, Copy, Debug)]
pub(crate) enum JudgedWord<'a> {
    Known(&'a [u8]),
    /// The word starts with a prefix, and may be any number of words if `several` is set.
    Unknown {
        prefix: &'a [u8],
        several: bool,
    },
}

impl<'a> JudgedWord<'a> {
    pub(crate) fn planned(word: &'a PlannedWord) -> JudgedWord<'a> {
        match word.literal() {
            Some(text) if !word.several => JudgedWord::Known(text),
            _ => JudgedWord::Unknown { prefix: word.prefix(), several: word.several },
        }
    }

    /// The text as far as it is known.
    pub(crate) fn prefix(self) -> &'a [u8] {
        match self {
            JudgedWord::Known(text) => text,
            JudgedWord::Unknown { prefix, .. } => prefix,
        }
    }

    pub(crate) fn is_several(self) -> bool {
        matches!(self, JudgedWord::Unknown { several: true, .. })
    }
}

/// A command whose words may be unknown in part.
pub(crate) struct JudgedCommand<'a> {
    pub(crate) kind: DispatchKind,
    pub(crate) words: Vec<JudgedWord<'a>>,
    /// The normalized file of the program.
    pub(crate) path: Option<PathBuf>,
}

/// The last component of a command name.
pub(crate) fn base_name(name: &[u8]) -> &[u8] {
    name.rsplit(|byte| *byte == b'/').next().unwrap_or(name)
}
