//! Bracket expressions.

use super::char_set::{CharSet, RAW_BYTE, decode, upper};
use super::error::GnuRegexError;
use super::options::{GnuRegexOptions, GnuSyntax};
use crate::encoding::Encoding;

/// The longest name of a class, a collating symbol or an equivalence class.
const MAX_NAME: usize = 32;

/// Reads a bracket expression. `at` is the index after `[`. Returns the set and the index after `]`.
pub(super) fn parse(
    text: &[u8],
    at: usize,
    options: GnuRegexOptions,
) -> Result<(CharSet, usize), GnuRegexError> {
    BracketParser { text, at, options, ranges: Vec::new() }.parse()
}

/// Whether the bracket expression is a mistake such as `[:space:]` for `[[:space:]]`. `at` is the index after `[`.
pub(super) fn is_outer_class(text: &[u8], at: usize, options: GnuRegexOptions) -> bool {
    let rest = &text[at..];
    let end = rest.iter().position(|byte| *byte == b']');
    options.syntax != GnuSyntax::Awk
        && rest.first() == Some(&b':')
        && end.is_some_and(|end| end > 1 && rest[end - 1] == b':')
}

struct BracketParser<'a> {
    text: &'a [u8],
    at: usize,
    options: GnuRegexOptions,
    ranges: Vec<(u32, u32)>,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum BracketToken {
    Character(u32),
    /// `[:`, `[.` or `[=`
    Symbol(u8),
    Hyphen,
    Close,
    End,
}

/// An element of a bracket expression.
enum BracketElement {
    Character(u32),
    Class(CharSet),
    Equivalence(u32),
}

impl BracketParser<'_> {
    fn parse(mut self) -> Result<(CharSet, usize), GnuRegexError> {
        let is_negated = self.text.get(self.at) == Some(&b'^');
        self.at += usize::from(is_negated);
        let (mut token, mut length) = self.token(self.at);
        match token {
            BracketToken::End => return Err(GnuRegexError::InvalidExpression),
            BracketToken::Close => token = BracketToken::Character(b']'.into()),
            _ => {}
        }
        let mut is_first = true;
        loop {
            (token, length) = self.element(token, length, is_first)?;
            is_first = false;
            match token {
                BracketToken::End => return Err(GnuRegexError::UnmatchedBracket),
                BracketToken::Close => break,
                _ => {}
            }
        }
        Ok((self.set(is_negated), self.at + 1))
    }

    /// The finished set.
    fn set(&self, is_negated: bool) -> CharSet {
        let encoding = self.options.encoding;
        let mut set = CharSet::new(self.ranges.clone());
        if self.options.ignore_case {
            set = set.with_any_case(encoding);
        }
        match is_negated {
            false => set,
            true if self.options.multi_line => set.complement(encoding).without(b'\n'.into()),
            true => set.complement(encoding),
        }
    }

    /// The token at an index, and its length.
    fn token(&self, at: usize) -> (BracketToken, usize) {
        let rest = &self.text[at..];
        match rest {
            [] => (BracketToken::End, 0),
            [b'\\', ..] if self.options.syntax == GnuSyntax::Awk && rest.len() > 1 => {
                let (code, length) = super::escape::decode(&rest[1..], self.options.encoding);
                (BracketToken::Character(self.cased(code)), length + 1)
            }
            [b'[', mark @ (b':' | b'.' | b'='), ..] => (BracketToken::Symbol(*mark), 2),
            [b']', ..] => (BracketToken::Close, 1),
            [b'-', b'-', b'-', ..] => (BracketToken::Character(b'-'.into()), 3),
            [b'-', ..] => (BracketToken::Hyphen, 1),
            _ => {
                let (code, length) = decode(rest, self.options.encoding);
                (BracketToken::Character(self.cased(code)), length)
            }
        }
    }

    fn cased(&self, code: u32) -> u32 {
        if self.options.ignore_case { upper(code, self.options.encoding) } else { code }
    }

    /// Adds an element or a range. Returns the token after it.
    fn element(
        &mut self,
        token: BracketToken,
        length: usize,
        is_first: bool,
    ) -> Result<(BracketToken, usize), GnuRegexError> {
        let start = self.read(token, length, is_first)?;
        let (token, length) = self.token(self.at);
        let BracketElement::Character(first) = start else {
            self.add(start);
            return Ok((token, length));
        };
        if token == BracketToken::Hyphen {
            let (end, end_length) = self.token(self.at + length);
            match end {
                BracketToken::End => return Err(GnuRegexError::UnmatchedBracket),
                BracketToken::Close => {
                    self.add(start);
                    self.ranges.push((b'-'.into(), b'-'.into()));
                    self.at += length;
                    return Ok((end, end_length));
                }
                _ => {
                    self.at += length;
                    let last = self.read(end, end_length, true)?;
                    self.add_range(first, &last)?;
                    return Ok(self.token(self.at));
                }
            }
        }
        self.add(start);
        Ok((token, length))
    }

    /// Reads one element and goes past it.
    fn read(
        &mut self,
        token: BracketToken,
        length: usize,
        accepts_hyphen: bool,
    ) -> Result<BracketElement, GnuRegexError> {
        self.at += length;
        match token {
            BracketToken::Symbol(mark) => self.symbol(mark),
            BracketToken::Hyphen if !accepts_hyphen && self.token(self.at).0 != BracketToken::Close => {
                Err(GnuRegexError::InvalidRange)
            }
            BracketToken::Hyphen => Ok(BracketElement::Character(b'-'.into())),
            BracketToken::Close => Ok(BracketElement::Character(b']'.into())),
            BracketToken::Character(code) => Ok(BracketElement::Character(code)),
            BracketToken::End => Err(GnuRegexError::UnmatchedBracket),
        }
    }

    /// Reads the name of a class, a collating symbol or an equivalence class.
    fn symbol(&mut self, mark: u8) -> Result<BracketElement, GnuRegexError> {
        let rest = &self.text[self.at..];
        let end = rest.windows(2).position(|pair| pair == [mark, b']']).filter(|end| *end < MAX_NAME);
        let name = &rest[..end.ok_or(GnuRegexError::UnmatchedBracket)?];
        self.at += name.len() + 2;
        if mark == b':' {
            let folded = match self.options.ignore_case && matches!(name, b"upper" | b"lower") {
                true => b"alpha",
                false => name,
            };
            let class = CharSet::class(folded, self.options.encoding);
            return Ok(BracketElement::Class(class.ok_or(GnuRegexError::InvalidClass)?));
        }
        let [byte] = name else { return Err(GnuRegexError::InvalidCollation) };
        let raw = self.options.encoding == Encoding::Utf8 && !byte.is_ascii();
        let code = self.cased(u32::from(*byte) + if raw { RAW_BYTE } else { 0 });
        Ok(if mark == b'.' { BracketElement::Character(code) } else { BracketElement::Equivalence(code) })
    }

    fn add(&mut self, element: BracketElement) {
        match element {
            BracketElement::Character(code) | BracketElement::Equivalence(code) => {
                self.ranges.push((code, code));
            }
            BracketElement::Class(set) => self.ranges.extend_from_slice(set.ranges()),
        }
    }

    fn add_range(&mut self, first: u32, last: &BracketElement) -> Result<(), GnuRegexError> {
        let BracketElement::Character(last) = *last else { return Err(GnuRegexError::InvalidRange) };
        if first >= RAW_BYTE || last >= RAW_BYTE {
            return Err(GnuRegexError::InvalidCollation);
        }
        if last < first {
            return Err(GnuRegexError::InvalidRange);
        }
        self.ranges.push((first, last));
        Ok(())
    }
}
