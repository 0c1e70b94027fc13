//! Tracks the working directory through `cd` commands with known arguments.

use super::build::PlanBuilder;
use super::files::path::{concat, join};
use super::step::{Expansion, PlannedWord, WordPiece};

/// Maximum length of a tracked path.
const MAX_PATH_BYTES: usize = 400;

/// The working directory, assuming that every `cd` succeeds.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct TrackedDirectory(Option<PlannedWord>);

impl TrackedDirectory {
    /// Returns the path; `None` for the directory in which the program starts.
    pub(super) fn path(&self) -> Option<&PlannedWord> {
        self.0.as_ref()
    }

    /// Creates an unknown directory.
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
        *self = match length > MAX_PATH_BYTES {
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
    /// Applies `cd`, `pushd` or `popd`.
    pub(super) fn change_directory(&mut self, name: &[u8], arguments: &[PlannedWord]) {
        let arguments = self.constants.resolve(arguments);
        let is_option = |item: &&PlannedWord| {
            matches!(item.literal(), Some(b"-P" | b"-L" | b"-e" | b"-@" | b"--" | b"-n"))
        };
        let operand = arguments.iter().find(|item| !is_option(item));
        match (name, operand) {
            (b"popd", _) => self.directory = TrackedDirectory::unknown(),
            (_, Some(operand)) if matches!(operand.prefix(), b"-" | [b'+', ..]) || operand.several => {
                self.directory = TrackedDirectory::unknown();
            }
            (_, Some(operand)) => self.directory.change(operand),
            (b"pushd", None) => self.directory = TrackedDirectory::unknown(),
            (_, None) => {
                let home = WordPiece::Dynamic { by: Expansion::Tilde, source: b"~"[..].into() };
                self.directory = TrackedDirectory(Some(concat([home])));
            }
        }
    }

    /// Plans commands in a subshell, which do not change the working directory of the shell.
    pub(super) fn in_subshell(&mut self, plan: impl FnOnce(&mut Self)) {
        let before = self.directory.clone();
        plan(self);
        self.directory = before;
    }

    /// Plans commands that may not run. If they change the working directory, it is unknown afterwards.
    pub(super) fn conditionally(&mut self, plan: impl FnOnce(&mut Self)) {
        let before = self.directory.clone();
        plan(self);
        if self.directory != before {
            self.directory = TrackedDirectory::unknown();
        }
    }

    /// Plans commands that run repeatedly, each time in the directory left by the previous iteration.
    pub(super) fn repeatedly(&mut self, changes: bool, plan: impl FnOnce(&mut Self)) {
        if changes {
            self.directory = TrackedDirectory::unknown();
        }
        self.conditionally(plan);
    }

    /// Plans commands that run later, in the working directory at that time.
    pub(super) fn deferred(&mut self, plan: impl FnOnce(&mut Self)) {
        let moves = self.moves;
        self.in_subshell(|builder| {
            if moves {
                builder.directory = TrackedDirectory::unknown();
            }
            plan(builder);
        });
    }
}

/// Whether a command is a builtin that changes the working directory.
pub(super) fn is_change(name: &[u8]) -> bool {
    matches!(name, b"cd" | b"pushd" | b"popd")
}

/// Returns the path of a file relative to the directory in which the program starts.
pub(super) fn from_start(directory: Option<&PlannedWord>, target: &PlannedWord) -> PlannedWord {
    match directory {
        Some(directory) => join(directory, target),
        None => target.clone(),
    }
}
