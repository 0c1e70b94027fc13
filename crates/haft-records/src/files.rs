//! The files of the directory of journals.

use std::fs::{DirBuilder, File, Metadata, OpenOptions, Permissions};
use std::io;
use std::os::unix::fs::{DirBuilderExt as _, MetadataExt as _, OpenOptionsExt as _, PermissionsExt as _};
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use rustix::fs::OFlags;

/// The extension of a journal file.
const JOURNAL_EXTENSION: &str = "jsonl";
/// The extension of the file with the length and the last hash.
const HEAD_EXTENSION: &str = "head";
/// The extension of the index.
const INDEX_EXTENSION: &str = "idx";
/// The most characters of a session in the name of a file.
const MAX_SESSION_CHARACTERS: usize = 64;

/// A journal file.
#[derive(Clone, Debug)]
pub(crate) struct JournalFile {
    pub(crate) path: PathBuf,
    pub(crate) size: u64,
    pub(crate) modified: SystemTime,
}

impl JournalFile {
    /// The name of the file.
    pub(crate) fn name(&self) -> String {
        self.path.file_name().unwrap_or_default().to_string_lossy().into_owned()
    }
}

/// The name of a session in a form that a file name can contain: letters, digits, `-` and `_`, at most 64 of them.
#[must_use]
pub fn valid_session(name: &str) -> String {
    let plain = |letter: char| if letter.is_ascii_alphanumeric() || letter == '_' { letter } else { '-' };
    let name: String = name.chars().take(MAX_SESSION_CHARACTERS).map(plain).collect();
    if name.is_empty() { "unnamed".to_owned() } else { name }
}

/// The path of a journal file.
pub(crate) fn journal_path(directory: &Path, session: &str, day: &str, number: usize) -> PathBuf {
    directory.join(format!("{session}.{day}.{number}.{JOURNAL_EXTENSION}"))
}

/// The path of the file with the length and the last hash of a journal file.
pub(crate) fn head_path(journal: &Path) -> PathBuf {
    journal.with_extension(HEAD_EXTENSION)
}

/// The path of the index of a journal file.
pub(crate) fn index_path(journal: &Path) -> PathBuf {
    journal.with_extension(INDEX_EXTENSION)
}

/// Lists the journal files of a directory, oldest first. A missing directory has none.
///
/// # Errors
/// If the directory cannot be read, or belongs to another user.
pub(crate) fn list(directory: &Path) -> io::Result<Vec<JournalFile>> {
    let entries = match check_private(directory).and_then(|()| std::fs::read_dir(directory)) {
        Ok(entries) => entries,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
        Err(error) => return Err(error),
    };
    let mut files = Vec::new();
    for entry in entries {
        let path = entry?.path();
        // A file may be pruned meanwhile.
        let Ok(data) = path.symlink_metadata() else { continue };
        if data.is_file() && path.extension().is_some_and(|extension| extension == JOURNAL_EXTENSION) {
            let modified = data.modified().unwrap_or(SystemTime::UNIX_EPOCH);
            files.push(JournalFile { path, size: data.len(), modified });
        }
    }
    files.sort_by(|one, other| (one.modified, &one.path).cmp(&(other.modified, &other.path)));
    Ok(files)
}

/// Creates the directory of journals, accessible to its owner only.
///
/// # Errors
/// If it cannot be created, or belongs to another user.
pub(crate) fn create_private(directory: &Path) -> io::Result<()> {
    match check_private(directory) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            DirBuilder::new().recursive(true).mode(0o700).create(directory)?;
            check_private(directory)
        }
        result => result,
    }
}

/// Fails if a directory belongs to another user. Takes away the permissions of other users.
fn check_private(directory: &Path) -> io::Result<()> {
    let data: Metadata = directory.symlink_metadata()?;
    if !data.is_dir() || data.uid() != rustix::process::geteuid().as_raw() {
        return Err(io::Error::new(
            io::ErrorKind::PermissionDenied,
            format!("'{}' is not a directory of this user", directory.display()),
        ));
    }
    if data.mode() & 0o077 != 0 {
        std::fs::set_permissions(directory, Permissions::from_mode(0o700))?;
    }
    Ok(())
}

/// Opens a file of the directory for reading and writing, and creates it if it does not exist.
pub(crate) fn open_writable(path: &Path, append: bool) -> io::Result<File> {
    let mut options = OpenOptions::new();
    options.read(true).create(true).mode(0o600).custom_flags(OFlags::NOFOLLOW.bits().cast_signed());
    if append {
        options.append(true)
    } else {
        options.write(true).truncate(false)
    };
    options.open(path)
}

/// The date of a time in milliseconds since 1970, as `YYYY-MM-DD`.
pub(crate) fn date(milliseconds: i64) -> String {
    const DAY_MILLISECONDS: i64 = 24 * 3600 * 1000;
    // Counts from a first of March at the beginning of a cycle of 400 years, so that leap days are at the end of a year.
    let days = milliseconds.div_euclid(DAY_MILLISECONDS) + 719_468;
    let (cycle, day) = (days.div_euclid(146_097), days.rem_euclid(146_097));
    let year = (day - day / 1460 + day / 36_524 - day / 146_096) / 365;
    let day = day - (365 * year + year / 4 - year / 100);
    let month = (5 * day + 2) / 153;
    let day = day - (153 * month + 2) / 5 + 1;
    let (month, carry) = if month < 10 { (month + 3, 0) } else { (month - 9, 1) };
    format!("{:04}-{month:02}-{day:02}", cycle * 400 + year + carry)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dates_follow_the_calendar() {
        let days = |count: i64| count * 86_400_000;
        let cases = [
            (0, "1970-01-01"),
            (-1, "1969-12-31"),
            (days(58), "1970-02-28"),
            (days(59), "1970-03-01"),
            (days(11_016), "2000-02-29"),
            (days(20_775), "2026-11-18"),
        ];
        for (time, expected) in cases {
            assert_eq!(date(time), expected);
        }
    }

    #[test]
    fn sessions_make_valid_file_names() {
        assert_eq!(valid_session("cli"), "cli");
        assert_eq!(valid_session("../a b.c"), "---a-b-c");
        assert_eq!(valid_session(""), "unnamed");
        assert_eq!(valid_session(&"x".repeat(100)).len(), 64);
    }
}
