//! Listing of directories along the components of a pattern.

use std::ffi::OsStr;
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::{Path, PathBuf};

use haft_fs::{FileSystem, FileType};

use super::split::{ComponentKind, GlobComponent};
use super::{GlobCancelled, GlobOptions};
use crate::pattern::Pattern;

/// How many directory entries are read between two checks for cancellation.
const ENTRIES_PER_CHECK: usize = 256;

/// How many directories deep `**` descends: more than any path that can be opened has.
const MAX_GLOBSTAR_DEPTH: usize = 2048;

/// A file name, and its file type if known.
type GlobEntry = (Vec<u8>, Option<FileType>);

pub(super) struct GlobWalk<'a> {
    files: &'a dyn FileSystem,
    directory: &'a [u8],
    options: &'a GlobOptions,
    stop: &'a mut dyn FnMut() -> bool,
    /// The paths reached so far. Each is empty or ends in a slash, until the last component.
    reached: Vec<Vec<u8>>,
    /// Whether a component so far had operators. Then the paths reached are known to exist, apart from literal text at their end.
    matched: bool,
}

impl<'a> GlobWalk<'a> {
    pub(super) fn new(
        files: &'a dyn FileSystem,
        directory: &'a [u8],
        options: &'a GlobOptions,
        stop: &'a mut dyn FnMut() -> bool,
    ) -> Self {
        Self { files, directory, options, stop, reached: vec![Vec::new()], matched: false }
    }

    /// Extends the paths reached by one component.
    pub(super) fn descend(&mut self, component: &GlobComponent) -> Result<(), GlobCancelled> {
        let before = std::mem::take(&mut self.reached);
        for prefix in before {
            self.check()?;
            match &component.kind {
                ComponentKind::Text(text) => self.text(prefix, text, component),
                ComponentKind::Pattern(pattern) => self.pattern(&prefix, pattern, component)?,
                ComponentKind::Recursive { directories, repeated } => {
                    let trims = !directories && (self.matched || *repeated);
                    self.recursive(prefix, *directories, trims, component)?;
                }
            }
        }
        self.matched |= !matches!(component.kind, ComponentKind::Text(_));
        Ok(())
    }

    /// Returns the paths reached, sorted.
    pub(super) fn finish(mut self) -> Vec<Vec<u8>> {
        self.reached.sort_unstable();
        self.reached
    }

    fn check(&mut self) -> Result<(), GlobCancelled> {
        if (self.stop)() { Err(GlobCancelled) } else { Ok(()) }
    }

    fn text(&mut self, prefix: Vec<u8>, text: &[u8], component: &GlobComponent) {
        let mut path = prefix;
        path.extend_from_slice(text);
        let exists = match (component.last, text.is_empty()) {
            (false, _) => true,
            (true, false) => self.files.symlink_metadata(&self.absolute(&path)).is_ok(),
            (true, true) => self.files.is_dir(&self.absolute(&path)),
        };
        if exists {
            push_slashes(&mut path, component.slashes);
            self.reached.push(path);
        }
    }

    fn pattern(
        &mut self,
        prefix: &[u8],
        pattern: &Pattern,
        component: &GlobComponent,
    ) -> Result<(), GlobCancelled> {
        for (name, kind) in self.list(prefix, |name, options| {
            if options.dotglob { pattern.matches(name) } else { pattern.matches_name(name) }
        })? {
            let path = join(prefix, &name);
            if component.last || self.is_directory(&path, kind) {
                let mut path = path;
                push_slashes(&mut path, component.slashes);
                self.reached.push(path);
            }
        }
        Ok(())
    }

    /// Adds everything below a directory, and the directory itself. Symbolic links match but are not followed.
    fn recursive(
        &mut self,
        prefix: Vec<u8>,
        directories: bool,
        trims: bool,
        component: &GlobComponent,
    ) -> Result<(), GlobCancelled> {
        let mut own = prefix.clone();
        if component.last && trims {
            while own.len() > 1 && own.last() == Some(&b'/') {
                own.pop();
            }
        }
        if !component.last || (!own.is_empty() && self.files.is_dir(&self.absolute(&own))) {
            self.reached.push(own);
        }
        let mut pending = vec![(prefix, 0)];
        while let Some((prefix, depth)) = pending.pop() {
            self.check()?;
            for (name, kind) in
                self.list(&prefix, |name, options| options.dotglob || !name.starts_with(b"."))?
            {
                let mut path = join(&prefix, &name);
                let real = self.is_real_directory(&path, kind);
                let wanted = match (component.last, directories) {
                    (true, false) => true,
                    (true, true) => real || self.is_directory(&path, kind),
                    (false, _) => real,
                };
                if real && depth < MAX_GLOBSTAR_DEPTH {
                    pending.push((join(&path, b"/"), depth + 1));
                }
                if wanted {
                    push_slashes(&mut path, component.slashes);
                    self.reached.push(path);
                }
            }
        }
        Ok(())
    }

    /// Returns the names in a directory for which `wanted` is true; none if the directory cannot be read.
    fn list(
        &mut self,
        prefix: &[u8],
        wanted: impl Fn(&[u8], &GlobOptions) -> bool,
    ) -> Result<Vec<GlobEntry>, GlobCancelled> {
        let Ok(entries) = self.files.read_dir(&self.absolute(prefix)) else { return Ok(Vec::new()) };
        let mut names = Vec::new();
        if self.options.match_dot_entries {
            names.extend([&b"."[..], b".."].map(|name| (name.to_vec(), Some(FileType::Directory))));
            names.retain(|(name, _)| wanted(name, self.options));
        }
        for (count, entry) in entries.map_while(Result::ok).enumerate() {
            if count % ENTRIES_PER_CHECK == ENTRIES_PER_CHECK - 1 {
                self.check()?;
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
