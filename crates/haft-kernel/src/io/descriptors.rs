//! The descriptor table of a session.

use std::sync::Arc;

use super::OpenFile;

/// Open files by number. A clone shares the table until one of the two changes.
#[derive(Clone, Debug, Default)]
pub struct Descriptors {
    /// Sorted by number. There are rarely more than a few.
    entries: Arc<Vec<(u32, Arc<OpenFile>)>>,
}

/// The lowest number that `{name}>` chooses.
const FIRST_FREE: u32 = 10;

impl Descriptors {
    /// The file open under a number.
    #[must_use]
    #[inline]
    pub fn get(&self, number: u32) -> Option<&Arc<OpenFile>> {
        match self.entries.get(number as usize) {
            Some((found, file)) if *found == number => Some(file),
            _ => self.entries.iter().find(|(found, _)| *found == number).map(|(_, file)| file),
        }
    }

    /// Opens a file under a number; returns the file it replaces.
    pub fn set(&mut self, number: u32, file: Arc<OpenFile>) -> Option<Arc<OpenFile>> {
        let entries = Arc::make_mut(&mut self.entries);
        match entries.binary_search_by_key(&number, |(found, _)| *found) {
            Ok(at) => Some(std::mem::replace(&mut entries[at].1, file)),
            Err(at) => {
                entries.insert(at, (number, file));
                None
            }
        }
    }

    /// Closes a number; returns the file that was open.
    pub fn close(&mut self, number: u32) -> Option<Arc<OpenFile>> {
        let entries = Arc::make_mut(&mut self.entries);
        let at = entries.binary_search_by_key(&number, |(found, _)| *found).ok()?;
        Some(entries.remove(at).1)
    }

    /// All open files by number.
    pub fn iter(&self) -> impl Iterator<Item = (u32, &Arc<OpenFile>)> {
        self.entries.iter().map(|(number, file)| (*number, file))
    }

    /// The lowest free number that bash would choose for `{name}>`.
    #[must_use]
    pub fn free(&self) -> u32 {
        (FIRST_FREE..).find(|number| self.get(*number).is_none()).unwrap_or(FIRST_FREE)
    }
}
