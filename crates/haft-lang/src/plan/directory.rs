//! The working directory, as far as `cd` with known arguments tells it.

use super::build::Builder;
use super::files::path::{concat, join};
use super::step::{Expansion, Item, Piece};

/// Longest path that is followed.
const MAX_LENGTH: usize = 400;

/// Where the program is, as if every `cd` before had succeeded.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Directory(Option<Item>);

impl Directory {
    /// The path, unless it is the directory that the program starts in.
    pub(super) fn path(&self) -> Option<&Item> {
        self.0.as_ref()
    }

    /// A directory that only a run can tell.
    pub(super) fn unknown() -> Self {
        let piece = Piece::Dynamic { by: Expansion::Parameter, source: b"$PWD"[..].into() };
        Self(Some(concat([piece])))
    }

    fn change(&mut self, to: &Item) {
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

fn length(piece: &Piece) -> usize {
    match piece {
        Piece::Literal(text) | Piece::Dynamic { source: text, .. } => text.len(),
    }
}

impl Builder<'_> {
    /// Follows `cd`, `pushd` and `popd`.
    pub(super) fn change_directory(&mut self, name: &[u8], arguments: &[Item]) {
        let arguments = self.constants.resolve(arguments);
        let is_option =
            |item: &&Item| matches!(item.literal(), Some(b"-P" | b"-L" | b"-e" | b"-@" | b"--" | b"-n"));
        let operand = arguments.iter().find(|item| !is_option(item));
        match (name, operand) {
            (b"popd", _) => self.directory = Directory::unknown(),
            (_, Some(operand)) if matches!(operand.prefix(), b"-" | [b'+', ..]) || operand.several => {
                self.directory = Directory::unknown();
            }
            (_, Some(operand)) => self.directory.change(operand),
            (b"pushd", None) => self.directory = Directory::unknown(),
            (_, None) => {
                let home = Piece::Dynamic { by: Expansion::Tilde, source: b"~"[..].into() };
                self.directory = Directory(Some(concat([home])));
            }
        }
    }

    /// Plans something that runs in a copy of the shell: it leaves the working directory as it was.
    pub(super) fn apart(&mut self, plan: impl FnOnce(&mut Self)) {
        let before = self.directory.clone();
        plan(self);
        self.directory = before;
    }

    /// Plans something that may run or not: if it changes the working directory, that is unknown afterwards.
    pub(super) fn perhaps(&mut self, plan: impl FnOnce(&mut Self)) {
        let before = self.directory.clone();
        plan(self);
        if self.directory != before {
            self.directory = Directory::unknown();
        }
    }

    /// Plans something that runs any number of times, from wherever the time before left the shell.
    pub(super) fn again(&mut self, changes: bool, plan: impl FnOnce(&mut Self)) {
        if changes {
            self.directory = Directory::unknown();
        }
        self.perhaps(plan);
    }

    /// Plans something that runs later, from wherever the shell is then.
    pub(super) fn later(&mut self, plan: impl FnOnce(&mut Self)) {
        let moves = self.moves;
        self.apart(|builder| {
            if moves {
                builder.directory = Directory::unknown();
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
pub(super) fn from_start(directory: Option<&Item>, target: &Item) -> Item {
    match directory {
        Some(directory) => join(directory, target),
        None => target.clone(),
    }
}
