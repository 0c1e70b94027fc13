//! `sub`, `gsub` and `gensub`.

use haft_kernel::Bytes;
use haft_text::regex::gnu::{GnuCaptures, GnuRegex};

use super::{AwkRun, Evaluated};
use crate::awk::tree::{AwkExpression, AwkPlace};
use crate::awk::value::AwkValue;

/// A part of a replacement.
enum ReplacementPart {
    Text(Vec<u8>),
    /// A group. 0 is the whole match.
    Group(usize),
}

/// Which matches are replaced.
#[derive(Clone, Copy, PartialEq, Eq)]
enum WhichMatches {
    All,
    /// Counted from 1.
    Number(u64),
}

impl AwkRun<'_, '_, '_> {
    /// `sub` and `gsub`.
    pub(super) fn substitute(&mut self, arguments: &[AwkExpression], is_global: bool) -> Evaluated<AwkValue> {
        let regex = self.regex_of(&arguments[0])?;
        let replacement = self.text(&arguments[1])?;
        let record = AwkPlace::Field(Box::new(AwkExpression::Number(0.0)));
        let place = match arguments.get(2) {
            None => Some(&record),
            Some(AwkExpression::Place(place)) => Some(place),
            Some(_) => None,
        };
        let text = match (place, arguments.get(2)) {
            (Some(place), _) => self.place_value(place)?.to_text(&self.special.convfmt),
            (None, Some(value)) => self.text(value)?,
            (None, None) => Bytes::new(),
        };
        let parts = parse_replacement(&replacement, false);
        let which = if is_global { WhichMatches::All } else { WhichMatches::Number(1) };
        let (result, count) = self.replace(&regex, &text, &parts, which)?;
        if let Some(place) = place.filter(|_| count > 0) {
            self.assign(place, AwkValue::Text(result.into()))?;
        }
        #[expect(clippy::cast_precision_loss, reason = "all numbers are doubles")]
        Ok(AwkValue::Number(count as f64))
    }

    /// `gensub(regex, replacement, how [, text])`.
    pub(super) fn gensub(&mut self, arguments: &[AwkExpression]) -> Evaluated<AwkValue> {
        let regex = self.regex_of(&arguments[0])?;
        let replacement = self.text(&arguments[1])?;
        let how = self.evaluate(&arguments[2])?;
        let is_all = matches!(how.bytes(b"%.6g").first(), Some(b'g' | b'G'));
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "the cast saturates")]
        let which = match is_all {
            true => WhichMatches::All,
            false => WhichMatches::Number((how.to_number() as u64).max(1)),
        };
        let text = match arguments.get(3) {
            Some(text) => self.text(text)?,
            None => Bytes::from(self.record.text()),
        };
        let parts = parse_replacement(&replacement, true);
        Ok(AwkValue::text(self.replace(&regex, &text, &parts, which)?.0))
    }

    /// Replaces matches. Returns the text and how many were replaced.
    fn replace(
        &mut self,
        regex: &GnuRegex,
        text: &[u8],
        parts: &[ReplacementPart],
        which: WhichMatches,
    ) -> Evaluated<(Vec<u8>, u64)> {
        let mut output = Vec::with_capacity(text.len());
        let (mut from, mut copied, mut seen, mut replaced) = (0, 0, 0, 0);
        let needs_groups =
            parts.iter().any(|part| matches!(part, ReplacementPart::Group(group) if *group > 0));
        while from <= text.len() {
            self.run.context.check()?;
            let found = match needs_groups {
                true => regex.captures(text, from),
                false => regex.find(text, from).map(|found| found.map(|range| vec![Some(range)])),
            };
            let Ok(found) = found else { return self.fatal("regular expression needs too many steps") };
            let Some(captures) = found else { break };
            let Some(range) = captures[0].clone() else { break };
            // An empty match directly after a match does not count.
            let counts = !range.is_empty() || range.start != copied || seen == 0 || range.start == 0;
            if counts {
                seen += 1;
                if which == WhichMatches::All || which == WhichMatches::Number(seen) {
                    output.extend_from_slice(&text[copied..range.start]);
                    push_replacement(parts, &captures, text, &mut output);
                    copied = range.end;
                    replaced += 1;
                }
                if which == WhichMatches::Number(seen) {
                    break;
                }
            }
            from = match range.is_empty() {
                false => range.end,
                true if range.end < text.len() => {
                    range.end + self.encoding.character_length(&text[range.end..]).max(1)
                }
                true => text.len() + 1,
            };
        }
        output.extend_from_slice(&text[copied..]);
        Ok((output, replaced))
    }
}

/// Splits a replacement into parts. `&` is the match, `\&` an ampersand; `\\&` is a backslash and the match. With groups, `\0` to `\9`
/// are groups.
fn parse_replacement(text: &[u8], with_groups: bool) -> Vec<ReplacementPart> {
    let mut parts = Vec::new();
    let mut literal = Vec::new();
    let mut at = 0;
    while let Some(&byte) = text.get(at) {
        at += 1;
        let group = match (byte, text.get(at)) {
            (b'&', _) => 0,
            (b'\\', Some(b'&')) => {
                literal.push(b'&');
                at += 1;
                continue;
            }
            (b'\\', Some(b'\\')) if with_groups || text.get(at + 1) == Some(&b'&') => {
                literal.push(b'\\');
                at += 1;
                continue;
            }
            (b'\\', Some(digit @ b'0'..=b'9')) if with_groups => {
                at += 1;
                usize::from(digit - b'0')
            }
            _ => {
                literal.push(byte);
                continue;
            }
        };
        if !literal.is_empty() {
            parts.push(ReplacementPart::Text(std::mem::take(&mut literal)));
        }
        parts.push(ReplacementPart::Group(group));
    }
    parts.push(ReplacementPart::Text(literal));
    parts
}

fn push_replacement(parts: &[ReplacementPart], captures: &GnuCaptures, text: &[u8], output: &mut Vec<u8>) {
    for part in parts {
        match part {
            ReplacementPart::Text(literal) => output.extend_from_slice(literal),
            ReplacementPart::Group(group) => {
                if let Some(Some(range)) = captures.get(*group) {
                    output.extend_from_slice(&text[range.clone()]);
                }
            }
        }
    }
}
