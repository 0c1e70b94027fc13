//! Parsing of patterns.

use super::bracket::{self, BracketSet};

/// How deep groups may be nested. Operators of deeper groups match themselves.
const MAX_GROUP_DEPTH: usize = 100;

/// One item of a pattern.
#[derive(Clone, Debug)]
pub(super) enum PatternItem {
    /// Text; never empty, and never two in a row.
    Literal(Vec<u8>),
    /// `?`.
    Any,
    /// `*`; never two in a row.
    Star,
    /// `[…]`.
    Set(Box<BracketSet>),
    /// An `extglob` operator such as `@(…)`.
    Group(Box<PatternGroup>),
}

/// An `extglob` operator and its alternatives, such as `@(a|b)`.
#[derive(Clone, Debug)]
pub(super) struct PatternGroup {
    pub(super) operator: GroupOperator,
    pub(super) alternatives: Vec<Vec<PatternItem>>,
}

/// How often a group matches one of its alternatives.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum GroupOperator {
    ZeroOrOne,
    ZeroOrMore,
    OneOrMore,
    One,
    Not,
}

/// Parses the text of a pattern.
pub(super) fn parse(text: &[u8], extended: bool, bytewise: bool) -> Vec<PatternItem> {
    PatternParser { extended, bytewise }.items(text, 0)
}

struct PatternParser {
    extended: bool,
    bytewise: bool,
}

impl PatternParser {
    fn items(&self, text: &[u8], depth: usize) -> Vec<PatternItem> {
        let mut items = Vec::new();
        let mut rest = text;
        while let Some(&byte) = rest.first() {
            if let Some(operator) = self.operator(rest, depth) {
                let Some((group, after)) = self.group(operator, &rest[2..], depth) else {
                    push_literal(&mut items, rest);
                    break;
                };
                items.push(PatternItem::Group(Box::new(group)));
                rest = after;
                continue;
            }
            let length = match byte {
                b'?' => {
                    items.push(PatternItem::Any);
                    1
                }
                b'*' => {
                    if !matches!(items.last(), Some(PatternItem::Star)) {
                        items.push(PatternItem::Star);
                    }
                    1
                }
                b'[' => self.bracket(rest, &mut items),
                b'\\' if rest.len() > 1 => {
                    push_literal(&mut items, &rest[1..2]);
                    2
                }
                _ => {
                    push_literal(&mut items, &rest[..1]);
                    1
                }
            };
            rest = &rest[length..];
        }
        items
    }

    fn bracket(&self, rest: &[u8], items: &mut Vec<PatternItem>) -> usize {
        match bracket::parse(rest, self.bytewise) {
            Some((set, length)) => {
                items.push(PatternItem::Set(Box::new(set)));
                length
            }
            None => {
                push_literal(items, b"[");
                1
            }
        }
    }

    /// Returns the operator at the beginning of the text.
    fn operator(&self, text: &[u8], depth: usize) -> Option<GroupOperator> {
        if !self.extended || depth >= MAX_GROUP_DEPTH || text.get(1) != Some(&b'(') {
            return None;
        }
        Some(match text.first()? {
            b'?' => GroupOperator::ZeroOrOne,
            b'*' => GroupOperator::ZeroOrMore,
            b'+' => GroupOperator::OneOrMore,
            b'@' => GroupOperator::One,
            b'!' => GroupOperator::Not,
            _ => return None,
        })
    }

    /// Returns the group whose alternatives begin here, and the text after it. Returns `None` if the group is not closed; then it and
    /// the rest of the pattern match themselves.
    fn group<'a>(
        &self,
        operator: GroupOperator,
        body: &'a [u8],
        depth: usize,
    ) -> Option<(PatternGroup, &'a [u8])> {
        let (bars, end) = self.scan(body)?;
        let mut alternatives = Vec::with_capacity(bars.len() + 1);
        let mut start = 0;
        for stop in bars.into_iter().chain([end]) {
            alternatives.push(self.items(&body[start..stop], depth + 1));
            start = stop + 1;
        }
        Some((PatternGroup { operator, alternatives }, &body[end + 1..]))
    }

    /// Finds the bars between the alternatives of a group, and its closing parenthesis.
    fn scan(&self, body: &[u8]) -> Option<(Vec<usize>, usize)> {
        let mut bars = Vec::new();
        let mut depth = 0usize;
        let mut index = 0;
        while let Some(&byte) = body.get(index) {
            match byte {
                b'\\' => index += 1,
                b'[' => {
                    let (_, length) = bracket::parse(&body[index..], self.bytewise)?;
                    index += length - 1;
                }
                b'(' => depth += 1,
                b')' if depth == 0 => return Some((bars, index)),
                b')' => depth -= 1,
                b'|' if depth == 0 => bars.push(index),
                _ => {}
            }
            index += 1;
        }
        None
    }
}

fn push_literal(items: &mut Vec<PatternItem>, text: &[u8]) {
    if let Some(PatternItem::Literal(bytes)) = items.last_mut() {
        bytes.extend_from_slice(text);
    } else {
        items.push(PatternItem::Literal(text.to_vec()));
    }
}
