//! Sorts and merges inputs that may be larger than memory.

use std::os::unix::ffi::OsStrExt as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use haft_fs::OpenOptions;
use haft_kernel::Bytes;
use haft_kernel::io::OpenFile;

use super::super::streams::{Stop, TextInput, TextRun};
use super::lines::{LineOrder, Lines};
use super::output::SortOutput;

/// The most memory for lines. Beyond it, sorted lines go to a temporary file.
const MAX_MEMORY: usize = 128 << 20;

/// How many lines are merged between two checks for cancellation.
const LINES_PER_CHECK: usize = 1 << 12;

/// How often a name for a temporary file is tried.
const MAX_TRIES: u32 = 100;

/// Reads inputs and writes their lines in order.
pub(super) fn sort(
    run: &mut TextRun<'_, '_>,
    inputs: Vec<TextInput>,
    end: u8,
    order: &LineOrder,
    directory: Option<&Bytes>,
    open: impl FnOnce(&mut TextRun<'_, '_>) -> Result<SortOutput, Stop>,
) -> Result<(), Stop> {
    let directory = temporary_directory(run, directory);
    let mut sorter = ExternalSorter { end, order, directory, lines: Lines::default(), spilled: Vec::new() };
    for mut input in inputs {
        sorter.read(run, &mut input)?;
    }
    if sorter.spilled.is_empty() {
        sorter.sort_lines(run)?;
        let mut output = open(run)?;
        for line in sorter.lines.iter() {
            output.line(run, line, end)?;
        }
        return output.finish(run);
    }
    sorter.spill(run)?;
    let mut output = open(run)?;
    merge(run, std::mem::take(&mut sorter.spilled), end, order, &mut output)?;
    output.finish(run)
}

struct ExternalSorter<'o> {
    end: u8,
    order: &'o LineOrder,
    /// The directory for temporary files.
    directory: PathBuf,
    lines: Lines,
    /// Temporary files of sorted lines.
    spilled: Vec<TextInput>,
}

impl ExternalSorter<'_> {
    fn read(&mut self, run: &mut TextRun<'_, '_>, input: &mut TextInput) -> Result<(), Stop> {
        let mut incomplete: Vec<u8> = Vec::new();
        loop {
            let mut piece = input.fill(run)?;
            let length = piece.len();
            if piece.is_empty() {
                break;
            }
            if let Some(newline) = memchr::memchr(self.end, piece).filter(|_| !incomplete.is_empty()) {
                incomplete.extend_from_slice(&piece[..=newline]);
                self.lines.add(run, &incomplete, self.end, self.order)?;
                incomplete.clear();
                piece = &piece[newline + 1..];
            }
            match incomplete.is_empty() {
                true => {
                    let rest = self.lines.add(run, piece, self.end, self.order)?;
                    incomplete.extend_from_slice(&piece[piece.len() - rest..]);
                }
                false => incomplete.extend_from_slice(piece),
            }
            input.consume(length);
            if self.lines.memory() + incomplete.len() > MAX_MEMORY && self.can_spill(run) {
                self.spill(run)?;
            }
        }
        if input.has_failed() {
            return Err(Stop::Exit(2));
        }
        if !incomplete.is_empty() {
            incomplete.push(self.end);
            self.lines.add(run, &incomplete, self.end, self.order)?;
        }
        Ok(())
    }

    fn sort_lines(&mut self, run: &TextRun<'_, '_>) -> Result<(), Stop> {
        self.lines.sort(run, self.order)?;
        self.lines.remove_repeated(self.order);
        Ok(())
    }

    /// Whether there are files outside of memory.
    fn can_spill(&self, run: &TextRun<'_, '_>) -> bool {
        run.files().real_path(&self.directory).is_some()
    }

    /// Writes the lines in order to a temporary file.
    fn spill(&mut self, run: &mut TextRun<'_, '_>) -> Result<(), Stop> {
        if self.lines.is_empty() {
            return Ok(());
        }
        self.sort_lines(run)?;
        let file = temporary_file(run, &self.directory)?;
        let mut output = SortOutput::to_file(Bytes::from("temporary file"), file.clone());
        for line in self.lines.iter() {
            output.line(run, line, self.end)?;
        }
        output.finish(run)?;
        self.lines = Lines::default();
        let rewound = file.descriptor().map(|it| rustix::fs::seek(it, rustix::fs::SeekFrom::Start(0)));
        match rewound {
            Some(Ok(_)) => self.spilled.push(TextInput::of_file(file, Bytes::from("temporary file"))),
            _ => return run.fail("cannot read a temporary file"),
        }
        Ok(())
    }
}

/// The directory of `-T` or `TMPDIR`.
fn temporary_directory(run: &TextRun<'_, '_>, given: Option<&Bytes>) -> PathBuf {
    let variable = run.context.value(b"TMPDIR").filter(|directory| !directory.is_empty());
    let name = given.cloned().or(variable).unwrap_or_else(|| Bytes::from("/tmp"));
    run.path(&name)
}

/// A new file without a name.
fn temporary_file(run: &mut TextRun<'_, '_>, directory: &Path) -> Result<Arc<OpenFile>, Stop> {
    static COUNTER: AtomicU64 = AtomicU64::new(0);
    let options = OpenOptions::new().read(true).write(true).create_new(true).mode(0o600);
    let mut result = Err(std::io::ErrorKind::AlreadyExists.into());
    for _ in 0..MAX_TRIES {
        let number = COUNTER.fetch_add(1, Ordering::Relaxed);
        let path = directory.join(format!("sort{:x}.{number:x}", std::process::id()));
        result = open_unnamed(run, &path, &options);
        if !result.as_ref().is_err_and(|error| error.kind() == std::io::ErrorKind::AlreadyExists) {
            break;
        }
    }
    result.or_else(|error| {
        let (shown, reason) = (run.quote(directory.as_os_str().as_bytes()), haft_fs::message(&error));
        run.fail(format_args!("cannot create temporary file in {shown}: {reason}"))
    })
}

fn open_unnamed(run: &TextRun<'_, '_>, path: &Path, options: &OpenOptions) -> std::io::Result<Arc<OpenFile>> {
    let file = run.files().open(path, options)?;
    run.files().remove(path)?;
    Ok(Arc::new(OpenFile::opened(file)))
}

/// An input that is merged, with its next line.
struct MergeInput {
    input: TextInput,
    line: Vec<u8>,
    prefix: u128,
}

impl MergeInput {
    /// Reads the next line. Returns whether there is one.
    fn advance(&mut self, run: &mut TextRun<'_, '_>, end: u8, order: &LineOrder) -> Result<bool, Stop> {
        if !self.input.read_line(run, end, &mut self.line)? {
            return if self.input.has_failed() { Err(Stop::Exit(2)) } else { Ok(false) };
        }
        if self.line.last() == Some(&end) {
            self.line.pop();
        }
        order.accept(run, &self.line)?;
        self.prefix = order.prefix(&self.line);
        Ok(true)
    }
}

/// Merges inputs, each of which is sorted. Of the next lines of all inputs, the smallest is written.
pub(super) fn merge(
    run: &mut TextRun<'_, '_>,
    inputs: Vec<TextInput>,
    end: u8,
    order: &LineOrder,
    output: &mut SortOutput,
) -> Result<(), Stop> {
    let mut waiting: Vec<MergeInput> = Vec::with_capacity(inputs.len());
    let mut heads: Vec<usize> = Vec::new();
    for input in inputs {
        let mut next = MergeInput { input, line: Vec::new(), prefix: 0 };
        let has_line = next.advance(run, end, order)?;
        waiting.push(next);
        if has_line {
            insert(&mut heads, &waiting, waiting.len() - 1, order);
        }
    }
    let (mut last, mut count): (Option<Vec<u8>>, usize) = (None, 0);
    // The smallest is at the end.
    while let Some(index) = heads.pop() {
        count += 1;
        if count % LINES_PER_CHECK == 0 {
            run.context.check()?;
        }
        let line = &waiting[index].line;
        if !(order.unique && last.as_ref().is_some_and(|last| order.compare(last, line).is_eq())) {
            output.line(run, line, end)?;
            if order.unique {
                last.get_or_insert_default().clone_from(line);
            }
        }
        if waiting[index].advance(run, end, order)? {
            insert(&mut heads, &waiting, index, order);
        }
    }
    Ok(())
}

/// Adds an input to those that have a line, the largest first. Of equal lines, that of the first input is smaller.
fn insert(heads: &mut Vec<usize>, inputs: &[MergeInput], index: usize, order: &LineOrder) {
    let new = &inputs[index];
    let at = heads.partition_point(|&other| {
        let known = &inputs[other];
        let found = known.prefix.cmp(&new.prefix).then_with(|| order.compare(&known.line, &new.line));
        found.then(other.cmp(&index)).is_gt()
    });
    heads.insert(at, index);
}
