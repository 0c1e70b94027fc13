//! From the text of a pattern to its items.

use super::bracket::{self, Set};

/// How deep groups may be nested; what is deeper stands for itself.
const DEPTH: usize = 100;

/// One item of a pattern.
#[derive(Clone, Debug)]
pub(super) enum Item {
    /// Text; never empty, and never two in a row.
    Literal(Vec<u8>),
    /// `?`.
    Any,
    /// `*`; never two in a row.
    Star,
    /// `[…]`.
    Set(Box<Set>),
    /// `@(…)` and its kin.
    Group(Box<Group>),
}

/// `@(…)` and its kin.
#[derive(Clone, Debug)]
pub(super) struct Group {
    pub(super) operator: Operator,
    pub(super) alternatives: Vec<Vec<Item>>,
}

/// What a group matches of its alternatives.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Operator {
    ZeroOrOne,
    ZeroOrMore,
    OneOrMore,
    One,
    Not,
}

/// Parses the text of a pattern.
pub(super) fn parse(text: &[u8], extended: bool, bytewise: bool) -> Vec<Item> {
    Parser { extended, bytewise }.items(text, 0)
}

struct Parser {
    extended: bool,
    bytewise: bool,
}

impl Parser {
    fn items(&self, text: &[u8], depth: usize) -> Vec<Item> {
        let mut items = Vec::new();
        let mut rest = text;
        while let Some(&byte) = rest.first() {
            if let Some(operator) = self.operator(rest, depth) {
                let Some((group, after)) = self.group(operator, &rest[2..], depth) else {
                    literal(&mut items, rest);
                    break;
                };
                items.push(Item::Group(Box::new(group)));
                rest = after;
                continue;
            }
            let length = match byte {
                b'?' => {
                    items.push(Item::Any);
                    1
                }
                b'*' => {
                    if !matches!(items.last(), Some(Item::Star)) {
                        items.push(Item::Star);
                    }
                    1
                }
                b'[' => self.bracket(rest, &mut items),
                b'\\' if rest.len() > 1 => {
                    literal(&mut items, &rest[1..2]);
                    2
                }
                _ => {
                    literal(&mut items, &rest[..1]);
                    1
                }
            };
            rest = &rest[length..];
        }
        items
    }

    fn bracket(&self, rest: &[u8], items: &mut Vec<Item>) -> usize {
        match bracket::parse(rest, self.bytewise) {
            Some((set, length)) => {
                items.push(Item::Set(Box::new(set)));
                length
            }
            None => {
                literal(items, b"[");
                1
            }
        }
    }

    /// The operator at the beginning of the text, if one is there.
    fn operator(&self, text: &[u8], depth: usize) -> Option<Operator> {
        if !self.extended || depth >= DEPTH || text.get(1) != Some(&b'(') {
            return None;
        }
        Some(match text.first()? {
            b'?' => Operator::ZeroOrOne,
            b'*' => Operator::ZeroOrMore,
            b'+' => Operator::OneOrMore,
            b'@' => Operator::One,
            b'!' => Operator::Not,
            _ => return None,
        })
    }

    /// The group whose alternatives begin here, and what follows it; `None` if it is never closed, in which case it and
    /// all that follows stands for itself.
    fn group<'a>(&self, operator: Operator, body: &'a [u8], depth: usize) -> Option<(Group, &'a [u8])> {
        let (bars, end) = self.scan(body)?;
        let mut alternatives = Vec::with_capacity(bars.len() + 1);
        let mut start = 0;
        for stop in bars.into_iter().chain([end]) {
            alternatives.push(self.items(&body[start..stop], depth + 1));
            start = stop + 1;
        }
        Some((Group { operator, alternatives }, &body[end + 1..]))
    }

    /// Finds the bars that separate the alternatives of a group, and the parenthesis that closes it.
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

fn literal(items: &mut Vec<Item>, text: &[u8]) {
    if let Some(Item::Literal(bytes)) = items.last_mut() {
        bytes.extend_from_slice(text);
    } else {
        items.push(Item::Literal(text.to_vec()));
    }
}
