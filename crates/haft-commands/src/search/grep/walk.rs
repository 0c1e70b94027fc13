//! Searches files and directories.

use std::collections::VecDeque;
use std::ffi::OsStr;
use std::io;
use std::os::unix::ffi::OsStrExt as _;
use std::path::PathBuf;

use haft_fs::{FileType, Metadata};
use haft_kernel::Bytes;
use haft_text::regex::gnu::GnuRegex;

use super::super::fts_order::in_fts_order;
use super::line_reader::LineReader;
use super::printer::{GrepLine, LinePrinter};
use super::settings::{BinaryFiles, DirectoryAction, FileListing, GrepSettings};
use super::{complain, file_failed};
use crate::text::streams::{Stop, TextInput, TextRun, Wording};

/// The most directories within each other.
const MAX_DEPTH: usize = 1000;

/// A search of all operands.
pub(super) struct GrepSearch {
    pub(super) settings: GrepSettings,
    /// Whether a line of any file was written.
    has_written: bool,
}

/// The result for a file or a directory.
#[derive(Clone, Copy, Default)]
pub(super) struct GrepFinding {
    pub(super) is_selected: bool,
    pub(super) has_failed: bool,
}

impl GrepFinding {
    const FAILED: Self = Self { is_selected: false, has_failed: true };

    fn join(&mut self, other: Self) {
        self.is_selected |= other.is_selected;
        self.has_failed |= other.has_failed;
    }
}

/// A file to search.
struct GrepFile<'a> {
    name: &'a [u8],
    shows_name: bool,
    metadata: Option<Metadata>,
}

impl GrepSearch {
    pub(super) fn new(settings: GrepSettings) -> Self {
        Self { settings, has_written: false }
    }

    /// Searches an operand: a file, a directory, or `-` for standard input.
    pub(super) fn operand(&mut self, run: &mut TextRun<'_, '_>, name: &Bytes) -> Result<GrepFinding, Stop> {
        let shows_name = self.settings.print.names.unwrap_or(false);
        if *name == "-" {
            let label = self.settings.label.clone();
            let metadata = run.context.file(0).and_then(|file| file.metadata().ok());
            let file = GrepFile { name: &label, shows_name, metadata };
            let input = run.standard_input();
            return self.open_file(run, &file, input);
        }
        let found = match name.is_empty() {
            true => Err(io::Error::from_raw_os_error(rustix::io::Errno::NOENT.raw_os_error())),
            false => run.context.session().files().metadata(&absolute(run, name)),
        };
        let metadata = match found {
            Ok(metadata) => metadata,
            Err(error) => {
                file_failed(run, &self.settings, name, &haft_fs::message(&error));
                return Ok(GrepFinding::FAILED);
            }
        };
        let is_directory = metadata.is_dir();
        let is_default = !self.settings.has_operands;
        if is_device(metadata.kind) && self.settings.reads_devices == Some(false)
            || !(is_directory && is_default) && self.settings.filter.skips(name, is_directory, true)
        {
            return Ok(GrepFinding::default());
        }
        match (is_directory, self.settings.directories) {
            (true, DirectoryAction::Skip) => Ok(GrepFinding::default()),
            (true, DirectoryAction::Recurse) => {
                let prefix = if is_default { Vec::new() } else { directory_prefix(name) };
                self.directory(run, name, &prefix, &mut vec![metadata])
            }
            _ => self.named_file(run, name, shows_name),
        }
    }

    fn named_file(
        &mut self,
        run: &mut TextRun<'_, '_>,
        name: &[u8],
        shows_name: bool,
    ) -> Result<GrepFinding, Stop> {
        match run.try_open(&Bytes::from(name))? {
            Ok(input) => {
                let path = absolute(run, name);
                let metadata = run.context.session().files().metadata(&path).ok();
                self.open_file(run, &GrepFile { name, shows_name, metadata }, input)
            }
            Err(error) => {
                file_failed(run, &self.settings, name, &haft_fs::message(&error));
                Ok(GrepFinding::FAILED)
            }
        }
    }

    /// Searches the files of a directory. `prefix` is what their names start with, `parents` are the directories around them.
    fn directory(
        &mut self,
        run: &mut TextRun<'_, '_>,
        name: &[u8],
        prefix: &[u8],
        parents: &mut Vec<Metadata>,
    ) -> Result<GrepFinding, Stop> {
        let path = absolute(run, name);
        let files = run.context.session().files();
        let entries = match files.read_dir(&path) {
            Ok(entries) => in_fts_order(files, &path, entries),
            Err(error) => {
                file_failed(run, &self.settings, name, &haft_fs::message(&error));
                return Ok(GrepFinding::FAILED);
            }
        };
        let mut finding = GrepFinding::default();
        for entry in entries {
            run.context.check()?;
            match entry {
                Ok(entry) => {
                    let path = [prefix, entry.name.as_bytes()].concat();
                    finding.join(self.entry(run, entry.name.as_bytes(), &path, parents)?);
                }
                Err(error) => {
                    file_failed(run, &self.settings, name, &haft_fs::message(&error));
                    finding.has_failed = true;
                }
            }
            if finding.is_selected && self.settings.is_quiet {
                break;
            }
        }
        Ok(finding)
    }

    fn entry(
        &mut self,
        run: &mut TextRun<'_, '_>,
        base_name: &[u8],
        path: &[u8],
        parents: &mut Vec<Metadata>,
    ) -> Result<GrepFinding, Stop> {
        let absolute = absolute(run, path);
        let files = run.context.session().files();
        let metadata = match self.settings.follows_links {
            true => files.metadata(&absolute).or_else(|_| files.symlink_metadata(&absolute)),
            false => files.symlink_metadata(&absolute),
        };
        let metadata = match metadata {
            Ok(metadata) => metadata,
            Err(error) => {
                file_failed(run, &self.settings, path, &haft_fs::message(&error));
                return Ok(GrepFinding::FAILED);
            }
        };
        let is_skipped = self.settings.filter.skips(base_name, metadata.is_dir(), false);
        match metadata.kind {
            _ if is_skipped => Ok(GrepFinding::default()),
            FileType::Directory => self.subdirectory(run, path, metadata, parents),
            FileType::Symlink if !self.settings.follows_links => Ok(GrepFinding::default()),
            kind if is_device(kind) && self.settings.reads_devices != Some(true) => {
                Ok(GrepFinding::default())
            }
            _ => self.named_file(run, path, self.settings.print.names.unwrap_or(true)),
        }
    }

    fn subdirectory(
        &mut self,
        run: &mut TextRun<'_, '_>,
        path: &[u8],
        metadata: Metadata,
        parents: &mut Vec<Metadata>,
    ) -> Result<GrepFinding, Stop> {
        let is_loop = parents.iter().any(|parent| parent.same_file(&metadata));
        if is_loop || parents.len() >= MAX_DEPTH {
            if !self.settings.is_silent {
                complain(run, &[path, b": warning: recursive directory loop"].concat());
            }
            return Ok(GrepFinding::default());
        }
        parents.push(metadata);
        let finding = self.directory(run, path, &[path, b"/"].concat(), parents);
        parents.pop();
        finding
    }

    /// Searches an open file.
    fn open_file(
        &mut self,
        run: &mut TextRun<'_, '_>,
        file: &GrepFile<'_>,
        input: TextInput,
    ) -> Result<GrepFinding, Stop> {
        if self.is_output(run, file) {
            file_failed(run, &self.settings, file.name, "input file is also the output");
            return Ok(GrepFinding::FAILED);
        }
        let wording = if self.settings.is_silent { Wording::Silent } else { Wording::Grep };
        let input = input.named(file.name).worded(wording);
        let size = file.metadata.filter(Metadata::is_file).map(|metadata| metadata.size);
        let printer = LinePrinter::new(&self.settings, file.name, file.shows_name, size);
        let mut search = FileSearch::new(printer, self.has_written);
        let seeks_nul = self.settings.end != 0 && self.settings.binary != BinaryFiles::Text;
        let mut reader = LineReader::new(input, self.settings.end, seeks_nul);
        let count = search.run(run, &mut reader)?;
        let is_binary = search.is_binary;
        let has_written = search.has_written;
        let printer = search.printer;
        let is_quiet = self.settings.is_count || self.settings.stops_at_first();
        if is_binary && !is_quiet && self.settings.binary == BinaryFiles::Binary {
            run.flush()?;
            complain(run, &[file.name, b": binary file matches"].concat());
        }
        if self.settings.is_count && !self.settings.stops_at_first() {
            printer.count(run, count)?;
        }
        let listed = if count > 0 { FileListing::Matching } else { FileListing::WithoutMatch };
        if self.settings.listing == listed && !self.settings.is_quiet {
            printer.only_name(run)?;
        }
        self.has_written = has_written;
        Ok(GrepFinding { is_selected: count > 0, has_failed: reader.has_failed() })
    }

    /// Whether a file is also the output, so that the search might never end.
    fn is_output(&self, run: &TextRun<'_, '_>, file: &GrepFile<'_>) -> bool {
        let settings = &self.settings;
        if settings.is_count || settings.stops_at_first() || settings.max_count.is_some_and(|max| max <= 1) {
            return false;
        }
        let output = run.context.file(1).and_then(|file| file.metadata().ok());
        match (file.metadata, output) {
            (Some(input), Some(output)) => input.is_file() && output.is_file() && input.same_file(&output),
            _ => false,
        }
    }
}

/// The absolute path of a name.
fn absolute(run: &TextRun<'_, '_>, name: &[u8]) -> PathBuf {
    PathBuf::from(OsStr::from_bytes(&run.context.session().resolve(name)))
}

/// The prefix of the names of files in a directory.
fn directory_prefix(name: &[u8]) -> Vec<u8> {
    if name.ends_with(b"/") { name.to_vec() } else { [name, b"/"].concat() }
}

fn is_device(kind: FileType) -> bool {
    matches!(kind, FileType::CharacterDevice | FileType::BlockDevice | FileType::Fifo | FileType::Socket)
}

/// The search of one file.
struct FileSearch<'a> {
    printer: LinePrinter<'a>,
    /// Lines that may become context before a match.
    before: VecDeque<GrepLine>,
    /// How many lines of context are still to be written.
    pending: u64,
    /// The number of the last line that was written.
    last_written: u64,
    has_written: bool,
    is_quiet: bool,
    stops_at_first: bool,
    /// Whether a selected line is binary data.
    is_binary: bool,
}

impl<'a> FileSearch<'a> {
    fn new(printer: LinePrinter<'a>, has_written: bool) -> Self {
        let stops_at_first = printer.settings.stops_at_first();
        Self {
            is_quiet: printer.settings.is_count || stops_at_first,
            printer,
            before: VecDeque::new(),
            pending: 0,
            last_written: 0,
            has_written,
            stops_at_first,
            is_binary: false,
        }
    }

    /// Searches all lines. Returns the number of selected ones.
    fn run(&mut self, run: &mut TextRun<'_, '_>, reader: &mut LineReader) -> Result<u64, Stop> {
        let settings = self.printer.settings;
        let mut left = settings.max_count.unwrap_or(u64::MAX);
        let (mut count, mut before_nul) = (0, None);
        let mut line = GrepLine { text: Vec::new(), number: 0, offset: 0 };
        let lines = self.line_matcher();
        while left > 0 {
            let is_known = match lines {
                Some(regex) => reader.skip_to_match(run, regex, &mut line, settings.print.number)?,
                None => false,
            };
            if !reader.next(run, &mut line.text)? {
                break;
            }
            line.number += 1;
            if reader.has_nul && before_nul.is_none() {
                if settings.binary == BinaryFiles::WithoutMatch {
                    return Ok(0);
                }
                before_nul = Some(count);
                let is_count = settings.is_count && !settings.stops_at_first();
                (self.is_quiet, self.stops_at_first) = (true, self.stops_at_first || !is_count);
            }
            if is_known || self.is_selected(run, &line.text)? {
                count += 1;
                left -= 1;
                self.selected(run, &line)?;
                if self.stops_at_first {
                    break;
                }
            } else {
                self.unselected(run, &line)?;
            }
            line.offset += line.text.len() as u64 + 1;
        }
        if left == 0 {
            self.rest(run, reader, &mut line)?;
        }
        self.is_binary |= before_nul.is_some_and(|before| before < count);
        Ok(count)
    }

    /// The expression, if lines that it does not match need not be looked at one by one.
    fn line_matcher(&self) -> Option<&'a GnuRegex> {
        let settings = self.printer.settings;
        let needs_lines =
            settings.is_inverted || settings.end != b'\n' || settings.print.has_context() && !self.is_quiet;
        settings.matcher.as_deref().filter(|regex| !needs_lines && regex.searches_lines())
    }

    fn is_selected(&self, run: &mut TextRun<'_, '_>, text: &[u8]) -> Result<bool, Stop> {
        let settings = self.printer.settings;
        let is_match = match &settings.matcher {
            Some(matcher) => matcher.is_match(text).or_else(|error| run.fail(error))?,
            None => false,
        };
        Ok(is_match != settings.is_inverted)
    }

    /// Writes a selected line with the context before it.
    fn selected(&mut self, run: &mut TextRun<'_, '_>, line: &GrepLine) -> Result<(), Stop> {
        if self.is_quiet {
            self.has_written = true;
            return Ok(());
        }
        let first = self.before.front().map_or(line.number, |line| line.number);
        let has_gap = self.last_written == 0 || first != self.last_written + 1;
        if self.printer.settings.print.has_context() && self.has_written && has_gap {
            self.printer.group_separator(run)?;
        }
        for line in std::mem::take(&mut self.before) {
            self.write(run, &line, false)?;
        }
        if !self.write(run, line, true)? {
            self.remember(line);
        }
        self.has_written = true;
        self.pending = self.printer.settings.print.after().unwrap_or(0);
        Ok(())
    }

    /// Writes a line as context, or keeps it for later.
    fn unselected(&mut self, run: &mut TextRun<'_, '_>, line: &GrepLine) -> Result<(), Stop> {
        if self.is_quiet {
            return Ok(());
        }
        if self.pending > 0 {
            self.pending -= 1;
            if self.write(run, line, false)? {
                return Ok(());
            }
            self.pending = 0;
        }
        self.remember(line);
        Ok(())
    }

    /// Keeps a line that may become context before a match.
    fn remember(&mut self, line: &GrepLine) {
        let limit = self.printer.settings.print.before().unwrap_or(0);
        if limit > 0 {
            if self.before.len() as u64 >= limit {
                self.before.pop_front();
            }
            self.before.push_back(line.clone());
        }
    }

    /// Writes a line. Returns `false` if it is not text, and was not written.
    fn write(&mut self, run: &mut TextRun<'_, '_>, line: &GrepLine, is_selected: bool) -> Result<bool, Stop> {
        if self.is_quiet {
            return Ok(true);
        }
        let is_text = self.printer.line(run, line, is_selected)?;
        match is_text {
            true => self.last_written = line.number,
            false => self.is_binary = true,
        }
        Ok(is_text)
    }

    /// Writes the context after the last line that `-m` allows. The next reader starts before this context.
    fn rest(
        &mut self,
        run: &mut TextRun<'_, '_>,
        reader: &mut LineReader,
        line: &mut GrepLine,
    ) -> Result<(), Stop> {
        let selected_end = reader.consumed;
        while self.pending > 0 && !self.is_quiet && reader.next(run, &mut line.text)? {
            line.number += 1;
            self.pending -= 1;
            if !self.write(run, line, false)? {
                break;
            }
            line.offset += line.text.len() as u64 + 1;
        }
        reader.give_back(selected_end);
        Ok(())
    }
}
