//! Shared by the file commands: names of the session's files, and messages about them.

use std::ffi::OsString;
use std::fmt::Display;
use std::io;
use std::os::unix::ffi::OsStringExt as _;
use std::path::PathBuf;

use haft_fs::{DirEntry, FileSystem, Metadata};
use haft_text::encoding::Encoding;

use super::quote::{QuotingStyle, quote};
use crate::search::fts_order::in_fts_order;
use crate::text::streams::{Stop, TextRun};

/// Entries read between two checks for cancellation.
const ENTRIES_PER_CHECK: usize = 64;

impl TextRun<'_, '_> {
    /// The files of the session.
    pub(crate) fn files(&self) -> &dyn FileSystem {
        self.context.session().files()
    }

    /// The absolute path of an operand. An empty name is not a path.
    pub(crate) fn path(&self, name: &[u8]) -> PathBuf {
        match name {
            b"" => PathBuf::new(),
            name => OsString::from_vec(self.context.session().resolve(name)).into(),
        }
    }

    /// The metadata of an operand. Follows symbolic links.
    pub(crate) fn stat(&self, name: &[u8]) -> io::Result<Metadata> {
        self.files().metadata(&self.path(name))
    }

    /// The metadata of an operand, which may be a symbolic link.
    pub(crate) fn lstat(&self, name: &[u8]) -> io::Result<Metadata> {
        self.files().symlink_metadata(&self.path(name))
    }

    /// The names in a directory.
    pub(crate) fn names_in(&self, name: &[u8]) -> Result<io::Result<Vec<Vec<u8>>>, Stop> {
        match self.files().read_dir(&self.path(name)) {
            Ok(entries) => self.names_of(entries),
            Err(error) => Ok(Err(error)),
        }
    }

    /// The entries of a directory in the order in which GNU's `find` visits them.
    pub(crate) fn entries_in_fts_order(&self, name: &[u8]) -> Result<io::Result<Vec<DirEntry>>, Stop> {
        let path = self.path(name);
        self.context.check()?;
        Ok(match self.files().read_dir(&path) {
            Ok(entries) => in_fts_order(self.files(), &path, entries).into_iter().collect(),
            Err(error) => Err(error),
        })
    }

    fn names_of(
        &self,
        entries: impl Iterator<Item = io::Result<DirEntry>>,
    ) -> Result<io::Result<Vec<Vec<u8>>>, Stop> {
        let mut names = Vec::new();
        for entry in entries {
            match entry {
                Ok(entry) => names.push(entry.name.into_vec()),
                Err(error) => return Ok(Err(error)),
            }
            if names.len() % ENTRIES_PER_CHECK == 0 {
                self.context.check()?;
            }
        }
        Ok(Ok(names))
    }

    /// The encoding of the session's locale.
    pub(crate) fn encoding(&self) -> Encoding {
        self.context.session().encoding()
    }

    fn styled(&self, name: &[u8], style: QuotingStyle, special: &[u8]) -> String {
        String::from_utf8_lossy(&quote(name, style, self.encoding(), special)).into_owned()
    }

    /// A name for a message, in quotes.
    pub(crate) fn shown(&self, name: &[u8]) -> String {
        self.styled(name, QuotingStyle::ShellEscapeAlways, &[])
    }

    /// A name for a message, in quotes if needed.
    pub(crate) fn shown_plain(&self, name: &[u8]) -> String {
        self.styled(name, QuotingStyle::ShellEscape, b":")
    }

    /// Prints `PROBLEM 'NAME': REASON` and makes the command fail.
    pub(crate) fn name_failed(&mut self, problem: impl Display, name: &[u8], error: &io::Error) {
        let shown = self.shown(name);
        self.file_failed(format_args!("{problem} {shown}"), error);
    }

    /// Prints a message and makes the command fail, but goes on.
    pub(crate) fn problem(&mut self, message: impl Display) {
        self.complain(message);
        self.set_status(1);
    }

    /// Writes a line with the name of the command to standard output, as `-v` does.
    pub(crate) fn tell(&mut self, message: impl Display) -> Result<(), Stop> {
        let name = String::from_utf8_lossy(self.context.name).into_owned();
        self.write(format!("{name}: {message}\n").as_bytes())
    }
}

/// Joins a directory and a name.
pub(crate) fn join(directory: &[u8], name: &[u8]) -> Vec<u8> {
    let mut whole = directory.to_vec();
    if !whole.ends_with(b"/") && !whole.is_empty() {
        whole.push(b'/');
    }
    whole.extend_from_slice(name);
    whole
}

/// Joins a target directory and an operand, as GNU's `file_name_concat` does.
pub(crate) fn join_operand(directory: &[u8], name: &[u8]) -> Vec<u8> {
    let directory = match directory.iter().rposition(|&byte| byte != b'/') {
        Some(last) => &directory[..=last],
        None => b"",
    };
    let start = name.iter().take_while(|&&byte| byte == b'/').count();
    [directory, b"/", &name[start..]].concat()
}

/// Removes slashes at the end, except the root's.
pub(crate) fn without_trailing_slashes(name: &[u8]) -> &[u8] {
    match name.iter().rposition(|&byte| byte != b'/') {
        Some(last) => &name[..=last],
        None => &name[..name.len().min(1)],
    }
}

/// The last component of a name, with slashes after it.
pub(crate) fn last_component(name: &[u8]) -> &[u8] {
    let trimmed = without_trailing_slashes(name);
    let start = trimmed.iter().rposition(|&byte| byte == b'/').map_or(0, |slash| slash + 1);
    if trimmed == b"/" { name } else { &name[start..] }
}

/// Everything before the last component, without slashes after it; `.` if there is nothing.
pub(crate) fn directory_part(name: &[u8]) -> &[u8] {
    let trimmed = without_trailing_slashes(name);
    match trimmed.iter().rposition(|&byte| byte == b'/') {
        None => b".",
        Some(slash) => match without_trailing_slashes(&trimmed[..slash]) {
            b"" => b"/",
            directory => directory,
        },
    }
}

/// Whether a name is `.` or `..`, perhaps with slashes after it.
pub(crate) fn is_dot(name: &[u8]) -> bool {
    matches!(without_trailing_slashes(name), b"." | b"..")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_split_at_the_last_slash() {
        let split = |name: &'static str| {
            let text = |part: &[u8]| String::from_utf8_lossy(part).into_owned();
            (text(directory_part(name.as_bytes())), text(last_component(name.as_bytes())))
        };
        let pair = |first: &str, second: &str| (first.to_owned(), second.to_owned());
        assert_eq!(split("a/b"), pair("a", "b"));
        assert_eq!(split("a//b/"), pair("a", "b/"));
        assert_eq!(split("/a"), pair("/", "a"));
        assert_eq!(split("a"), pair(".", "a"));
        assert_eq!(split("//"), pair("/", "//"));
    }
}
