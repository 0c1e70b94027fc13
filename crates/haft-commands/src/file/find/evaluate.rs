//! Evaluating the expression of `find` for a file.

use std::cell::OnceCell;
use std::os::unix::ffi::OsStrExt as _;

use haft_fs::{FileType, Metadata, Timestamp};
use haft_kernel::Bytes;

use super::super::run::{last_component, without_trailing_slashes};
use super::expression::{
    Action, ComparisonKind, Expression, FileNumber, FileTime, FindFollow, PermissionMatch, Test,
};
use super::print_format::PrintedFile;
use super::walk::{Walk, followed_type, metadata_of};
use crate::system::accounts::Accounts;
use crate::text::streams::{Stop, TextRun};

/// How many bytes of names a command gets at once.
const MAX_BATCH_BYTES: usize = 128 * 1024;

/// A file that was found.
pub(super) struct FoundFile<'a> {
    pub(super) path: &'a [u8],
    /// The length of the operand in the path.
    pub(super) operand_length: usize,
    pub(super) depth: u64,
    pub(super) kind: FileType,
    /// `None` inside if reading it has failed.
    metadata: OnceCell<Option<Metadata>>,
}

impl<'a> FoundFile<'a> {
    /// A file whose metadata is known.
    pub(super) fn known(path: &'a [u8], operand_length: usize, depth: u64, metadata: Metadata) -> Self {
        let kind = metadata.kind;
        Self { path, operand_length, depth, kind, metadata: OnceCell::from(Some(metadata)) }
    }

    /// A file whose metadata is read when it is needed.
    pub(super) fn of_kind(path: &'a [u8], operand_length: usize, depth: u64, kind: FileType) -> Self {
        Self { path, operand_length, depth, kind, metadata: OnceCell::new() }
    }

    /// The metadata, if it has been read.
    pub(super) fn loaded(&self) -> Option<&Metadata> {
        self.metadata.get().and_then(Option::as_ref)
    }

    /// The metadata. Prints the reason if it cannot be read.
    fn metadata(&self, run: &mut TextRun<'_, '_>) -> Option<Metadata> {
        let load = || match metadata_of(run, self.path, false) {
            Ok(metadata) => Some(metadata),
            Err(error) => {
                let shown = run.quote(self.path);
                run.file_failed(shown, &error);
                None
            }
        };
        *self.metadata.get_or_init(load)
    }
}

/// The result for a file.
#[derive(Clone, Copy, Default)]
pub(super) struct Verdict {
    holds: bool,
    /// Whether the directory is not searched.
    pub(super) prune: bool,
    /// Whether the search ends.
    pub(super) quit: bool,
}

impl Walk {
    /// Evaluates the whole expression.
    pub(super) fn evaluate_file(
        &mut self,
        run: &mut TextRun<'_, '_>,
        file: &FoundFile<'_>,
    ) -> Result<Verdict, Stop> {
        // The expression stays as it is while the batches change.
        let expression =
            std::mem::replace(&mut self.search.expression, Expression::Test(Test::Constant(true)));
        let verdict = self.evaluate(run, &expression, file);
        self.search.expression = expression;
        verdict
    }

    fn evaluate(
        &mut self,
        run: &mut TextRun<'_, '_>,
        expression: &Expression,
        file: &FoundFile<'_>,
    ) -> Result<Verdict, Stop> {
        Ok(match expression {
            Expression::Test(test) => Verdict { holds: self.test(run, test, file)?, ..Verdict::default() },
            Expression::Action(action) => self.act(run, action, file)?,
            Expression::Not(inner) => {
                let verdict = self.evaluate(run, inner, file)?;
                Verdict { holds: !verdict.holds, ..verdict }
            }
            Expression::And(first, second) => {
                let verdict = self.evaluate(run, first, file)?;
                if verdict.holds { self.then(run, verdict, second, file)? } else { verdict }
            }
            Expression::Or(first, second) => {
                let verdict = self.evaluate(run, first, file)?;
                if verdict.holds { verdict } else { self.then(run, verdict, second, file)? }
            }
            Expression::List(first, second) => {
                let verdict = self.evaluate(run, first, file)?;
                self.then(run, verdict, second, file)?
            }
        })
    }

    /// Evaluates the second operand, unless the search ends.
    fn then(
        &mut self,
        run: &mut TextRun<'_, '_>,
        before: Verdict,
        second: &Expression,
        file: &FoundFile<'_>,
    ) -> Result<Verdict, Stop> {
        if before.quit {
            return Ok(before);
        }
        let verdict = self.evaluate(run, second, file)?;
        Ok(Verdict { prune: before.prune || verdict.prune, ..verdict })
    }

    fn act(
        &mut self,
        run: &mut TextRun<'_, '_>,
        action: &Action,
        file: &FoundFile<'_>,
    ) -> Result<Verdict, Stop> {
        let mut verdict = Verdict { holds: true, ..Verdict::default() };
        if matches!(action, Action::Print(_) | Action::Format(_)) && run.collects_rows() {
            let Some(metadata) = file.metadata(run) else { return Ok(Verdict::default()) };
            let target = link_target(run, file);
            run.row(|| crate::rows::file_cells(file.path, &metadata, target.as_deref()));
        }
        match action {
            Action::Print(end) => run.write(&[file.path, &[*end]].concat())?,
            Action::Format(format) => {
                let metadata = if format.needs_metadata() { file.metadata(run) } else { None };
                if format.needs_metadata() && metadata.is_none() {
                    return Ok(Verdict::default());
                }
                let printed = PrintedFile {
                    path: file.path,
                    operand_length: file.operand_length,
                    depth: file.depth,
                    kind: file.kind,
                    metadata,
                    target: link_target(run, file),
                    followed: followed_type(run, file.path, file.kind),
                };
                run.write(&format.format(&printed))?;
            }
            Action::Prune => verdict.prune = true,
            Action::Quit => verdict.quit = true,
            Action::Delete => verdict.holds = delete(run, file),
            Action::Run(words) => verdict.holds = run_command(run, &replaced(words, file.path))?,
            Action::Collect(index) => self.collect(run, *index, file.path)?,
        }
        Ok(verdict)
    }

    /// Adds a file to a batch, and runs it if it is full.
    fn collect(&mut self, run: &mut TextRun<'_, '_>, index: usize, path: &[u8]) -> Result<(), Stop> {
        if self.search.batches[index].bytes + path.len() > MAX_BATCH_BYTES {
            self.run_batch(run, index)?;
        }
        let batch = &mut self.search.batches[index];
        batch.files.push(path.into());
        batch.bytes += path.len() + 1;
        Ok(())
    }

    fn run_batch(&mut self, run: &mut TextRun<'_, '_>, index: usize) -> Result<(), Stop> {
        let batch = &mut self.search.batches[index];
        if batch.files.is_empty() {
            return Ok(());
        }
        let words: Vec<Bytes> = batch.words.iter().cloned().chain(std::mem::take(&mut batch.files)).collect();
        batch.bytes = 0;
        if !run_command(run, &words)? {
            run.set_status(1);
        }
        Ok(())
    }

    /// Runs what was collected.
    pub(super) fn run_batches(&mut self, run: &mut TextRun<'_, '_>) -> Result<(), Stop> {
        (0..self.search.batches.len()).try_for_each(|index| self.run_batch(run, index))
    }

    fn test(&self, run: &mut TextRun<'_, '_>, test: &Test, file: &FoundFile<'_>) -> Result<bool, Stop> {
        Ok(match test {
            Test::Constant(value) => *value,
            Test::Name(pattern) => {
                pattern.pattern.matches(without_trailing_slashes(last_component(file.path)))
            }
            Test::Path(pattern) => pattern.pattern.matches(file.path),
            Test::LinkName(pattern) => {
                link_target(run, file).is_some_and(|target| pattern.pattern.matches(&target))
            }
            Test::Type(types) => types.contains(&file.kind),
            Test::OtherType(types) => self.other_type(run, file).is_some_and(|kind| types.contains(&kind)),
            Test::Empty => is_empty(run, file),
            Test::Access(access) => run.files().access(&run.path(file.path), *access).is_ok(),
            _ => {
                let Some(metadata) = file.metadata(run) else { return Ok(false) };
                test_metadata(run, test, &metadata)
            }
        })
    }

    /// The type of a link's target if links are not followed, else of the link.
    fn other_type(&self, run: &mut TextRun<'_, '_>, file: &FoundFile<'_>) -> Option<FileType> {
        let follows = match self.search.follow {
            FindFollow::Never => false,
            FindFollow::CommandLine => file.depth == 0,
            FindFollow::Always => true,
        };
        let other = if follows { run.lstat(file.path) } else { run.stat(file.path) };
        match other {
            Ok(metadata) => Some(metadata.kind),
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => Some(file.kind),
            Err(error) => {
                let shown = run.quote(file.path);
                run.file_failed(shown, &error);
                None
            }
        }
    }
}

/// Tests that need the metadata of a file.
fn test_metadata(run: &TextRun<'_, '_>, test: &Test, it: &Metadata) -> bool {
    match test {
        Test::Size(comparison, unit) => comparison.holds(&it.size.div_ceil(*unit)),
        Test::Permissions(kind, for_file, for_directory) => {
            let wanted = if it.is_dir() { *for_directory } else { *for_file };
            match kind {
                PermissionMatch::Exact => it.mode == wanted,
                PermissionMatch::All => it.mode & wanted == wanted,
                PermissionMatch::Any => wanted == 0 || it.mode & wanted != 0,
            }
        }
        Test::Number(number, comparison) => comparison.holds(&match number {
            FileNumber::User => u64::from(it.uid),
            FileNumber::Group => u64::from(it.gid),
            FileNumber::Links => it.links,
            FileNumber::Inode => it.inode,
        }),
        Test::UnknownUser => Accounts::read(run.context.session()).user_name(it.uid).is_none(),
        Test::UnknownGroup => Accounts::read(run.context.session()).group_name(it.gid).is_none(),
        Test::SameFile(device, inode) => (it.device, it.inode) == (*device, *inode),
        Test::Time(time, comparison, window) => {
            let time = time_of(it, *time);
            match comparison.kind {
                ComparisonKind::Equal => {
                    let start = comparison.value;
                    let end = Timestamp { seconds: start.seconds + window, ..start };
                    start <= time && time < end
                }
                _ => comparison.holds(&time),
            }
        }
        Test::NewerThan(time, than) => time_of(it, *time) > *than,
        _ => false,
    }
}

fn time_of(metadata: &Metadata, time: FileTime) -> Timestamp {
    match time {
        FileTime::Accessed => metadata.accessed,
        FileTime::Modified => metadata.modified,
        FileTime::Changed => metadata.changed,
    }
}

fn link_target(run: &TextRun<'_, '_>, file: &FoundFile<'_>) -> Option<Vec<u8>> {
    if file.kind != FileType::Symlink {
        return None;
    }
    run.files().read_link(&run.path(file.path)).ok().map(|target| target.as_os_str().as_bytes().to_vec())
}

fn is_empty(run: &mut TextRun<'_, '_>, file: &FoundFile<'_>) -> bool {
    match file.kind {
        FileType::File => file.metadata(run).is_some_and(|metadata| metadata.size == 0),
        FileType::Directory => match run.files().read_dir(&run.path(file.path)) {
            Ok(mut entries) => entries.next().is_none(),
            Err(error) => {
                let shown = run.quote(file.path);
                run.file_failed(shown, &error);
                false
            }
        },
        _ => false,
    }
}

/// Removes a file. `.` stays.
fn delete(run: &mut TextRun<'_, '_>, file: &FoundFile<'_>) -> bool {
    if file.path == b"." {
        return true;
    }
    let path = run.path(file.path);
    let removed = match file.kind == FileType::Directory {
        true => run.files().remove_dir(&path),
        false => run.files().remove(&path),
    };
    match removed {
        Ok(()) => true,
        Err(error) => {
            let shown = run.quote(file.path);
            run.file_failed(format_args!("cannot delete {shown}"), &error);
            false
        }
    }
}

/// Replaces `{}` in the words of a command.
fn replaced(words: &[Bytes], path: &[u8]) -> Vec<Bytes> {
    let replace = |word: &Bytes| {
        let mut text = Vec::new();
        let mut start = 0;
        for at in memchr::memmem::find_iter(word, b"{}") {
            text.extend_from_slice(&word[start..at]);
            text.extend_from_slice(path);
            start = at + 2;
        }
        text.extend_from_slice(&word[start..]);
        Bytes::from(text.as_slice())
    };
    words.iter().map(replace).collect()
}

/// Whether a command, a tool or a program has this name. Files are known when they are run.
fn is_known(run: &mut TextRun<'_, '_>, name: &Bytes) -> bool {
    let session = run.context.session_mut();
    name.contains(&b'/')
        || session.has_command(name)
        || session.has_tool(name)
        || session.find_program(name).is_some()
}

/// Runs a command, and returns whether it succeeded.
fn run_command(run: &mut TextRun<'_, '_>, words: &[Bytes]) -> Result<bool, Stop> {
    run.flush()?;
    if !is_known(run, &words[0]) {
        let shown = run.quote(&words[0]);
        run.complain(format_args!("{shown}: No such file or directory"));
        return Ok(false);
    }
    let child = run.context.session_mut().fork();
    Ok(run.context.run_in_subshell(child, words)? == 0)
}
