//! The fields of lines, and how `join` writes them.

use std::ops::Range;

use haft_kernel::Bytes;

use super::super::number::parse_digits;
use super::super::streams::{Stop, TextRun};

/// How a line is split into fields.
pub(super) struct FieldLayout {
    /// `None` means blanks. A newline means that the line is one field.
    pub(super) separator: Option<u8>,
    pub(super) end: u8,
}

/// A line and its fields.
#[derive(Clone, Debug)]
pub(super) struct JoinLine {
    pub(super) text: Vec<u8>,
    fields: Vec<Range<usize>>,
}

impl JoinLine {
    /// Splits a line, which does not have its end.
    pub(super) fn new(text: Vec<u8>, layout: &FieldLayout) -> Self {
        let fields = match layout.separator {
            _ if text.is_empty() => Vec::new(),
            Some(b'\n') => std::iter::once(0..text.len()).collect(),
            Some(separator) => split_at(&text, separator),
            None => split_at_blanks(&text),
        };
        Self { text, fields }
    }

    /// A field, or nothing if the line has fewer.
    pub(super) fn field(&self, index: usize) -> &[u8] {
        self.fields.get(index).map_or(b"", |range| &self.text[range.clone()])
    }

    /// The number of fields.
    pub(super) fn len(&self) -> usize {
        self.fields.len()
    }
}

fn split_at(text: &[u8], separator: u8) -> Vec<Range<usize>> {
    let mut start = 0;
    let mut fields = Vec::new();
    for position in memchr::memchr_iter(separator, text) {
        fields.push(start..position);
        start = position + 1;
    }
    fields.push(start..text.len());
    fields
}

/// Splits at blanks. Blanks at the end are followed by an empty field.
fn split_at_blanks(text: &[u8]) -> Vec<Range<usize>> {
    let is_blank = |position: usize| matches!(text.get(position), Some(b' ' | b'\t' | b'\n'));
    let skip = |mut position: usize| {
        while is_blank(position) {
            position += 1;
        }
        position
    };
    let mut fields = Vec::new();
    let mut start = skip(0);
    if start == text.len() {
        return fields;
    }
    loop {
        let mut end = start + 1;
        while end < text.len() && !is_blank(end) {
            end += 1;
        }
        fields.push(start..end);
        if end == text.len() {
            return fields;
        }
        start = skip(end);
        if start == text.len() {
            fields.push(start..start);
            return fields;
        }
    }
}

/// A field of `-o`.
#[derive(Clone, Copy, Debug)]
pub(super) enum OutputField {
    Key,
    /// A file, from 0, and a field, from 0.
    Field(usize, usize),
}

impl OutputField {
    /// Parses a list such as `0,1.2,2.3`.
    pub(super) fn parse_list(run: &mut TextRun<'_, '_>, text: &[u8]) -> Result<Vec<Self>, Stop> {
        let items = text.split(|byte| b", \t".contains(byte));
        items.map(|item| Self::parse(run, item)).collect()
    }

    fn parse(run: &mut TextRun<'_, '_>, item: &[u8]) -> Result<Self, Stop> {
        let shown = run.quote(item);
        match item {
            b"0" => Ok(Self::Key),
            [file @ (b'1' | b'2'), b'.', field @ ..] => {
                Ok(Self::Field(usize::from(file - b'1'), parse_number(run, field)?))
            }
            [b'0'..=b'2', ..] => run.fail(format_args!("invalid field specifier: {shown}")),
            _ => run.fail(format_args!("invalid file number in field spec: {shown}")),
        }
    }
}

/// Parses an unsigned number as `strtoul` does. A larger number than fits is the largest.
pub(super) fn parse_unsigned(text: &[u8]) -> Option<usize> {
    let blanks = text.iter().take_while(|byte| byte.is_ascii_whitespace() || **byte == 0x0b).count();
    let digits = text[blanks..].strip_prefix(b"+").unwrap_or(&text[blanks..]);
    let is_number = !digits.is_empty() && digits.iter().all(u8::is_ascii_digit);
    is_number.then(|| usize::try_from(parse_digits(digits)).unwrap_or(usize::MAX))
}

/// Parses the number of a field. Returns it from 0.
pub(super) fn parse_number(run: &mut TextRun<'_, '_>, text: &[u8]) -> Result<usize, Stop> {
    match parse_unsigned(text).and_then(|number| number.checked_sub(1)) {
        Some(field) => Ok(field),
        None => {
            let shown = run.quote(text);
            run.fail(format_args!("invalid field number: {shown}"))
        }
    }
}

/// How joined lines are written.
pub(super) struct JoinFormat {
    /// The key fields of both files.
    pub(super) keys: [usize; 2],
    /// The fields of `-o`. Empty means the key and all other fields.
    pub(super) fields: Vec<OutputField>,
    pub(super) filler: Bytes,
    pub(super) separator: u8,
    pub(super) end: u8,
    /// With `-o auto`, the number of fields of both files.
    pub(super) counts: Option<[usize; 2]>,
}

impl JoinFormat {
    /// Writes a line of each file. One may be missing.
    pub(super) fn write(&self, run: &mut TextRun<'_, '_>, lines: [Option<&JoinLine>; 2]) -> Result<(), Stop> {
        let key_file = usize::from(lines[0].is_none());
        let key = (key_file, self.keys[key_file]);
        let mut fields = vec![key];
        match self.fields.is_empty() {
            true => self.add_other_fields(lines, &mut fields),
            false => {
                fields = self.fields.iter().map(|field| self.place(*field, key)).collect();
            }
        }
        for (index, (file, field)) in fields.into_iter().enumerate() {
            if index > 0 {
                run.write(&[self.separator])?;
            }
            match lines[file].map_or(b"".as_slice(), |line| line.field(field)) {
                b"" => run.write(&self.filler)?,
                text => run.write(text)?,
            }
        }
        run.write(&[self.end])
    }

    fn place(&self, field: OutputField, key: (usize, usize)) -> (usize, usize) {
        match field {
            OutputField::Key => key,
            OutputField::Field(file, field) => (file, field),
        }
    }

    /// Adds all fields but the keys.
    fn add_other_fields(&self, lines: [Option<&JoinLine>; 2], fields: &mut Vec<(usize, usize)>) {
        for (file, line) in lines.iter().enumerate() {
            let count = match self.counts {
                Some(counts) => counts[file],
                None => line.map_or(0, JoinLine::len),
            };
            fields.extend((0..count).filter(|field| *field != self.keys[file]).map(|field| (file, field)));
        }
    }
}
