//! Tilde expansion.

use std::io::Read as _;

use haft_fs::OpenOptions;
use haft_text::Bytes;

use super::sink::Sink;
use crate::session::{HostIdentity, Session};

impl Session {
    pub(super) fn expand_tilde(&mut self, user: &[u8], sink: &mut Sink) {
        match self.tilde(user) {
            Some(directory) => sink.quoted(&directory),
            None => {
                sink.literal(b"~");
                sink.literal(user);
            }
        }
    }

    /// Returns the directory of a tilde prefix.
    pub(crate) fn tilde(&self, user: &[u8]) -> Option<Bytes> {
        match user {
            b"" => self.value(b"HOME").or_else(|| self.home_of(None)),
            b"+" => self.value(b"PWD"),
            b"-" => self.value(b"OLDPWD"),
            _ => match std::str::from_utf8(user).ok().and_then(|text| text.parse::<i64>().ok()) {
                Some(number) => self.stacked(user, number),
                None => self.home_of(Some(user)),
            },
        }
    }

    fn stacked(&self, written: &[u8], number: i64) -> Option<Bytes> {
        let count = self.working_directory.stack().len() + 1;
        let distance = usize::try_from(number.unsigned_abs()).ok()?;
        let index = if written.starts_with(b"-") { count.checked_sub(distance + 1)? } else { distance };
        match index {
            0 => Some(Bytes::from(self.working_directory.path())),
            index => self.working_directory.stack().get(index - 1).cloned(),
        }
    }

    /// Returns the home directory of a user, or of the current user.
    fn home_of(&self, user: Option<&[u8]>) -> Option<Bytes> {
        self.user_column(user, 5)
    }

    /// Returns the name of the current user.
    pub(super) fn user_name(&self) -> Option<Bytes> {
        self.user_column(None, 0)
    }

    /// Returns the login shell of the current user.
    #[must_use]
    pub fn login_shell(&self) -> Option<Bytes> {
        self.user_column(None, 6)
    }

    /// Returns a column of `/etc/passwd` for a user, or for the current user.
    fn user_column(&self, user: Option<&[u8]>, column: usize) -> Option<Bytes> {
        let table = self.table_of(b"/etc/passwd")?;
        let own = HostIdentity::of(&self.kernel).user.to_string();
        table.split(|byte| *byte == b'\n').find_map(|line| {
            let columns: Vec<&[u8]> = line.split(|byte| *byte == b':').collect();
            let found = match user {
                Some(user) => columns.first() == Some(&user),
                None => columns.get(2) == Some(&own.as_bytes()),
            };
            if found { columns.get(column).map(|value| (*value).into()) } else { None }
        })
    }

    /// Returns the first column of a table such as `/etc/passwd`.
    pub(crate) fn names_in(&self, table: &[u8]) -> Vec<Bytes> {
        let content = self.table_of(table).unwrap_or_default();
        let lines = content.split(|byte| *byte == b'\n').filter(|line| !line.is_empty());
        lines.filter_map(|line| line.split(|byte| *byte == b':').next()).map(Bytes::from).collect()
    }

    /// Returns the content of a table such as `/etc/services`; empty if it cannot be read.
    pub(crate) fn system_table(&self, path: &[u8]) -> Vec<u8> {
        self.table_of(path).unwrap_or_default()
    }

    fn table_of(&self, path: &[u8]) -> Option<Vec<u8>> {
        let mut table = Vec::new();
        let mut file = self.kernel.files.open(haft_text::path(path), &OpenOptions::new().read(true)).ok()?;
        file.read_to_end(&mut table).ok()?;
        Some(table)
    }
}
