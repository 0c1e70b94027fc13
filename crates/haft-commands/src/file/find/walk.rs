//! Walking the trees of `find`.

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
        let follow = walk.search.follow != FindFollow::Never;
        let metadata = match walk.metadata(run, path, follow) {
            Ok(metadata) => metadata,
            Err(error) => {
                walk.failed(run, path, &error);
                continue;
            }
        };
        walk.device = metadata.device;
        if walk.visit(run, path, path.len(), 0, metadata)? == Progress::Quit {
            break;
        }
    }
    walk.run_batches(run)
}

impl Walk {
    fn metadata(&self, run: &TextRun<'_, '_>, path: &[u8], follow: bool) -> std::io::Result<Metadata> {
        match follow {
            // A link that leads nowhere is found itself.
            true => run.stat(path).or_else(|error| match error.kind() {
                std::io::ErrorKind::NotFound => run.lstat(path).map_err(|_| error),
                _ => Err(error),
            }),
            false => run.lstat(path),
        }
    }

    fn failed(&self, run: &mut TextRun<'_, '_>, path: &[u8], error: &std::io::Error) {
        let shown = run.quote(path);
        run.file_failed(shown, error);
    }

    /// Evaluates the expression for a file, and for everything below it.
    fn visit(
        &mut self,
        run: &mut TextRun<'_, '_>,
        path: &[u8],
        operand_length: usize,
        depth: u64,
        metadata: Metadata,
    ) -> Result<Progress, Stop> {
        run.context.check()?;
        let identity = (metadata.device, metadata.inode);
        if metadata.is_dir()
            && let Some(ancestor) = self.ancestors.iter().find(|ancestor| ancestor.identity == identity)
        {
            let (inner, outer) = (run.quote(path), run.quote(&ancestor.path));
            run.problem(format_args!(
                "File system loop detected; {inner} is part of the same file system loop as {outer}."
            ));
            return Ok(Progress::Continue);
        }
        let file = FoundFile { path, operand_length, depth, metadata };
        let is_reported = depth >= self.search.min_depth;
        let mut pruned = false;
        if is_reported && !self.search.depth_first {
            match self.evaluate_file(run, &file)? {
                Verdict { quit: true, .. } => return Ok(Progress::Quit),
                verdict => pruned = verdict.prune,
            }
        }
        let other_device = self.search.one_device && metadata.device != self.device;
        if metadata.is_dir()
            && !pruned
            && depth < self.search.max_depth
            && !other_device
            && self.descend(run, &file)? == Progress::Quit
        {
            return Ok(Progress::Quit);
        }
        if is_reported && self.search.depth_first && self.evaluate_file(run, &file)?.quit {
            return Ok(Progress::Quit);
        }
        Ok(Progress::Continue)
    }

    /// Visits the entries of a directory.
    fn descend(&mut self, run: &mut TextRun<'_, '_>, file: &FoundFile<'_>) -> Result<Progress, Stop> {
        let names = match run.names_in_fts_order(file.path)? {
            Ok(names) => names,
            Err(error) => {
                self.failed(run, file.path, &error);
                return Ok(Progress::Continue);
            }
        };
        let identity = (file.metadata.device, file.metadata.inode);
        self.ancestors.push(Ancestor { identity, path: file.path.to_vec() });
        let mut progress = Progress::Continue;
        for name in names {
            let path = join(file.path, &name);
            let follow = self.search.follow == FindFollow::Always;
            match self.metadata(run, &path, follow) {
                Ok(metadata) => {
                    progress = self.visit(run, &path, file.operand_length, file.depth + 1, metadata)?;
                }
                Err(error) => self.failed(run, &path, &error),
            }
            if progress == Progress::Quit {
                break;
            }
        }
        self.ancestors.pop();
        Ok(progress)
    }
}

/// The letter of the type after following a link: `N` if it leads nowhere, `L` in a loop, `?` otherwise.
pub(super) fn followed_type(run: &TextRun<'_, '_>, path: &[u8], metadata: &Metadata) -> char {
    let letter = |kind: FileType| char::from(super::print_format::find_type(kind));
    if !metadata.is_symlink() {
        return letter(metadata.kind);
    }
    match run.stat(path) {
        Ok(found) => letter(found.kind),
        Err(error) if error.raw_os_error() == Some(rustix::io::Errno::LOOP.raw_os_error()) => 'L',
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => 'N',
        Err(error) if error.kind() == std::io::ErrorKind::NotADirectory => 'N',
        Err(_) => '?',
    }
}
