//! Compares files and directories.

use std::collections::BTreeSet;
use std::io;
use std::os::unix::ffi::OsStrExt as _;
use std::time::{SystemTime, UNIX_EPOCH};

use haft_fs::{FileType, Metadata};
use haft_kernel::Bytes;
use haft_text::printf::strftime;

use super::hunks::{LineChange, changes};
use super::lines::{Whitespace, lines};
use super::output::{DiffText, write};
use super::{DiffSettings, DiffStyle, TROUBLE};
use crate::rows::JsonCell;
use crate::text::name::quoted;
use crate::text::streams::{Stop, TextRun};

/// The part of a file that decides whether it is binary.
const CHECKED_BYTES: usize = 4096;

/// The deepest directory that is compared.
const MAX_DEPTH: usize = 500;

/// An operand with its metadata.
struct DiffOperand {
    name: Bytes,
    /// The name in messages: the label, if there is one.
    shown: Bytes,
    /// `None` if it does not exist, and counts as empty.
    metadata: Option<Metadata>,
}

impl DiffOperand {
    fn is_directory(&self) -> bool {
        self.metadata.is_some_and(|metadata| metadata.is_dir())
    }
}

impl DiffSettings {
    /// Compares the operands and returns the exit status.
    pub(super) fn compare_operands(
        &self,
        run: &mut TextRun<'_, '_>,
        first: &Bytes,
        second: &Bytes,
    ) -> Result<i32, Stop> {
        let mut names = [first.clone(), second.clone()];
        let is_directory = [self.is_directory(run, first), self.is_directory(run, second)];
        if let Some(at) = [0, 1].into_iter().find(|at| is_directory[*at] && !is_directory[1 - at]) {
            if names[1 - at] == "-" {
                run.complain("cannot compare '-' to a directory");
                return Ok(TROUBLE);
            }
            let start = memchr::memrchr(b'/', &names[1 - at]).map_or(0, |slash| slash + 1);
            names[at] = joined(&names[at], &names[1 - at][start..]);
            // `-N` does not hold for these names.
            for name in [&names[1 - at], &names[at]] {
                let session = run.context.session();
                if let Err(error) = session.files().metadata(haft_text::path(&session.resolve(name))) {
                    run.complain(format_args!("{}: {}", quoted(name), haft_fs::message(&error)));
                    return Ok(TROUBLE);
                }
            }
        }
        self.compare_names(run, names, 0)
    }

    fn is_directory(&self, run: &TextRun<'_, '_>, name: &Bytes) -> bool {
        let session = run.context.session();
        *name != "-" && session.files().is_dir(haft_text::path(&session.resolve(name)))
    }

    fn operand(&self, run: &TextRun<'_, '_>, name: Bytes, index: usize) -> io::Result<DiffOperand> {
        let shown = self.labels.get(index).unwrap_or(&name).clone();
        let session = run.context.session();
        let metadata = match name == "-" {
            true => run
                .context
                .file(0)
                .map_or_else(|| Err(io::ErrorKind::NotFound.into()), |file| file.metadata()),
            false => session.files().metadata(haft_text::path(&session.resolve(&name))),
        };
        match metadata {
            Ok(metadata) => Ok(DiffOperand { name, shown, metadata: Some(metadata) }),
            Err(error) if error.kind() == io::ErrorKind::NotFound && self.takes_new => {
                Ok(DiffOperand { name, shown, metadata: None })
            }
            Err(error) => Err(error),
        }
    }

    fn compare_names(&self, run: &mut TextRun<'_, '_>, names: [Bytes; 2], depth: usize) -> Result<i32, Stop> {
        let mut operands = Vec::new();
        let mut is_missing = false;
        for (index, name) in names.into_iter().enumerate() {
            match self.operand(run, name.clone(), index) {
                Ok(operand) => operands.push(operand),
                Err(error) => {
                    run.flush()?;
                    run.complain(format_args!("{}: {}", quoted(&name), haft_fs::message(&error)));
                    is_missing = true;
                }
            }
        }
        let (Some(second), Some(first)) = (operands.pop(), operands.pop()) else { return Ok(TROUBLE) };
        if is_missing || first.metadata.is_none() && second.metadata.is_none() {
            if !is_missing {
                run.complain(format_args!("{}: No such file or directory", quoted(&first.name)));
            }
            return Ok(TROUBLE);
        }
        self.compare_pair(run, &first, &second, depth)
    }

    fn compare_pair(
        &self,
        run: &mut TextRun<'_, '_>,
        first: &DiffOperand,
        second: &DiffOperand,
        depth: usize,
    ) -> Result<i32, Stop> {
        run.context.check()?;
        let identity = |operand: &DiffOperand| operand.metadata.map(|found| (found.device, found.inode));
        if identity(first) == identity(second) {
            return if first.is_directory() { Ok(0) } else { self.report_identical(run, first, second) };
        }
        let directories = [first, second].map(|operand| operand.is_directory() || operand.metadata.is_none());
        if directories == [true, true] && (first.is_directory() || second.is_directory()) {
            if depth > 0 && !self.is_recursive {
                run.write(format!("Common subdirectories: {} and {}\n", first.name, second.name).as_bytes())?;
                return Ok(0);
            }
            return self.compare_directories(run, first, second, depth);
        }
        if first.is_directory() != second.is_directory() {
            let (one, two) = (kind(first), kind(second));
            let text = format!("File {} is a {one} while file {} is a {two}\n", first.shown, second.shown);
            run.write(text.as_bytes())?;
            return Ok(1);
        }
        self.compare_files(run, first, second, depth)
    }

    fn compare_directories(
        &self,
        run: &mut TextRun<'_, '_>,
        first: &DiffOperand,
        second: &DiffOperand,
        depth: usize,
    ) -> Result<i32, Stop> {
        if depth > MAX_DEPTH {
            run.complain(format_args!("{}: directories are too deep", first.name));
            return Ok(TROUBLE);
        }
        let mut status = 0;
        let mut entries = Vec::new();
        for operand in [first, second] {
            match entry_names(run, operand) {
                Ok(names) => entries.push(names),
                Err(error) => {
                    run.complain(format_args!("{}: {}", quoted(&operand.name), haft_fs::message(&error)));
                    status = TROUBLE;
                    entries.push(BTreeSet::new());
                }
            }
        }
        let all: BTreeSet<Bytes> = entries.iter().flatten().cloned().collect();
        for name in all {
            let present = [entries[0].contains(&name), entries[1].contains(&name)];
            if present != [true, true] && !self.takes_new {
                let directory = if present[0] { &first.name } else { &second.name };
                run.write(&[b"Only in ", directory.as_bytes(), b": ", &name, b"\n"].concat())?;
                status = status.max(1);
                continue;
            }
            let names = [joined(&first.name, &name), joined(&second.name, &name)];
            status = status.max(self.compare_names(run, names, depth + 1)?);
        }
        Ok(status)
    }

    fn compare_files(
        &self,
        run: &mut TextRun<'_, '_>,
        first: &DiffOperand,
        second: &DiffOperand,
        depth: usize,
    ) -> Result<i32, Stop> {
        let (Some(one), Some(two)) = (read(run, first)?, read(run, second)?) else { return Ok(TROUBLE) };
        let differs = |run: &mut TextRun<'_, '_>, word: &str| {
            run.row(|| {
                let names = [first, second].map(|operand| JsonCell::from(&operand.shown[..]));
                names.into_iter().chain(std::iter::repeat_n(JsonCell::Null, 4)).collect()
            });
            run.write(format!("{word} {} and {} differ\n", first.shown, second.shown).as_bytes())?;
            Ok(1)
        };
        let ignores =
            self.ignores_case || self.ignores_blank_lines || self.whitespace != Whitespace::Significant;
        if one == two {
            return self.report_identical(run, first, second);
        }
        let is_binary = |text: &[u8]| memchr::memchr(0, &text[..text.len().min(CHECKED_BYTES)]).is_some();
        if !self.is_text && (is_binary(&one) || is_binary(&two)) {
            return differs(run, if self.is_brief { "Files" } else { "Binary files" });
        }
        if self.is_brief && !ignores {
            return differs(run, "Files");
        }
        let split = [lines(&one), lines(&two)];
        let found = {
            let context = &*run.context;
            changes([&split[0], &split[1]], self, &|| context.check())?
        };
        if found.iter().all(|change| change.is_ignored) {
            return self.report_identical(run, first, second);
        }
        if self.is_brief {
            return differs(run, "Files");
        }
        if depth > 0 {
            let header =
                [b"diff", self.written.as_slice(), b" ", &first.shown, b" ", &second.shown, b"\n"].concat();
            run.write(&header)?;
        }
        if run.collects_rows() {
            for change in found.iter().filter(|change| !change.is_ignored) {
                run.row(|| change_cells([&first.shown, &second.shown], [&split[0], &split[1]], change));
            }
        }
        let headers = [self.header(run, first, 0), self.header(run, second, 1)];
        let text = DiffText { lines: [&split[0], &split[1]], headers };
        Ok(i32::from(write(run, &text, &found, self)?))
    }

    fn report_identical(
        &self,
        run: &mut TextRun<'_, '_>,
        first: &DiffOperand,
        second: &DiffOperand,
    ) -> Result<i32, Stop> {
        if self.reports_identical {
            run.write(format!("Files {} and {} are identical\n", first.shown, second.shown).as_bytes())?;
        }
        Ok(0)
    }

    /// The name and the time of a file, or its label.
    fn header(&self, run: &TextRun<'_, '_>, operand: &DiffOperand, index: usize) -> Vec<u8> {
        if let Some(label) = self.labels.get(index) {
            return label.to_vec();
        }
        let (seconds, nanoseconds) = match operand.metadata {
            None => (0, 0),
            Some(_) if operand.name == "-" => {
                let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
                (i64::try_from(now.as_secs()).unwrap_or(0), now.subsec_nanos())
            }
            Some(metadata) => (metadata.modified.seconds, metadata.modified.nanoseconds),
        };
        let time = run.context.session().time_zone().local_time(seconds);
        let format = match self.style {
            DiffStyle::Context if has_posix_times(run) => "%a %b %e %T %Y".to_owned(),
            _ => format!("%Y-%m-%d %H:%M:%S.{nanoseconds:09} %z"),
        };
        [quoted_header(&operand.name).as_slice(), b"\t", &strftime::format(format.as_bytes(), &time)].concat()
    }
}

/// Whether times have the form of the POSIX locale.
fn has_posix_times(run: &TextRun<'_, '_>) -> bool {
    let values =
        [b"LC_ALL".as_slice(), b"LC_TIME", b"LANG"].into_iter().filter_map(|name| run.context.value(name));
    let locale = values.into_iter().find(|value| !value.is_empty());
    locale.is_none_or(|locale| matches!(&*locale, b"C" | b"POSIX"))
}

/// A name in a header. One with unusual characters is quoted as in C.
fn quoted_header(name: &[u8]) -> Vec<u8> {
    let is_plain = |byte: &u8| !byte.is_ascii_control() && *byte != b'"' && *byte != b'\\' && *byte != b' ';
    if name.iter().all(is_plain) {
        return name.to_vec();
    }
    let mut text = b"\"".to_vec();
    for byte in name {
        match byte {
            b'\n' => text.extend_from_slice(b"\\n"),
            b'\t' => text.extend_from_slice(b"\\t"),
            b'"' | b'\\' => text.extend_from_slice(&[b'\\', *byte]),
            control if control.is_ascii_control() => {
                text.extend_from_slice(format!("\\{control:03o}").as_bytes());
            }
            other => text.push(*other),
        }
    }
    text.push(b'"');
    text
}

fn kind(operand: &DiffOperand) -> &'static str {
    match operand.metadata {
        Some(Metadata { kind: FileType::Directory, .. }) => "directory",
        Some(Metadata { kind: FileType::Fifo, .. }) => "fifo",
        Some(Metadata { kind: FileType::Socket, .. }) => "socket",
        Some(Metadata { kind: FileType::CharacterDevice, .. }) => "character special file",
        Some(Metadata { kind: FileType::BlockDevice, .. }) => "block special file",
        Some(Metadata { size: 0, .. }) => "regular empty file",
        _ => "regular file",
    }
}

fn joined(directory: &[u8], name: &[u8]) -> Bytes {
    let slash: &[u8] = if directory.ends_with(b"/") { b"" } else { b"/" };
    [directory, slash, name].concat().into()
}

fn entry_names(run: &TextRun<'_, '_>, operand: &DiffOperand) -> io::Result<BTreeSet<Bytes>> {
    if operand.metadata.is_none() {
        return Ok(BTreeSet::new());
    }
    let session = run.context.session();
    let mut names = BTreeSet::new();
    for entry in session.files().read_dir(haft_text::path(&session.resolve(&operand.name)))? {
        names.insert(Bytes::from(entry?.name.as_bytes()));
    }
    Ok(names)
}

/// The content of a file. `None` if it cannot be read, which is reported.
fn read(run: &mut TextRun<'_, '_>, operand: &DiffOperand) -> Result<Option<Vec<u8>>, Stop> {
    if operand.metadata.is_none() {
        return Ok(Some(Vec::new()));
    }
    let input = match operand.name == "-" {
        true => Ok(run.standard_input()),
        false => run.try_open(&operand.name)?,
    };
    match input {
        Ok(mut input) => {
            let content = input.read_all(run)?;
            Ok((!input.has_failed()).then_some(content))
        }
        Err(error) => {
            run.flush()?;
            run.complain(format_args!("{}: {}", quoted(&operand.name), haft_fs::message(&error)));
            Ok(None)
        }
    }
}

/// A change as cells of JSON output.
fn change_cells(names: [&[u8]; 2], lines: [&[&[u8]]; 2], change: &LineChange) -> Vec<JsonCell> {
    let texts = |file: usize, start: usize, count: usize| {
        let chosen = lines[file][start..start + count].iter();
        JsonCell::List(chosen.map(|line| line.strip_suffix(b"\n").unwrap_or(line).into()).collect())
    };
    let number = |start: usize, count: usize| JsonCell::from(start + usize::from(count > 0));
    vec![
        names[0].into(),
        names[1].into(),
        number(change.first, change.deleted),
        texts(0, change.first, change.deleted),
        number(change.second, change.inserted),
        texts(1, change.second, change.inserted),
    ]
}
