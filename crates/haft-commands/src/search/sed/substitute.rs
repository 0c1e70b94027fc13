//! The commands `s` and `y`.

use std::ops::Range;

use haft_text::encoding::Encoding;
use haft_text::regex::gnu::{GnuRegex, GnuSearchError};

use super::escape::{EscapeContext, check_controls, convert};
use super::parser::{ScriptParser, end_of_command};
use super::reader::PartReader;
use super::script::{LetterCase, ReplacementPart, SedAction, SubstituteFlags, Substitution, Translation};

/// How much a line may grow before its memory does.
const RESERVED_BYTES: usize = 32;

/// Parses the command `s` after its letter.
pub(super) fn parse(parser: &mut ScriptParser, reader: &mut PartReader<'_>) -> Result<SedAction, String> {
    let unterminated = || "unterminated `s' command".to_owned();
    let delimiter = reader.next().ok_or_else(unterminated)?;
    reader.check_delimiter(parser.encoding())?;
    let regex = reader.delimited(delimiter, true).ok_or_else(unterminated)?;
    let text = reader.delimited(delimiter, false).ok_or_else(unterminated)?;
    check_controls(&regex)?;
    check_controls(&text)?;
    let replacement = parse_replacement(&convert(&text, EscapeContext::Replacement));
    let flags = parse_flags(parser, reader)?;
    let regex = parser.regex(&regex, flags.ignore_case, flags.multi_line)?;
    // GNU's `sed` divides characters after an empty match.
    let repeats = flags.global || flags.number > 1;
    let matches_nothing = || regex.as_ref().is_none_or(|regex| regex.is_match(b"") != Ok(false));
    parser.script.is_inexact |= (parser.encoding() == Encoding::Utf8) && repeats && matches_nothing();
    let highest = replacement.iter().filter_map(|part| match part {
        ReplacementPart::Group(number) => Some(*number),
        _ => None,
    });
    let highest = highest.max().unwrap_or(0);
    if regex.as_ref().is_some_and(|regex| regex.groups() < highest) {
        return Err(format!("invalid reference \\{highest} on `s' command's RHS"));
    }
    Ok(SedAction::Substitute(Box::new(Substitution { regex, replacement, flags })))
}

fn parse_flags(parser: &mut ScriptParser, reader: &mut PartReader<'_>) -> Result<SubstituteFlags, String> {
    let mut flags = SubstituteFlags::default();
    loop {
        let next = reader.next();
        match next {
            Some(b'i' | b'I') => flags.ignore_case = true,
            Some(b'm' | b'M') => flags.multi_line = true,
            Some(b'p') if flags.print => return Err("multiple `p' options to `s' command".to_owned()),
            Some(b'p') => flags.print = true,
            Some(b'g') if flags.global => return Err("multiple `g' options to `s' command".to_owned()),
            Some(b'g') => flags.global = true,
            Some(b'w') => {
                let name = reader.file_name();
                if name.is_empty() {
                    return Err("missing filename in r/R/w/W commands".to_owned());
                }
                flags.output = Some(parser.output(name));
                return Ok(flags);
            }
            Some(b'0'..=b'9') if flags.number > 0 => {
                return Err("multiple number options to `s' command".to_owned());
            }
            Some(b'0'..=b'9') => {
                flags.number = reader.number(next);
                if flags.number == 0 {
                    return Err("number option to `s' command may not be zero".to_owned());
                }
            }
            Some(b'}' | b'#') => {
                reader.back(next);
                return Ok(flags);
            }
            None | Some(b'\n' | b';') => return Ok(flags),
            Some(b'\r') if reader.is_at(b'\n') => {}
            Some(b'e') => return Err("option `e' of `s' is not supported".to_owned()),
            Some(_) => return Err("unknown option to `s'".to_owned()),
        }
    }
}

fn parse_replacement(text: &[u8]) -> Vec<ReplacementPart> {
    let mut parts = Vec::new();
    let mut literal = Vec::new();
    let mut bytes = text.iter().copied();
    while let Some(byte) = bytes.next() {
        let part = match byte {
            b'&' => ReplacementPart::Group(0),
            b'\\' => match bytes.next() {
                Some(digit @ b'0'..=b'9') => ReplacementPart::Group(usize::from(digit - b'0')),
                Some(b'U') => ReplacementPart::Case(Some(LetterCase::Upper)),
                Some(b'L') => ReplacementPart::Case(Some(LetterCase::Lower)),
                Some(b'E') => ReplacementPart::Case(None),
                Some(b'u') => ReplacementPart::NextCase(LetterCase::Upper),
                Some(b'l') => ReplacementPart::NextCase(LetterCase::Lower),
                Some(b'n') => {
                    literal.push(b'\n');
                    continue;
                }
                Some(other) => {
                    literal.push(other);
                    continue;
                }
                None => break,
            },
            _ => {
                literal.push(byte);
                continue;
            }
        };
        if !literal.is_empty() {
            parts.push(ReplacementPart::Text(std::mem::take(&mut literal)));
        }
        parts.push(part);
    }
    if !literal.is_empty() {
        parts.push(ReplacementPart::Text(literal));
    }
    parts
}

impl Substitution {
    /// Replaces matches in `line`. Returns `None` if nothing is replaced.
    pub(super) fn apply(
        &self,
        regex: &GnuRegex,
        line: &[u8],
        encoding: Encoding,
    ) -> Result<Option<Vec<u8>>, GnuSearchError> {
        let needs_groups = self.replacement.iter().any(|part| matches!(part, ReplacementPart::Group(1..)));
        let mut result = Vec::new();
        let (mut at, mut count, mut is_replaced, mut last_end) = (0, 0u64, false, None);
        while at <= line.len() {
            let (single, all);
            let captures: &[Option<Range<usize>>] = match needs_groups {
                true => {
                    all = regex.captures(line, at)?;
                    all.as_deref().unwrap_or_default()
                }
                false => {
                    single = [regex.find(line, at)?];
                    &single
                }
            };
            let Some(found) = captures.first().cloned().flatten() else { break };
            if result.capacity() == 0 {
                result.reserve(line.len() + RESERVED_BYTES);
            }
            result.extend_from_slice(&line[at..found.start]);
            // An empty match directly after a match does not count.
            if !(found.is_empty() && last_end == Some(found.start)) {
                count += 1;
                if count < self.flags.number {
                    result.extend_from_slice(&line[found.clone()]);
                } else {
                    self.expand(line, captures, encoding, &mut result);
                    is_replaced = true;
                }
            }
            at = found.end;
            last_end = Some(at);
            if is_replaced && !self.flags.global {
                break;
            }
            if found.is_empty() {
                let length = encoding.character_length(&line[at..]).max(1);
                result.extend_from_slice(&line[at..(at + length).min(line.len())]);
                at += length;
            }
        }
        if is_replaced && at < line.len() {
            result.extend_from_slice(&line[at..]);
        }
        Ok(is_replaced.then_some(result))
    }

    /// Appends the replacement of one match.
    fn expand(
        &self,
        line: &[u8],
        captures: &[Option<Range<usize>>],
        encoding: Encoding,
        result: &mut Vec<u8>,
    ) {
        let (mut case, mut next_case) = (None, None);
        for part in &self.replacement {
            let text = match part {
                ReplacementPart::Case(new) => {
                    case = *new;
                    continue;
                }
                ReplacementPart::NextCase(new) => {
                    next_case = Some(*new);
                    continue;
                }
                ReplacementPart::Text(text) => text.as_slice(),
                ReplacementPart::Group(number) => {
                    captures.get(*number).cloned().flatten().map_or(&[][..], |range| &line[range])
                }
            };
            if text.is_empty() {
                continue;
            }
            let first_case: Option<LetterCase> = next_case.take();
            let first = first_case.map_or(0, |_| encoding.character_length(text));
            append_cased(&text[..first], first_case, encoding, result);
            append_cased(&text[first..], case, encoding, result);
        }
    }
}

fn append_cased(text: &[u8], case: Option<LetterCase>, encoding: Encoding, result: &mut Vec<u8>) {
    match case {
        None => result.extend_from_slice(text),
        // GNU's `sed` writes this for bytes that are not characters of the C locale.
        Some(_) if encoding == Encoding::Bytes && !text.is_ascii() => {
            let byte = |byte: &u8| if byte.is_ascii() { convert_case(*byte, case) } else { u8::MAX };
            result.extend(text.iter().map(byte));
        }
        Some(LetterCase::Upper) => result.extend(encoding.to_uppercase(text)),
        Some(LetterCase::Lower) => result.extend(encoding.to_lowercase(text)),
    }
}

fn convert_case(byte: u8, case: Option<LetterCase>) -> u8 {
    match case {
        Some(LetterCase::Upper) => byte.to_ascii_uppercase(),
        Some(LetterCase::Lower) => byte.to_ascii_lowercase(),
        None => byte,
    }
}

/// Parses the command `y` after its letter.
pub(super) fn parse_translation(
    reader: &mut PartReader<'_>,
    encoding: Encoding,
) -> Result<SedAction, String> {
    let unterminated = || "unterminated `y' command".to_owned();
    let delimiter = reader.next().ok_or_else(unterminated)?;
    reader.check_delimiter(encoding)?;
    let from = reader.delimited(delimiter, false).ok_or_else(unterminated)?;
    let to = reader.delimited(delimiter, false).ok_or_else(unterminated)?;
    check_controls(&from)?;
    check_controls(&to)?;
    let has_open_control =
        [&from, &to].iter().any(|text| text.ends_with(b"\\c") && !text.ends_with(b"\\\\c"));
    let [from, to] = [from, to].map(|text| translation_characters(&text, encoding));
    if from.len() != to.len() || has_open_control {
        return Err("strings for `y' command are different lengths".to_owned());
    }
    end_of_command(reader)?;
    Ok(SedAction::Translate(Box::new(Translation { pairs: from.into_iter().zip(to).collect() })))
}

/// The characters of a string of `y`.
fn translation_characters(text: &[u8], encoding: Encoding) -> Vec<Vec<u8>> {
    let plain = super::escape::plain_text(text);
    encoding.characters(&plain).map(<[u8]>::to_vec).collect()
}

impl Translation {
    /// Replaces characters.
    pub(super) fn apply(&self, line: &[u8], encoding: Encoding) -> Vec<u8> {
        let mut result = Vec::with_capacity(line.len());
        for character in encoding.characters(line) {
            let found = self.pairs.iter().find(|(from, _)| from == character);
            result.extend_from_slice(found.map_or(character, |(_, to)| to));
        }
        result
    }
}
