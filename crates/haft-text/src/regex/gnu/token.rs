//! Tokens of regular expressions.

use super::char_set::decode;
use super::escape;
use super::options::{GnuRegexOptions, GnuSyntax};
use super::tree::Assertion;

/// A token with the character that it stands for where it is not an operator.
#[derive(Clone, Copy, Debug)]
pub(super) struct RegexToken {
    pub(super) kind: TokenKind,
    pub(super) code: u32,
    pub(super) length: usize,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum TokenKind {
    End,
    Character,
    Alternation,
    OpenGroup,
    CloseGroup,
    /// `*`, `+` or `?`
    Repetition(u32, Option<u32>),
    OpenInterval,
    CloseInterval,
    AnyCharacter,
    OpenBracket,
    Assertion(Assertion),
    BackReference(usize),
    /// `\w`, `\s` and their complements.
    Class {
        is_word: bool,
        is_negated: bool,
    },
    TrailingBackslash,
}

impl TokenKind {
    pub(super) const STAR: Self = Self::Repetition(0, None);
    pub(super) const PLUS: Self = Self::Repetition(1, None);
    pub(super) const QUESTION: Self = Self::Repetition(0, Some(1));
}

/// Reads the token at `at`. `caret_is_anchor` says that `^` is an anchor here in basic expressions too.
pub(super) fn read(text: &[u8], at: usize, options: GnuRegexOptions, caret_is_anchor: bool) -> RegexToken {
    let rest = &text[at..];
    let (code, length) = decode(rest, options.encoding);
    let Some(&first) = rest.first() else { return RegexToken { kind: TokenKind::End, code, length } };
    if first == b'\\' {
        return escaped(&rest[1..], options);
    }
    let is_basic = options.syntax.is_basic();
    let kind = match first {
        b'*' => TokenKind::STAR,
        b'.' => TokenKind::AnyCharacter,
        b'[' => TokenKind::OpenBracket,
        b'^' if !is_basic || caret_is_anchor || at == 0 => TokenKind::Assertion(Assertion::LineStart),
        b'$' if !is_basic || ends_branch(text, at + 1, options) => TokenKind::Assertion(Assertion::LineEnd),
        _ if is_basic => TokenKind::Character,
        byte => operator(byte),
    };
    RegexToken { kind, code, length }
}

/// Whether a branch of a basic expression ends here.
fn ends_branch(text: &[u8], at: usize, options: GnuRegexOptions) -> bool {
    matches!(
        read(text, at, options, false).kind,
        TokenKind::End | TokenKind::Alternation | TokenKind::CloseGroup
    )
}

/// The operators that basic expressions write with a backslash.
fn operator(byte: u8) -> TokenKind {
    match byte {
        b'|' => TokenKind::Alternation,
        b'(' => TokenKind::OpenGroup,
        b')' => TokenKind::CloseGroup,
        b'{' => TokenKind::OpenInterval,
        b'}' => TokenKind::CloseInterval,
        b'+' => TokenKind::PLUS,
        b'?' => TokenKind::QUESTION,
        _ => TokenKind::Character,
    }
}

/// The token of a backslash and what follows it.
fn escaped(rest: &[u8], options: GnuRegexOptions) -> RegexToken {
    let Some(&byte) = rest.first() else {
        return RegexToken { kind: TokenKind::TrailingBackslash, code: b'\\'.into(), length: 1 };
    };
    let is_awk = options.syntax == GnuSyntax::Awk;
    let kind = match byte {
        b'1'..=b'9' if options.syntax.has_back_references() => {
            TokenKind::BackReference(usize::from(byte - b'0'))
        }
        b'<' => TokenKind::Assertion(Assertion::WordStart),
        b'>' => TokenKind::Assertion(Assertion::WordEnd),
        b'y' if is_awk => TokenKind::Assertion(Assertion::WordBoundary),
        b'b' if !is_awk => TokenKind::Assertion(Assertion::WordBoundary),
        b'B' => TokenKind::Assertion(Assertion::NotWordBoundary),
        b'`' => TokenKind::Assertion(Assertion::BufferStart),
        b'\'' => TokenKind::Assertion(Assertion::BufferEnd),
        b'w' => TokenKind::Class { is_word: true, is_negated: false },
        b'W' => TokenKind::Class { is_word: true, is_negated: true },
        b's' => TokenKind::Class { is_word: false, is_negated: false },
        b'S' => TokenKind::Class { is_word: false, is_negated: true },
        _ if options.syntax.is_basic() => operator(byte),
        _ => TokenKind::Character,
    };
    let (code, length) = match is_awk && kind == TokenKind::Character {
        true => escape::decode(rest, options.encoding),
        false => decode(rest, options.encoding),
    };
    RegexToken { kind, code, length: length + 1 }
}
