//! The working directory, as far as `cd` with known arguments tells it.

use super::build::PlanBuilder;
use super::files::path::{concat, join};
use super::step::{Expansion, PlannedWord, WordPiece};

/// Longest path that is followed.
const MAX_LENGTH: usize = 400;

/// Where the program is, as if every `cd` before had succeeded.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct WorkingDirectory(Option<PlannedWord>);

impl WorkingDirectory {
    /// The path, unless it is the directory that the program starts in.
    pub(super) fn path(&self) -> Option<&PlannedWord> {
        self.0.as_ref()
    }

    /// A directory that only a run can tell.
    pub(super) fn unknown() -> Self {
        let piece = WordPiece::Dynamic { by: Expansion::Parameter, source: b"$PWD"[..].into() };
        Self(Some(concat([piece])))
    }

    fn change(&mut self, to: &PlannedWord) {
        let path = match &self.0 {
            Some(directory) => join(directory, to),
            None => to.clone(),
        };
        let length: usize = path.pieces.iter().map(length).sum();
        *self = match length > MAX_LENGTH {
            true => Self::unknown(),
            false => Self(Some(path).filter(|path| path.literal() != Some(b"."))),
        };
    }
}

fn length(piece: &WordPiece) -> usize {
    match piece {
        WordPiece::Literal(text) | WordPiece::Dynamic { source: text, .. } => text.len(),
    }
}

impl PlanBuilder<'_> {
    /// Follows `cd`, `pushd` and `popd`.
    pub(super) fn change_directory(&mut self, name: &[u8], arguments: &[PlannedWord]) {
        let arguments = self.constants.resolve(arguments);
        let is_option = |item: &&PlannedWord| {
            matches!(item.literal(), Some(b"-P" | b"-L" | b"-e" | b"-@" | b"--" | b"-n"))
        };
        let operand = arguments.iter().find(|item| !is_option(item));
        match (name, operand) {
            (b"popd", _) => self.directory = WorkingDirectory::unknown(),
            (_, Some(operand)) if matches!(operand.prefix(), b"-" | [b'+', ..]) || operand.several => {
                self.directory = WorkingDirectory::unknown();
            }
            (_, Some(operand)) => self.directory.change(operand),
            (b"pushd", None) => self.directory = WorkingDirectory::unknown(),
            (_, None) => {
                let home = WordPiece::Dynamic { by: Expansion::Tilde, source: b"~"[..].into() };
                self.directory = WorkingDirectory(Some(concat([home])));
            }
        }
    }

    /// Plans something that runs in a copy of the shell: it leaves the working directory as it was.
    pub(super) fn in_subshell(&mut self, plan: impl FnOnce(&mut Self)) {
        let before = self.directory.clone();
        plan(self);
        self.directory = before;
    }

    /// Plans something that may run or not: if it changes the working directory, that is unknown afterwards.
    pub(super) fn conditionally(&mut self, plan: impl FnOnce(&mut Self)) {
        let before = self.directory.clone();
        plan(self);
        if self.directory != before {
            self.directory = WorkingDirectory::unknown();
        }
    }

    /// Plans something that runs any number of times, from wherever the time before left the shell.
    pub(super) fn repeatedly(&mut self, changes: bool, plan: impl FnOnce(&mut Self)) {
        if changes {
            self.directory = WorkingDirectory::unknown();
        }
        self.conditionally(plan);
    }

    /// Plans something that runs later, from wherever the shell is then.
    pub(super) fn deferred(&mut self, plan: impl FnOnce(&mut Self)) {
        let moves = self.moves;
        self.in_subshell(|builder| {
            if moves {
                builder.directory = WorkingDirectory::unknown();
            }
            plan(builder);
        });
    }
}

/// Whether a command's name is that of a builtin which changes the working directory.
pub(super) fn is_change(name: &[u8]) -> bool {
    matches!(name, b"cd" | b"pushd" | b"popd")
}

/// The path of a file as seen from where the program starts.
pub(super) fn from_start(directory: Option<&PlannedWord>, target: &PlannedWord) -> PlannedWord {
    match directory {
        Some(directory) => join(directory, target),
        None => target.clone(),
    }
}
