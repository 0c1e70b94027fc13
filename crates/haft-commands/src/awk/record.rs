//! A record and its fields.

use std::rc::Rc;

use haft_kernel::Bytes;
use haft_text::encoding::Encoding;
use haft_text::regex::gnu::GnuRegex;

use super::field_widths::{FieldWidth, split_widths};
use super::value::AwkValue;

/// How a record is split into fields.
#[derive(Clone, Debug)]
pub(super) enum FieldSplitter {
    /// At runs of blanks and newlines.
    Blanks,
    /// At a byte, and at newlines if the second says so.
    Byte(u8, bool),
    /// Into characters.
    Characters(Encoding),
    Regex(Rc<GnuRegex>),
    /// The fields are what matches the expression.
    Pattern(Rc<GnuRegex>, Encoding),
    /// The fields have these widths.
    Widths(Rc<[FieldWidth]>, Encoding),
}

/// A record, which is split as far as fields are used.
#[derive(Debug)]
pub(super) struct AwkRecord {
    text: Vec<u8>,
    /// The fields that have been found.
    ranges: Vec<(usize, usize)>,
    /// The position at which the search for the next field starts. `None` if all have been found.
    next: Option<usize>,
    /// All fields, once one of them was assigned to.
    changed: Option<Vec<AwkValue>>,
    pub(super) splitter: FieldSplitter,
}

impl Default for AwkRecord {
    fn default() -> Self {
        Self {
            text: Vec::new(),
            ranges: Vec::new(),
            next: None,
            changed: None,
            splitter: FieldSplitter::Blanks,
        }
    }
}

fn is_blank(byte: u8) -> bool {
    matches!(byte, b' ' | b'\t' | b'\n')
}

impl AwkRecord {
    /// The text of the record, as it was read or built.
    pub(super) fn text(&self) -> &[u8] {
        &self.text
    }

    /// Exchanges the text for that of a new record.
    pub(super) fn replace(&mut self, text: &mut Vec<u8>) {
        std::mem::swap(&mut self.text, text);
        self.reset();
    }

    /// Sets the text of the record.
    pub(super) fn set_text(&mut self, text: &[u8]) {
        self.text.clear();
        self.text.extend_from_slice(text);
        self.reset();
    }

    fn reset(&mut self) {
        self.ranges.clear();
        self.next = Some(0);
        self.changed = None;
    }

    /// Finds fields until there are `count`, or all.
    fn find(&mut self, count: usize) {
        while let Some(start) = self.next.filter(|_| self.ranges.len() < count) {
            self.next = match &self.splitter {
                FieldSplitter::Blanks => self.find_blank_separated(start),
                FieldSplitter::Byte(byte, with_newline) => {
                    let rest = &self.text[start.min(self.text.len())..];
                    let found = match with_newline {
                        true => memchr::memchr2(*byte, b'\n', rest),
                        false => memchr::memchr(*byte, rest),
                    };
                    if self.text.is_empty() {
                        self.next = None;
                        return;
                    }
                    self.ranges.push((start, found.map_or(self.text.len(), |at| start + at)));
                    found.map(|at| start + at + 1)
                }
                _ => {
                    self.ranges =
                        split(&self.text, &self.splitter).into_iter().map(|field| field.range).collect();
                    None
                }
            };
        }
    }

    fn find_blank_separated(&mut self, start: usize) -> Option<usize> {
        let text = &self.text;
        let begin = start + text[start..].iter().position(|byte| !is_blank(*byte))?;
        let end = text[begin..].iter().position(|byte| is_blank(*byte)).map_or(text.len(), |at| begin + at);
        self.ranges.push((begin, end));
        (end < text.len()).then_some(end)
    }

    /// The number of fields.
    pub(super) fn count(&mut self) -> usize {
        if let Some(changed) = &self.changed {
            return changed.len();
        }
        self.find(usize::MAX);
        self.ranges.len()
    }

    /// The bytes of a field that was not assigned to. `None` if it was, and empty if it does not exist.
    pub(super) fn slice(&mut self, index: usize) -> Option<&[u8]> {
        if self.changed.is_some() {
            return if index == 0 { Some(&self.text) } else { None };
        }
        if index == 0 {
            return Some(&self.text);
        }
        self.find(index);
        Some(self.ranges.get(index - 1).map_or(&[], |(start, end)| &self.text[*start..*end]))
    }

    /// The value of a field.
    pub(super) fn value(&mut self, index: usize) -> AwkValue {
        if let Some(changed) = self.changed.as_ref().filter(|_| index > 0) {
            return changed.get(index - 1).cloned().unwrap_or_else(|| AwkValue::Input(Bytes::new()));
        }
        // A field that does not exist is an empty text from input.
        AwkValue::Input(self.slice(index).unwrap_or_default().into())
    }

    /// All fields as values, to be changed.
    fn changed(&mut self) -> &mut Vec<AwkValue> {
        if self.changed.is_none() {
            self.find(usize::MAX);
            let value = |range: &(usize, usize)| AwkValue::Input(Bytes::from(&self.text[range.0..range.1]));
            self.changed = Some(self.ranges.iter().map(value).collect());
        }
        self.changed.get_or_insert_default()
    }

    /// Sets a field from 1 on, and builds the record again.
    pub(super) fn set_field(&mut self, index: usize, value: AwkValue, separator: &[u8], convfmt: &[u8]) {
        let fields = self.changed();
        if fields.len() < index {
            fields.resize(index, AwkValue::Unset);
        }
        fields[index - 1] = value;
        self.build(separator, convfmt);
    }

    /// Sets the number of fields, and builds the record again.
    pub(super) fn set_count(&mut self, count: usize, separator: &[u8], convfmt: &[u8]) {
        self.changed().resize(count, AwkValue::Unset);
        self.build(separator, convfmt);
    }

    fn build(&mut self, separator: &[u8], convfmt: &[u8]) {
        let fields = self.changed.get_or_insert_default();
        self.text.clear();
        for (index, field) in fields.iter().enumerate() {
            if index > 0 {
                self.text.extend_from_slice(separator);
            }
            self.text.extend_from_slice(&field.bytes(convfmt));
        }
    }

    /// Splits the record as the current splitter does, before it changes.
    pub(super) fn complete(&mut self) {
        self.find(usize::MAX);
    }
}

/// A field, and the separator after it.
pub(super) struct SplitField {
    pub(super) range: (usize, usize),
    pub(super) separator: (usize, usize),
}

/// Splits a text.
pub(super) fn split(text: &[u8], splitter: &FieldSplitter) -> Vec<SplitField> {
    if text.is_empty() {
        return Vec::new();
    }
    let mut fields = Vec::new();
    match splitter {
        FieldSplitter::Blanks => split_blanks(text, &mut fields),
        FieldSplitter::Characters(encoding) => {
            let mut at = 0;
            for character in encoding.characters(text) {
                let range = (at, at + character.len());
                at = range.1;
                fields.push(SplitField { range, separator: (at, at) });
            }
        }
        FieldSplitter::Byte(byte, with_newline) => {
            let mut start = 0;
            for (at, found) in text.iter().enumerate() {
                if found == byte || *with_newline && *found == b'\n' {
                    fields.push(SplitField { range: (start, at), separator: (at, at + 1) });
                    start = at + 1;
                }
            }
            fields.push(SplitField { range: (start, text.len()), separator: (text.len(), text.len()) });
        }
        FieldSplitter::Regex(regex) => split_regex(text, regex, &mut fields),
        FieldSplitter::Pattern(regex, encoding) => find_fields(text, regex, *encoding, &mut fields),
        FieldSplitter::Widths(widths, encoding) => split_widths(text, widths, *encoding, &mut fields),
    }
    fields
}

fn split_blanks(text: &[u8], fields: &mut Vec<SplitField>) {
    let mut at = 0;
    while let Some(begin) = text[at..].iter().position(|byte| !is_blank(*byte)).map(|skip| at + skip) {
        let end =
            text[begin..].iter().position(|byte| is_blank(*byte)).map_or(text.len(), |skip| begin + skip);
        let next = text[end..].iter().position(|byte| !is_blank(*byte)).map_or(text.len(), |skip| end + skip);
        fields.push(SplitField { range: (begin, end), separator: (end, next) });
        at = next;
    }
}

fn split_regex(text: &[u8], regex: &GnuRegex, fields: &mut Vec<SplitField>) {
    let (mut start, mut from) = (0, 0);
    while let Ok(Some(found)) = regex.find(text, from) {
        if found.is_empty() {
            from = found.end + 1;
            if from > text.len() {
                break;
            }
            continue;
        }
        fields.push(SplitField { range: (start, found.start), separator: (found.start, found.end) });
        start = found.end;
        from = found.end;
    }
    fields.push(SplitField { range: (start, text.len()), separator: (text.len(), text.len()) });
}

/// Makes a field of each match. An empty match directly after a field is none.
fn find_fields(text: &[u8], regex: &GnuRegex, encoding: Encoding, fields: &mut Vec<SplitField>) {
    let (mut at, mut is_after_field) = (0, false);
    while let Ok(Some(found)) = regex.find(text, at) {
        let is_field = !(found.is_empty() && is_after_field && found.start == at);
        if is_field {
            fields.push(SplitField { range: (found.start, found.end), separator: (found.end, text.len()) });
        }
        if found.end >= text.len() {
            break;
        }
        at = match found.is_empty() {
            true => found.end + encoding.character_length(&text[found.end..]).max(1),
            false => found.end,
        };
        is_after_field = !found.is_empty();
    }
}
