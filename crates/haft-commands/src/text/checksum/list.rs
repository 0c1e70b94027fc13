//! Checks the checksums in a file.

use std::io;

use haft_kernel::Bytes;

use super::super::name::quoted;
use super::super::streams::{Stop, TextInput, TextRun, Wording};
use super::{Algorithm, escape, report_mode};
use crate::arguments::CommandArguments;

/// The options of `-c`.
struct CheckOptions<'a> {
    algorithm: &'a Algorithm,
    ignore_missing: bool,
    quiet: bool,
    status: bool,
    warn: bool,
    strict: bool,
}

/// Whether lines have one blank before the name, as BSD's `md5 -r` writes them. The first line decides.
#[derive(Clone, Copy, Default, PartialEq, Eq)]
enum LineFormat {
    #[default]
    Unknown,
    Standard,
    Reversed,
}

/// The result of checking a list.
#[derive(Default)]
struct ListCounts {
    formatted: u64,
    misformatted: u64,
    mismatched: u64,
    unreadable: u64,
    has_match: bool,
}

/// Checks all lists.
pub(super) fn check_lists(
    run: &mut TextRun<'_, '_>,
    arguments: &CommandArguments,
    algorithm: &Algorithm,
    names: &[Bytes],
) -> Result<(), Stop> {
    let report = report_mode(arguments);
    let options = CheckOptions {
        algorithm,
        ignore_missing: arguments.flag("ignore-missing"),
        quiet: report == Some("quiet"),
        status: report == Some("status"),
        warn: report == Some("warn"),
        strict: arguments.flag("strict"),
    };
    let mut format = LineFormat::default();
    for name in names {
        let Some(input) = run.open(name)? else { continue };
        if !options.check_list(run, input.worded(Wording::ChecksumList), &mut format)? {
            run.set_status(1);
        }
    }
    Ok(())
}

impl CheckOptions<'_> {
    /// Checks a list. Returns whether all is well.
    fn check_list(
        &self,
        run: &mut TextRun<'_, '_>,
        mut input: TextInput,
        format: &mut LineFormat,
    ) -> Result<bool, Stop> {
        let is_standard = input.name == "-";
        let shown = quoted(if is_standard { b"standard input" } else { &input.name });
        let (mut counts, mut line, mut number) = (ListCounts::default(), Vec::new(), 0u64);
        while input.read_line(run, b'\n', &mut line)? {
            number += 1;
            let content = line.strip_suffix(b"\n").unwrap_or(&line);
            let content = content.strip_suffix(b"\r").unwrap_or(content);
            if content.is_empty() || content.starts_with(b"#") {
                continue;
            }
            match parse_line(content, self.algorithm, format)
                .filter(|(_, name)| !(is_standard && name == b"-"))
            {
                Some((sum, name)) => {
                    counts.formatted += 1;
                    self.check_file(run, &Bytes::from(name), &sum, &mut counts)?;
                }
                None => {
                    counts.misformatted += 1;
                    if self.warn {
                        let tag = self.algorithm.tag;
                        run.complain(format_args!(
                            "{shown}: {number}: improperly formatted {tag} checksum line"
                        ));
                    }
                }
            }
        }
        if input.has_failed() {
            return Ok(false);
        }
        if counts.formatted == 0 {
            run.complain(format_args!("{shown}: no properly formatted checksum lines found"));
            return Ok(false);
        }
        if !self.status {
            self.warn_of(run, &counts, &shown);
        }
        let is_good = counts.has_match && counts.mismatched == 0 && counts.unreadable == 0;
        Ok(is_good && (!self.strict || counts.misformatted == 0))
    }

    fn warn_of(&self, run: &mut TextRun<'_, '_>, counts: &ListCounts, shown: &str) {
        let warnings = [
            (counts.misformatted, "line is improperly formatted", "lines are improperly formatted"),
            (counts.unreadable, "listed file could not be read", "listed files could not be read"),
            (counts.mismatched, "computed checksum did NOT match", "computed checksums did NOT match"),
        ];
        for (count, one, several) in warnings {
            match count {
                0 => {}
                1 => run.complain(format_args!("WARNING: 1 {one}")),
                _ => run.complain(format_args!("WARNING: {count} {several}")),
            }
        }
        if self.ignore_missing && !counts.has_match {
            run.complain(format_args!("{shown}: no file was verified"));
        }
    }

    /// Checks a file of the list.
    fn check_file(
        &self,
        run: &mut TextRun<'_, '_>,
        name: &Bytes,
        expected: &[u8],
        counts: &mut ListCounts,
    ) -> Result<(), Stop> {
        let opened = match *name == "-" {
            true => Ok(run.standard_input()),
            false => run.try_open(name)?,
        };
        let sum = match opened {
            Ok(mut input) => {
                let sum = (self.algorithm.hash)(run, &mut input)?;
                (!input.has_failed()).then_some(sum)
            }
            Err(error) if self.ignore_missing && error.kind() == io::ErrorKind::NotFound => return Ok(()),
            Err(error) => {
                run.file_failed(quoted(name), &error);
                None
            }
        };
        let result = match sum {
            None => {
                counts.unreadable += 1;
                "FAILED open or read"
            }
            Some(sum) if sum.as_bytes().eq_ignore_ascii_case(expected) => {
                counts.has_match = true;
                "OK"
            }
            Some(_) => {
                counts.mismatched += 1;
                "FAILED"
            }
        };
        if self.status || (self.quiet && result == "OK") {
            return Ok(());
        }
        let shown = match name.contains(&b'\n') {
            true => [b"\\".as_slice(), &escape(name)].concat(),
            false => name.to_vec(),
        };
        run.write(&[shown.as_slice(), b": ", result.as_bytes(), b"\n"].concat())
    }
}

fn is_white(byte: u8) -> bool {
    byte == b' ' || byte == b'\t'
}

fn skip_white(text: &[u8]) -> &[u8] {
    &text[text.iter().take_while(|byte| is_white(**byte)).count()..]
}

fn is_checksum(text: &[u8], algorithm: &Algorithm) -> bool {
    text.len() == algorithm.digits && text.iter().all(u8::is_ascii_hexdigit)
}

/// Splits a line into checksum and name.
fn parse_line(line: &[u8], algorithm: &Algorithm, format: &mut LineFormat) -> Option<(Vec<u8>, Vec<u8>)> {
    let text = skip_white(line);
    let (is_escaped, text) = match text.strip_prefix(b"\\") {
        Some(text) => (true, text),
        None => (false, text),
    };
    let name_of = |name: &[u8]| if is_escaped { unescape(name) } else { Some(until_nul(name).to_vec()) };
    if let Some(rest) = text.strip_prefix(algorithm.tag.as_bytes()) {
        let rest = rest.strip_prefix(b" ").unwrap_or(rest).strip_prefix(b"(")?;
        let end = rest.iter().rposition(|byte| *byte == b')')?;
        let sum = skip_white(skip_white(&rest[end + 1..]).strip_prefix(b"=")?);
        let name = name_of(&rest[..end])?;
        return is_checksum(sum, algorithm).then(|| (sum.to_vec(), name));
    }
    // A checksum, a blank and a name.
    if text.len() < algorithm.digits + 2 {
        return None;
    }
    let (sum, rest) = text.split_at(algorithm.digits);
    let rest = rest.split_first().filter(|(byte, _)| is_white(**byte))?.1;
    if !is_checksum(sum, algorithm) {
        return None;
    }
    let has_mark = rest.len() > 1 && matches!(rest[0], b' ' | b'*');
    let name = match (has_mark, *format) {
        (false, LineFormat::Standard) => return None,
        (false, _) => {
            *format = LineFormat::Reversed;
            rest
        }
        (true, LineFormat::Reversed) => rest,
        (true, _) => {
            *format = LineFormat::Standard;
            &rest[1..]
        }
    };
    Some((sum.to_vec(), name_of(name)?))
}

/// A name ends at a NUL byte.
fn until_nul(name: &[u8]) -> &[u8] {
    &name[..memchr::memchr(0, name).unwrap_or(name.len())]
}

/// Reverses [`escape`]. Returns `None` if an escape is invalid.
fn unescape(name: &[u8]) -> Option<Vec<u8>> {
    let mut text = Vec::with_capacity(name.len());
    let mut bytes = name.iter();
    while let Some(byte) = bytes.next() {
        text.push(match byte {
            b'\\' => match bytes.next()? {
                b'n' => b'\n',
                b'r' => b'\r',
                b'\\' => b'\\',
                _ => return None,
            },
            0 => return None,
            _ => *byte,
        });
    }
    Some(text)
}
