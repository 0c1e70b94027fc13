//! Kinds of access to files.

use std::fmt;
use std::ops::{BitAnd, BitOr, BitOrAssign, Not};

use landlock::{AccessFs, BitFlags};

/// A set of kinds of access to files.
#[derive(Clone, Copy, Default, PartialEq, Eq)]
pub struct Access(u8);

impl Access {
    /// No access.
    pub const NONE: Access = Access(0);
    /// Reading files and listing directories.
    pub const READ: Access = Access(1);
    /// Changing the content of existing files.
    pub const WRITE: Access = Access(2);
    /// Creating files, directories, links, sockets and FIFOs.
    pub const CREATE: Access = Access(4);
    /// Removing files and directories.
    pub const DELETE: Access = Access(8);
    /// Executing files.
    pub const EXECUTE: Access = Access(16);
    /// Listing directories only.
    pub(crate) const LIST: Access = Access(32);
    /// All kinds of change.
    pub const CHANGE: Access = Access(2 | 4 | 8);

    const NAMES: [(Access, &'static str); 5] = [
        (Access::READ, "read"),
        (Access::WRITE, "write"),
        (Access::CREATE, "create"),
        (Access::DELETE, "delete"),
        (Access::EXECUTE, "execute"),
    ];

    /// Whether the set is empty.
    #[must_use]
    pub const fn is_empty(self) -> bool {
        self.0 == 0
    }

    /// Whether the set contains all kinds of another one.
    #[must_use]
    pub const fn contains(self, other: Access) -> bool {
        self.0 & other.0 == other.0
    }

    /// The Landlock rights for a directory and everything below it. Moving files between directories also needs the right to
    /// create and delete in both.
    pub(crate) fn rights(self) -> BitFlags<AccessFs> {
        let mut rights = BitFlags::empty();
        for (kind, own) in [
            (Access::READ, AccessFs::ReadFile | AccessFs::ReadDir),
            (Access::LIST, AccessFs::ReadDir.into()),
            (Access::WRITE, AccessFs::WriteFile | AccessFs::Truncate),
            (Access::CREATE, created_kinds()),
            (Access::DELETE, AccessFs::RemoveFile | AccessFs::RemoveDir),
            (Access::CREATE | Access::DELETE, AccessFs::Refer.into()),
            (Access::EXECUTE, AccessFs::Execute.into()),
        ] {
            if self.contains(kind) {
                rights |= own;
            }
        }
        rights
    }
}

/// Everything but devices.
fn created_kinds() -> BitFlags<AccessFs> {
    AccessFs::MakeReg | AccessFs::MakeDir | AccessFs::MakeSym | AccessFs::MakeSock | AccessFs::MakeFifo
}

impl BitOr for Access {
    type Output = Access;

    fn bitor(self, other: Access) -> Access {
        Access(self.0 | other.0)
    }
}

impl BitOrAssign for Access {
    fn bitor_assign(&mut self, other: Access) {
        self.0 |= other.0;
    }
}

impl BitAnd for Access {
    type Output = Access;

    fn bitand(self, other: Access) -> Access {
        Access(self.0 & other.0)
    }
}

impl Not for Access {
    type Output = Access;

    fn not(self) -> Access {
        Access(!self.0 & 63)
    }
}

impl fmt::Display for Access {
    /// Writes the names of the kinds, separated by commas.
    fn fmt(&self, text: &mut fmt::Formatter<'_>) -> fmt::Result {
        let names = Access::NAMES.iter().filter(|(kind, _)| self.contains(*kind)).map(|(_, name)| *name);
        text.write_str(&names.collect::<Vec<_>>().join(","))
    }
}

impl fmt::Debug for Access {
    fn fmt(&self, text: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(text, "Access({self})")
    }
}
