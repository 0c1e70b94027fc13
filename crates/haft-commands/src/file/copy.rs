//! Copying and moving of files and trees, for `cp` and `mv`.

mod directory;
mod same_file;
mod write;

use std::collections::HashMap;
use std::io;

use haft_fs::{FileType, Metadata};

use super::remove::{Removal, remove_tree};
use crate::text::streams::{Stop, TextRun};
use same_file::Sameness;

/// Which symbolic links are followed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Dereference {
    Never,
    CommandLine,
    Always,
}

/// The attributes that a copy keeps.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Preserve {
    pub(crate) mode: bool,
    pub(crate) ownership: bool,
    pub(crate) timestamps: bool,
    pub(crate) links: bool,
}

/// How the content gets to the destination.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum CopyMethod {
    Content,
    HardLink,
    SymbolicLink,
    Move,
}

/// The treatment of an existing destination.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Existing {
    Overwrite,
    Keep,
    /// It is kept unless it is older.
    KeepNewer,
}

/// The options of `cp` and `mv`.
#[derive(Clone, Copy, Debug)]
pub(crate) struct CopyOptions {
    pub(crate) method: CopyMethod,
    pub(crate) dereference: Dereference,
    pub(crate) preserve: Preserve,
    pub(crate) existing: Existing,
    pub(crate) recursive: bool,
    /// Remove a destination that cannot be opened.
    pub(crate) force: bool,
    /// Remove each destination before it is written.
    pub(crate) remove_destination: bool,
    pub(crate) verbose: bool,
}

/// The names of an operand and of its destination.
struct TopLevel<'a> {
    source: &'a [u8],
    destination: &'a [u8],
}

/// A running `cp` or `mv`.
pub(crate) struct Copying {
    pub(crate) options: CopyOptions,
    /// Destinations of files that were copied, by the identity of their sources, and of directories that were made.
    copied: HashMap<(u64, u64), Vec<u8>>,
    /// Operands so far.
    sources: Vec<(u64, u64)>,
    /// Destinations of operands so far.
    destinations: Vec<(u64, u64, Vec<u8>)>,
    /// Whether several operands go to one directory.
    pub(crate) several: bool,
    /// Whether the operand is being copied into itself, which ends its copy.
    is_into_itself: bool,
}

/// One file on its way.
struct CopyStep<'a> {
    source: &'a [u8],
    destination: &'a [u8],
    source_metadata: Metadata,
    /// `None` if the destination does not exist.
    existing: Option<Metadata>,
    is_operand: bool,
}

fn identity(metadata: &Metadata) -> (u64, u64) {
    (metadata.device, metadata.inode)
}

impl Copying {
    pub(crate) fn new(options: CopyOptions) -> Self {
        let (copied, sources, destinations) = (HashMap::new(), Vec::new(), Vec::new());
        Self { options, copied, sources, destinations, several: false, is_into_itself: false }
    }

    /// Copies or moves an operand.
    pub(crate) fn operand(
        &mut self,
        run: &mut TextRun<'_, '_>,
        source: &[u8],
        destination: &[u8],
    ) -> Result<bool, Stop> {
        let top = TopLevel { source, destination };
        self.is_into_itself = false;
        self.copy(run, source, destination, &top, &mut Vec::new())
    }

    fn copy(
        &mut self,
        run: &mut TextRun<'_, '_>,
        source: &[u8],
        destination: &[u8],
        top: &TopLevel<'_>,
        ancestors: &mut Vec<(u64, u64)>,
    ) -> Result<bool, Stop> {
        run.context.check()?;
        let is_operand = ancestors.is_empty();
        let follow = match self.options.dereference {
            Dereference::Never => false,
            Dereference::CommandLine => is_operand,
            Dereference::Always => true,
        };
        let found = if follow { run.stat(source) } else { run.lstat(source) };
        let source_metadata = match found {
            Ok(metadata) => metadata,
            Err(error) => {
                run.name_failed("cannot stat", source, &error);
                return Ok(false);
            }
        };
        if source_metadata.is_dir() && !self.options.recursive {
            let shown = run.shown(source);
            run.problem(format_args!("-r not specified; omitting directory {shown}"));
            return Ok(false);
        }
        if is_operand && self.several && self.is_repeated(run, source, &source_metadata) {
            return Ok(true);
        }
        let mut step = CopyStep { source, destination, source_metadata, existing: None, is_operand };
        match self.check_destination(run, &mut step)? {
            Some(result) => Ok(result),
            None => self.transfer(run, &mut step, top, ancestors),
        }
    }

    /// Warns if a file was an operand before.
    fn is_repeated(&mut self, run: &mut TextRun<'_, '_>, source: &[u8], metadata: &Metadata) -> bool {
        // `mv` does not remember its sources.
        if matches!(self.options.method, CopyMethod::Move) {
            return false;
        }
        let repeated = !metadata.is_dir() && self.sources.contains(&identity(metadata));
        if repeated {
            let shown = run.shown(source);
            run.complain(format_args!("warning: source file {shown} specified more than once"));
        }
        self.sources.push(identity(metadata));
        repeated
    }

    /// Looks at the destination. Returns the result if there is nothing more to do.
    fn check_destination(
        &mut self,
        run: &mut TextRun<'_, '_>,
        step: &mut CopyStep<'_>,
    ) -> Result<Option<bool>, Stop> {
        let options = self.options;
        let keep_link = !step.source_metadata.is_file()
            || options.remove_destination
            || options.method != CopyMethod::Content;
        let destination = step.destination;
        let found = if keep_link { run.lstat(destination) } else { run.stat(destination) };
        let existing = match found {
            Ok(existing) => existing,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
            Err(error) if is_loop(&error) && options.force => {
                let _ = run.files().remove(&run.path(destination));
                return Ok(None);
            }
            Err(error) => {
                run.name_failed("cannot stat", destination, &error);
                return Ok(Some(false));
            }
        };
        step.existing = Some(existing);
        if options.method == CopyMethod::Move && options.existing == Existing::Keep {
            return Ok(Some(true));
        }
        match same_file::compare(run, options, step, &existing) {
            Sameness::Different => {}
            Sameness::NothingToDo(result) => return Ok(Some(result)),
            Sameness::Same => {
                let (from, to) = (run.shown(step.source), run.shown(destination));
                run.problem(format_args!("{from} and {to} are the same file"));
                return Ok(Some(false));
            }
        }
        if !step.source_metadata.is_dir() {
            let is_current = existing.modified >= step.source_metadata.modified;
            match options.existing {
                Existing::Keep => return Ok(Some(true)),
                Existing::KeepNewer if is_current => return Ok(Some(true)),
                _ => {}
            }
        }
        self.refuse_overwrite(run, step, &existing)
    }

    /// Refuses to replace a directory by a file, the reverse, and what was just made.
    fn refuse_overwrite(
        &mut self,
        run: &mut TextRun<'_, '_>,
        step: &mut CopyStep<'_>,
        existing: &Metadata,
    ) -> Result<Option<bool>, Stop> {
        let (from, to) = (run.shown(step.source), run.shown(step.destination));
        let just_created = || {
            let (device, inode) = identity(existing);
            self.destinations
                .iter()
                .any(|made| (made.0, made.1) == (device, inode) && made.2 == step.destination)
        };
        let message = match (step.source_metadata.is_dir(), existing.is_dir()) {
            (true, false) => format!("cannot overwrite non-directory {to} with directory {from}"),
            (false, true) => format!("cannot overwrite directory {to} with non-directory"),
            (false, false) if step.is_operand && self.several && just_created() => {
                format!("will not overwrite just-created {to} with {from}")
            }
            _ => return self.clear_destination(run, step, existing),
        };
        run.problem(message);
        Ok(Some(false))
    }

    /// Removes an existing destination that is not written in place.
    fn clear_destination(
        &self,
        run: &mut TextRun<'_, '_>,
        step: &mut CopyStep<'_>,
        existing: &Metadata,
    ) -> Result<Option<bool>, Stop> {
        let options = self.options;
        let replaces = options.remove_destination
            || options.preserve.links && existing.links > 1
            || options.dereference == Dereference::Never && !step.source_metadata.is_file();
        if existing.is_dir() || options.method == CopyMethod::Move || !replaces {
            return Ok(None);
        }
        match run.files().remove(&run.path(step.destination)) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => {
                run.name_failed("cannot remove", step.destination, &error);
                Ok(Some(false))
            }
            _ => {
                step.existing = None;
                if options.verbose {
                    let to = run.shown(step.destination);
                    run.write(format!("removed {to}\n").as_bytes())?;
                }
                Ok(None)
            }
        }
    }

    fn transfer(
        &mut self,
        run: &mut TextRun<'_, '_>,
        step: &mut CopyStep<'_>,
        top: &TopLevel<'_>,
        ancestors: &mut Vec<(u64, u64)>,
    ) -> Result<bool, Stop> {
        let is_move = self.options.method == CopyMethod::Move;
        if self.options.verbose && !is_move && !step.source_metadata.is_dir() {
            self.report(run, "", step)?;
        }
        if is_move && step.is_operand {
            match self.rename(run, step)? {
                Renamed::Done(result) => return Ok(result),
                Renamed::OtherDevice => {}
            }
        }
        if let Some(result) = self.use_earlier(run, step, top)? {
            return Ok(result);
        }
        let copied = match step.source_metadata.kind {
            FileType::Directory => self.copy_directory(run, step, top, ancestors)?,
            _ => self.copy_content(run, step)?,
        };
        if copied && is_move && step.is_operand {
            return remove_tree(
                run,
                step.source,
                &Removal { verbose: self.options.verbose, ..Removal::all() },
            );
        }
        Ok(copied)
    }

    /// Writes `'SOURCE' -> 'DESTINATION'`.
    fn report(&self, run: &mut TextRun<'_, '_>, verb: &str, step: &CopyStep<'_>) -> Result<(), Stop> {
        let (from, to) = (run.shown(step.source), run.shown(step.destination));
        run.write(format!("{verb}{from} -> {to}\n").as_bytes())
    }

    fn rename(&mut self, run: &mut TextRun<'_, '_>, step: &mut CopyStep<'_>) -> Result<Renamed, Stop> {
        let (from, to) = (run.shown(step.source), run.shown(step.destination));
        match run.files().rename(&run.path(step.source), &run.path(step.destination)) {
            Ok(()) => {
                self.remember_destination(run, step);
                if self.options.verbose {
                    self.report(run, "renamed ", step)?;
                }
                return Ok(Renamed::Done(true));
            }
            Err(error) if error.kind() == io::ErrorKind::CrossesDevices => {}
            Err(error) if error.raw_os_error() == Some(rustix::io::Errno::INVAL.raw_os_error()) => {
                run.problem(format_args!("cannot move {from} to a subdirectory of itself, {to}"));
                return Ok(Renamed::Done(false));
            }
            Err(error) => {
                run.file_failed(format_args!("cannot move {from} to {to}"), &error);
                return Ok(Renamed::Done(false));
            }
        }
        if step.existing.take().is_some()
            && let Err(error) = run.files().remove(&run.path(step.destination))
        {
            let problem = format!("inter-device move failed: {from} to {to}; unable to remove target");
            run.file_failed(problem, &error);
            return Ok(Renamed::Done(false));
        }
        if self.options.verbose && !step.source_metadata.is_dir() {
            self.report(run, "copied ", step)?;
        }
        Ok(Renamed::OtherDevice)
    }

    fn remember_destination(&mut self, run: &TextRun<'_, '_>, step: &CopyStep<'_>) {
        if !step.is_operand || !self.several {
            return;
        }
        if let Ok(metadata) = run.lstat(step.destination) {
            let (device, inode) = identity(&metadata);
            self.destinations.push((device, inode, step.destination.to_vec()));
        }
    }

    /// Uses the copy of a file that was copied before under another name. Returns the result in that case.
    fn use_earlier(
        &mut self,
        run: &mut TextRun<'_, '_>,
        step: &CopyStep<'_>,
        top: &TopLevel<'_>,
    ) -> Result<Option<bool>, Stop> {
        let key = identity(&step.source_metadata);
        let earlier = self.copied.get(&key).cloned();
        if !step.source_metadata.is_dir() {
            let kept = self.options.preserve.links && (step.source_metadata.links > 1 || step.is_operand);
            return match earlier.filter(|_| kept) {
                Some(earlier) => self.link_to(run, &earlier, step, true).map(Some),
                None => {
                    if kept {
                        self.copied.insert(key, step.destination.to_vec());
                    }
                    Ok(None)
                }
            };
        }
        let Some(earlier) = earlier else {
            if step.is_operand {
                self.copied.insert(key, step.destination.to_vec());
            }
            return Ok(None);
        };
        if is_same_name(run, step.source, &earlier) {
            let (from, to) = (run.shown(top.source), run.shown(top.destination));
            run.problem(format_args!("cannot copy a directory, {from}, into itself, {to}"));
            self.is_into_itself = true;
            return Ok(Some(false));
        }
        if is_same_name(run, step.destination, &earlier) {
            let from = run.shown(step.source);
            run.complain(format_args!("warning: source directory {from} specified more than once"));
            return Ok(Some(true));
        }
        Ok(None)
    }

    /// Makes a hard link to an earlier copy.
    fn link_to(
        &mut self,
        run: &mut TextRun<'_, '_>,
        earlier: &[u8],
        step: &CopyStep<'_>,
        replaces: bool,
    ) -> Result<bool, Stop> {
        let (from, to) = (run.path(earlier), run.path(step.destination));
        let mut result = run.files().hard_link(&from, &to);
        if replaces && result.as_ref().is_err_and(|error| error.kind() == io::ErrorKind::AlreadyExists) {
            result = run.files().remove(&to).and_then(|()| run.files().hard_link(&from, &to));
        }
        if let Err(error) = result {
            let (link, target) = (run.shown(step.destination), run.shown(earlier));
            run.file_failed(format_args!("cannot create hard link {link} to {target}"), &error);
            return Ok(false);
        }
        Ok(true)
    }
}

/// Whether a move is done.
enum Renamed {
    Done(bool),
    OtherDevice,
}

fn is_loop(error: &io::Error) -> bool {
    error.raw_os_error() == Some(rustix::io::Errno::LOOP.raw_os_error())
}

/// Whether two names are the same entry of the same directory.
fn is_same_name(run: &TextRun<'_, '_>, first: &[u8], second: &[u8]) -> bool {
    use super::run::{directory_part, last_component, without_trailing_slashes};
    let base = |name| without_trailing_slashes(last_component(name)).to_vec();
    let parent = |name| run.stat(directory_part(name));
    base(first) == base(second)
        && matches!((parent(first), parent(second)), (Ok(one), Ok(other)) if one.same_file(&other))
}
