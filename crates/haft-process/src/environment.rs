//! The environment of a child.

use std::ffi::{CStr, CString, OsStr, OsString};
use std::os::unix::ffi::{OsStrExt as _, OsStringExt as _};

use crate::error::{Error, ErrorKind};

/// The environment variables of a program, in order. Only the marker of a scope is added to them.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Environment {
    /// Strings of the form `name=value`.
    entries: Vec<CString>,
}

impl Environment {
    /// Makes an empty environment.
    pub fn new() -> Environment {
        Environment::default()
    }

    /// Makes an environment of pairs, such as those of `std::env::vars_os()`. A later variable replaces an earlier one of the same
    /// name.
    ///
    /// # Errors
    /// Fails if a name is empty or contains `=`, or a string contains a NUL byte.
    pub fn from_pairs<K: AsRef<OsStr>, V: AsRef<OsStr>>(
        pairs: impl IntoIterator<Item = (K, V)>,
    ) -> Result<Environment, Error> {
        let mut environment = Environment::new();
        for (name, value) in pairs {
            environment.set(name, value)?;
        }
        Ok(environment)
    }

    /// Sets a variable. An existing variable keeps its position.
    ///
    /// # Errors
    /// Fails if a name is empty or contains `=`, or a string contains a NUL byte.
    pub fn set(&mut self, name: impl AsRef<OsStr>, value: impl AsRef<OsStr>) -> Result<(), Error> {
        let (name, value) = (name.as_ref(), value.as_ref());
        if name.is_empty() || name.as_bytes().contains(&b'=') {
            return Err(Error::new(
                ErrorKind::System,
                format!("invalid environment variable name '{}'", name.display()),
            ));
        }
        let mut entry = OsString::with_capacity(name.len() + value.len() + 2);
        entry.push(name);
        entry.push("=");
        entry.push(value);
        let entry = CString::new(entry.into_vec()).map_err(|_| {
            Error::new(
                ErrorKind::NulByte,
                format!("environment variable '{}' contains a NUL byte", name.display()),
            )
        })?;
        match self.position(name) {
            Some(index) => self.entries[index] = entry,
            None => self.entries.push(entry),
        }
        Ok(())
    }

    /// Removes a variable.
    pub fn remove(&mut self, name: impl AsRef<OsStr>) {
        if let Some(index) = self.position(name.as_ref()) {
            self.entries.remove(index);
        }
    }

    /// Returns the value of a variable.
    pub fn get(&self, name: impl AsRef<OsStr>) -> Option<&OsStr> {
        let name = name.as_ref();
        let index = self.position(name)?;
        Some(OsStr::from_bytes(&self.entries[index].as_bytes()[name.len() + 1..]))
    }

    /// Returns all variables in order.
    pub fn iter(&self) -> impl Iterator<Item = (&OsStr, &OsStr)> {
        self.entries.iter().map(|entry| {
            let bytes = entry.as_bytes();
            let split = bytes.iter().position(|&byte| byte == b'=').unwrap_or(bytes.len());
            (
                OsStr::from_bytes(&bytes[..split]),
                OsStr::from_bytes(bytes.get(split + 1..).unwrap_or_default()),
            )
        })
    }

    /// Returns the strings `name=value`.
    pub(crate) fn entries(&self) -> impl ExactSizeIterator<Item = &CStr> {
        self.entries.iter().map(CString::as_c_str)
    }

    fn position(&self, name: &OsStr) -> Option<usize> {
        let name = name.as_bytes();
        self.entries.iter().position(|entry| {
            let entry = entry.as_bytes();
            entry.len() > name.len() && entry[name.len()] == b'=' && entry.starts_with(name)
        })
    }
}
