//! A temporary directory for a test.

use std::path::{Path, PathBuf};

use crate::eventually;

/// A temporary directory, removed on drop.
#[derive(Debug)]
pub struct Scratch(tempfile::TempDir);

impl Scratch {
    /// Creates a private directory.
    #[expect(clippy::new_without_default, reason = "creating a directory is a side effect")]
    pub fn new() -> Scratch {
        Scratch(tempfile::Builder::new().prefix("test-").tempdir().expect("a directory can be created"))
    }

    /// Returns the path of the directory.
    pub fn path(&self) -> &Path {
        self.0.path()
    }

    /// Returns the path of a file in it.
    pub fn file(&self, name: &str) -> PathBuf {
        self.path().join(name)
    }

    /// Returns the path of a file in it, as text.
    pub fn text(&self, name: &str) -> String {
        self.file(name).display().to_string()
    }

    /// Creates an empty file. A child may wait for it.
    pub fn touch(&self, name: &str) {
        std::fs::write(self.file(name), "").expect("the file can be written");
    }

    /// Returns the current number of lines of a file.
    pub fn lines(&self, name: &str) -> usize {
        std::fs::read(self.file(name)).map_or(0, |text| text.iter().filter(|&&byte| byte == b'\n').count())
    }

    /// Waits until a file has at least `count` lines.
    pub fn await_lines(&self, name: &str, count: usize) {
        let complete = eventually(std::time::Duration::from_secs(20), || self.lines(name) >= count);
        assert!(complete, "'{name}' has {} lines instead of {count}", self.lines(name));
    }

    /// Returns the relative paths of all files and directories in it, sorted.
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
