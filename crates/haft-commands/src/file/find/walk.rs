//! Walking the trees of `find`.

use std::os::unix::ffi::OsStrExt as _;

use haft_fs::{FileType, Metadata};

use super::super::run::join;
use super::evaluate::{FoundFile, Verdict};
use super::expression::{FindFollow, Search};
use crate::text::streams::{Stop, TextRun};

/// A directory on the way to a file.
struct Ancestor {
    identity: (u64, u64),
    path: Vec<u8>,
}

/// A running search.
pub(super) struct Walk {
    pub(super) search: Search,
    ancestors: Vec<Ancestor>,
    device: u64,
}

/// Whether the search goes on.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Progress {
    Continue,
    Quit,
}

/// Searches all operands.
pub(super) fn search(run: &mut TextRun<'_, '_>, search: Search) -> Result<(), Stop> {
    let paths = search.paths.clone();
    let mut walk = Walk { search, ancestors: Vec::new(), device: 0 };
    for path in &paths {
        let follows = walk.search.follow != FindFollow::Never;
        let metadata = match metadata_of(run, path, follows) {
            Ok(metadata) => metadata,
            Err(error) => {
                walk.failed(run, path, &error);
                continue;
            }
        };
        walk.device = metadata.device;
        let file = FoundFile::known(path, path.len(), 0, metadata);
        if walk.visit(run, &file)? == Progress::Quit {
            break;
        }
    }
    walk.run_batches(run)
}

/// The metadata of a file, or of a symbolic link.
pub(super) fn metadata_of(run: &TextRun<'_, '_>, path: &[u8], follows: bool) -> std::io::Result<Metadata> {
    match follows {
        // A link that leads nowhere is found itself.
        true => run.stat(path).or_else(|error| match error.kind() {
            std::io::ErrorKind::NotFound => run.lstat(path).map_err(|_| error),
            _ => Err(error),
        }),
        false => run.lstat(path),
    }
}

impl Walk {
    fn failed(&self, run: &mut TextRun<'_, '_>, path: &[u8], error: &std::io::Error) {
        let shown = run.quote(path);
        run.file_failed(shown, error);
    }

    /// Whether a directory is one of those around it. Only a symbolic link can lead to one.
    fn is_loop(&self, run: &mut TextRun<'_, '_>, file: &FoundFile<'_>) -> bool {
        if self.search.follow == FindFollow::Never || file.kind != FileType::Directory {
            return false;
        }
        let Some(identity) = file.loaded().map(|metadata| (metadata.device, metadata.inode)) else {
            return false;
        };
        let Some(ancestor) = self.ancestors.iter().find(|ancestor| ancestor.identity == identity) else {
            return false;
        };
        let (inner, outer) = (run.quote(file.path), run.quote(&ancestor.path));
        run.problem(format_args!(
            "File system loop detected; {inner} is part of the same file system loop as {outer}."
        ));
        true
    }

    /// Evaluates the expression for a file, and for everything below it.
    fn visit(&mut self, run: &mut TextRun<'_, '_>, file: &FoundFile<'_>) -> Result<Progress, Stop> {
        run.context.check()?;
        if self.is_loop(run, file) {
            return Ok(Progress::Continue);
        }
        let is_reported = file.depth >= self.search.min_depth;
        let mut pruned = false;
        if is_reported && !self.search.depth_first {
            match self.evaluate_file(run, file)? {
                Verdict { quit: true, .. } => return Ok(Progress::Quit),
                verdict => pruned = verdict.prune,
            }
        }
        let other_device =
            self.search.one_device && file.loaded().is_some_and(|metadata| metadata.device != self.device);
        if file.kind == FileType::Directory
            && !pruned
            && file.depth < self.search.max_depth
            && !other_device
            && self.descend(run, file)? == Progress::Quit
        {
            return Ok(Progress::Quit);
        }
        if is_reported && self.search.depth_first && self.evaluate_file(run, file)?.quit {
            return Ok(Progress::Quit);
        }
        Ok(Progress::Continue)
    }

    /// Visits the entries of a directory.
    fn descend(&mut self, run: &mut TextRun<'_, '_>, file: &FoundFile<'_>) -> Result<Progress, Stop> {
        let entries = match run.entries_in_fts_order(file.path)? {
            Ok(entries) => entries,
            Err(error) => {
                self.failed(run, file.path, &error);
                return Ok(Progress::Continue);
            }
        };
        if let Some(metadata) = file.loaded() {
            let identity = (metadata.device, metadata.inode);
            self.ancestors.push(Ancestor { identity, path: file.path.to_vec() });
        }
        let ancestors = self.ancestors.len();
        let mut progress = Progress::Continue;
        for entry in entries {
            let path = join(file.path, entry.name.as_bytes());
            match self.entry(run, &path, file, entry.kind) {
                Ok(found) => progress = self.visit(run, &found)?,
                Err(error) => self.failed(run, &path, &error),
            }
            if progress == Progress::Quit {
                break;
            }
        }
        self.ancestors.truncate(ancestors);
        if file.loaded().is_some() {
            self.ancestors.pop();
        }
        Ok(progress)
    }

    /// An entry of a directory. Its metadata is read only if its type is not known, or links or devices matter.
    fn entry<'a>(
        &self,
        run: &TextRun<'_, '_>,
        path: &'a [u8],
        directory: &FoundFile<'_>,
        kind: Option<FileType>,
    ) -> std::io::Result<FoundFile<'a>> {
        let (operand_length, depth) = (directory.operand_length, directory.depth + 1);
        let follows = self.search.follow == FindFollow::Always;
        let is_needed = match kind {
            None => true,
            Some(kind) => match kind {
                FileType::Directory => self.search.follow != FindFollow::Never || self.search.one_device,
                FileType::Symlink => follows,
                _ => false,
            },
        };
        let file = |kind| FoundFile::of_kind(path, operand_length, depth, kind);
        match (kind, is_needed.then(|| metadata_of(run, path, follows))) {
            (_, Some(Ok(metadata))) => Ok(FoundFile::known(path, operand_length, depth, metadata)),
            (Some(kind), None) => Ok(file(kind)),
            // The directory around it can be read, but not searched.
            (Some(kind), Some(Err(_))) if kind != FileType::Symlink => Ok(file(kind)),
            (_, Some(Err(error))) => Err(error),
            (None, None) => Err(std::io::ErrorKind::NotFound.into()),
        }
    }
}

/// The letter of the type after following a link: `N` if it leads nowhere, `L` in a loop, `?` otherwise.
pub(super) fn followed_type(run: &TextRun<'_, '_>, path: &[u8], kind: FileType) -> char {
    let letter = |kind: FileType| char::from(super::print_format::find_type(kind));
    if kind != FileType::Symlink {
        return letter(kind);
    }
    match run.stat(path) {
        Ok(found) => letter(found.kind),
        Err(error) if error.raw_os_error() == Some(rustix::io::Errno::LOOP.raw_os_error()) => 'L',
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => 'N',
        Err(error) if error.kind() == std::io::ErrorKind::NotADirectory => 'N',
        Err(_) => '?',
    }
}
