//! A directory for one test.

use std::path::{Path, PathBuf};

use crate::eventually;

/// A directory that goes with the value.
#[derive(Debug)]
pub struct Scratch(tempfile::TempDir);

impl Scratch {
    /// A new directory, for the owner alone.
    #[expect(clippy::new_without_default, reason = "making a directory is no default")]
    pub fn new() -> Scratch {
        Scratch(tempfile::Builder::new().prefix("test-").tempdir().expect("a directory can be made"))
    }

    /// Where it is.
    pub fn path(&self) -> &Path {
        self.0.path()
    }

    /// A place in it.
    pub fn file(&self, name: &str) -> PathBuf {
        self.path().join(name)
    }

    /// A place in it, as text.
    pub fn text(&self, name: &str) -> String {
        self.file(name).display().to_string()
    }

    /// Makes an empty file, which is what a child may wait for.
    pub fn touch(&self, name: &str) {
        std::fs::write(self.file(name), "").expect("the file can be written");
    }

    /// How many lines a file has by now.
    pub fn lines(&self, name: &str) -> usize {
        std::fs::read(self.file(name)).map_or(0, |text| text.iter().filter(|&&byte| byte == b'\n').count())
    }

    /// Waits until a file has at least so many lines.
    pub fn await_lines(&self, name: &str, count: usize) {
        let come = eventually(std::time::Duration::from_secs(20), || self.lines(name) >= count);
        assert!(come, "'{name}' has {} lines instead of {count}", self.lines(name));
    }

    /// All files and directories in it, as paths from it, sorted.
    pub fn listing(&self) -> Vec<String> {
        let mut found = Vec::new();
        list(self.path(), self.path(), &mut found);
        found.sort();
        found
    }
}

fn list(base: &Path, directory: &Path, found: &mut Vec<String>) {
    for entry in std::fs::read_dir(directory).into_iter().flatten().flatten() {
        let path = entry.path();
        found.push(path.strip_prefix(base).unwrap_or(&path).display().to_string());
        if entry.file_type().is_ok_and(|kind| kind.is_dir()) {
            list(base, &path, found);
        }
    }
}
