//! Keeps truncated outputs, in memory and in a store that later processes can read.
//!
//! Without a store, outputs last as long as the registry.

use std::collections::VecDeque;
use std::path::PathBuf;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use haft_process::capture::{Output, OutputStore};

/// Maximum number of outputs in memory.
const MAX_IN_MEMORY: usize = 64;
/// How long an output is stored.
const RETENTION: Duration = Duration::from_secs(24 * 60 * 60);

/// Outputs by id.
#[derive(Debug, Default)]
pub(crate) struct KeptOutputs {
    store: Option<OutputStore>,
    memory: Mutex<VecDeque<Output>>,
}

impl KeptOutputs {
    /// Uses a store in the directory, if there is one.
    pub(crate) fn new(directory: Option<PathBuf>) -> KeptOutputs {
        KeptOutputs { store: directory.map(OutputStore::new), memory: Mutex::default() }
    }

    /// Keeps an output. Returns the file that stores it, if there is one.
    pub(crate) fn keep(&self, output: &Output, stream: &str) -> Option<PathBuf> {
        let mut memory = self.memory();
        if memory.len() == MAX_IN_MEMORY {
            memory.pop_front();
        }
        memory.push_back(output.clone());
        drop(memory);
        self.store.as_ref()?.keep(output, stream, "a tool", RETENTION).ok()
    }

    /// Finds an output by id.
    pub(crate) fn get(&self, id: &str) -> Option<Output> {
        let known = self.memory().iter().find(|output| output.id().as_str() == id).cloned();
        known.or_else(|| self.store.as_ref()?.get(id))
    }

    fn memory(&self) -> MutexGuard<'_, VecDeque<Output>> {
        self.memory.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use haft_process::capture::{CaptureLimits, OutputView};

    use super::*;

    fn output(text: &[u8]) -> Output {
        let output = Output::new(CaptureLimits { head: 4, tail: 4, spill: 0 }, None);
        output.append(text);
        output.finish();
        output
    }

    #[test]
    fn later_registries_find_stored_outputs() {
        let scratch = tempfile::tempdir().expect("a directory");
        let directory = Some(scratch.path().join("outputs"));
        let (one, two) = (output(b"abc"), output(b"0123456789"));
        let outputs = KeptOutputs::new(directory.clone());
        let path = outputs.keep(&one, "stdout").expect("a file");
        assert_eq!(std::fs::read(&path).expect("a file"), b"abc");
        outputs.keep(&two, "stderr");
        let later = KeptOutputs::new(directory);
        let read = |id: &str| {
            later
                .get(id)
                .map(|output| output.slice(&OutputView::HeadAndTail, 100).expect("bytes").to_marked_bytes())
        };
        assert_eq!(read(one.id().as_str()).as_deref(), Some(&b"abc"[..]));
        assert_eq!(read(two.id().as_str()), Some("0123\n[… 2 bytes not kept …]\n6789".into()));
        assert_eq!(read("../outputs"), None);
        assert_eq!(read(""), None);
    }

    #[test]
    fn without_a_directory_outputs_are_kept_in_memory() {
        let outputs = KeptOutputs::default();
        let one = output(b"x");
        assert_eq!(outputs.keep(&one, "stdout"), None);
        assert!(outputs.get(one.id().as_str()).is_some());
    }
}
