//! Walking directories along the parts of a pattern.

use std::ffi::OsStr;
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::{Path, PathBuf};

use haft_fs::{FileSystem, FileType};

use super::split::{Kind, Part};
use super::{GlobOptions, Stopped};
use crate::pattern::Pattern;

/// How many entries of a directory are read between two questions whether to go on.
const PATIENCE: usize = 256;

/// How deep `**` goes: deeper than any path that can be opened.
const DEPTH: usize = 2048;

/// A name in a directory, and its kind if known.
type Entry = (Vec<u8>, Option<FileType>);

pub(super) struct Walk<'a> {
    files: &'a dyn FileSystem,
    directory: &'a [u8],
    options: &'a GlobOptions,
    stop: &'a mut dyn FnMut() -> bool,
    /// The paths reached so far; all but the final ones are empty or end in a slash.
    reached: Vec<Vec<u8>>,
    /// Whether any part so far was a pattern: what was reached then exists, or is a directory plus text.
    matched: bool,
}

impl<'a> Walk<'a> {
    pub(super) fn new(
        files: &'a dyn FileSystem,
        directory: &'a [u8],
        options: &'a GlobOptions,
        stop: &'a mut dyn FnMut() -> bool,
    ) -> Self {
        Self { files, directory, options, stop, reached: vec![Vec::new()], matched: false }
    }

    /// Goes on along one part.
    pub(super) fn part(&mut self, part: &Part) -> Result<(), Stopped> {
        let before = std::mem::take(&mut self.reached);
        for prefix in before {
            self.pause()?;
            match &part.kind {
                Kind::Text(text) => self.text(prefix, text, part),
                Kind::Pattern(pattern) => self.pattern(&prefix, pattern, part)?,
                Kind::Recursive { directories } => self.recursive(prefix, *directories, part)?,
            }
        }
        self.matched |= !matches!(part.kind, Kind::Text(_));
        Ok(())
    }

    /// What was reached, in order.
    pub(super) fn finish(mut self) -> Vec<Vec<u8>> {
        self.reached.sort_unstable();
        self.reached
    }

    fn pause(&mut self) -> Result<(), Stopped> {
        if (self.stop)() { Err(Stopped) } else { Ok(()) }
    }

    fn text(&mut self, prefix: Vec<u8>, text: &[u8], part: &Part) {
        let mut path = prefix;
        path.extend_from_slice(text);
        let exists = match (part.last, text.is_empty()) {
            (false, _) => true,
            (true, false) => self.files.symlink_metadata(&self.absolute(&path)).is_ok(),
            (true, true) => self.files.is_dir(&self.absolute(&path)),
        };
        if exists {
            push_slashes(&mut path, part.slashes);
            self.reached.push(path);
        }
    }

    fn pattern(&mut self, prefix: &[u8], pattern: &Pattern, part: &Part) -> Result<(), Stopped> {
        for (name, kind) in
            self.list(
                prefix,
                |name, options| {
                    if options.dots { pattern.matches(name) } else { pattern.matches_name(name) }
                },
            )?
        {
            let path = join(prefix, &name);
            if part.last || self.is_directory(&path, kind) {
                let mut path = path;
                push_slashes(&mut path, part.slashes);
                self.reached.push(path);
            }
        }
        Ok(())
    }

    /// Everything below, and the place itself. Symbolic links are found but not followed.
    fn recursive(&mut self, prefix: Vec<u8>, directories: bool, part: &Part) -> Result<(), Stopped> {
        let mut own = prefix.clone();
        if self.matched && part.last && !directories {
            while own.len() > 1 && own.last() == Some(&b'/') {
                own.pop();
            }
        }
        if !part.last || (!own.is_empty() && self.files.is_dir(&self.absolute(&own))) {
            self.reached.push(own);
        }
        let mut pending = vec![(prefix, 0)];
        while let Some((prefix, depth)) = pending.pop() {
            self.pause()?;
            for (name, kind) in self.list(&prefix, |name, options| options.dots || !name.starts_with(b"."))? {
                let mut path = join(&prefix, &name);
                let real = self.is_real_directory(&path, kind);
                let wanted = match (part.last, directories) {
                    (true, false) => true,
                    (true, true) => real || self.is_directory(&path, kind),
                    (false, _) => real,
                };
                if real && depth < DEPTH {
                    pending.push((join(&path, b"/"), depth + 1));
                }
                if wanted {
                    push_slashes(&mut path, part.slashes);
                    self.reached.push(path);
                }
            }
        }
        Ok(())
    }

    /// The names in a directory that are wanted. One that cannot be read has none.
    fn list(
        &mut self,
        prefix: &[u8],
        wanted: impl Fn(&[u8], &GlobOptions) -> bool,
    ) -> Result<Vec<Entry>, Stopped> {
        let Ok(entries) = self.files.read_dir(&self.absolute(prefix)) else { return Ok(Vec::new()) };
        let mut names = Vec::new();
        if self.options.special {
            names.extend([&b"."[..], b".."].map(|name| (name.to_vec(), Some(FileType::Directory))));
            names.retain(|(name, _)| wanted(name, self.options));
        }
        for (count, entry) in entries.map_while(Result::ok).enumerate() {
            if count % PATIENCE == PATIENCE - 1 {
                self.pause()?;
            }
            if wanted(entry.name.as_bytes(), self.options) {
                names.push((entry.name.into_vec(), entry.kind));
            }
        }
        Ok(names)
    }

    fn is_directory(&self, path: &[u8], kind: Option<FileType>) -> bool {
        match kind {
            Some(FileType::Directory) => true,
            Some(FileType::Symlink) | None => self.files.is_dir(&self.absolute(path)),
            Some(_) => false,
        }
    }

    fn is_real_directory(&self, path: &[u8], kind: Option<FileType>) -> bool {
        match kind {
            Some(kind) => kind == FileType::Directory,
            None => self.files.symlink_metadata(&self.absolute(path)).is_ok_and(|metadata| metadata.is_dir()),
        }
    }

    fn absolute(&self, path: &[u8]) -> PathBuf {
        let base = Path::new(OsStr::from_bytes(self.directory));
        if path.is_empty() { base.to_owned() } else { base.join(OsStr::from_bytes(path)) }
    }
}

fn join(prefix: &[u8], name: &[u8]) -> Vec<u8> {
    [prefix, name].concat()
}

fn push_slashes(path: &mut Vec<u8>, count: usize) {
    path.resize(path.len() + count, b'/');
}
