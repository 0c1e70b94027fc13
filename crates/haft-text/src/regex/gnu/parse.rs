//! Reads regular expressions as GNU's library does.

use super::bracket;
use super::char_set::{CharSet, upper};
use super::error::GnuRegexError;
use super::options::{GnuRegexOptions, LeadingOperator};
use super::token::{self, RegexToken, TokenKind};
use super::tree::{Assertion, Node, Repetition};

/// The largest count of an interval.
const MAX_COUNT: u32 = 0x7FFF;

/// The most groups and repetitions within each other.
const MAX_DEPTH: usize = 250;

/// Parses an expression. Returns it with the number of its groups.
pub(super) fn parse(text: &[u8], options: GnuRegexOptions) -> Result<(Node, usize), GnuRegexError> {
    let mut parser = RegexParser::new(text, options);
    let node = parser.alternation()?;
    match parser.token.kind {
        TokenKind::End if parser.has_outer_class => Err(GnuRegexError::ClassOutsideBrackets),
        TokenKind::End => Ok((node, parser.groups)),
        _ => Err(GnuRegexError::UnmatchedClose),
    }
}

/// The operators of an expression that have nothing to repeat and are skipped.
pub(super) fn leading_operators(
    text: &[u8],
    options: GnuRegexOptions,
) -> Result<Vec<&'static str>, GnuRegexError> {
    let mut parser = RegexParser::new(text, options);
    parser.alternation()?;
    Ok(parser.skipped)
}

struct RegexParser<'a> {
    text: &'a [u8],
    /// The start of `token`.
    at: usize,
    options: GnuRegexOptions,
    token: RegexToken,
    groups: usize,
    complete_groups: Vec<usize>,
    /// The number of open groups.
    depth: usize,
    /// Operators that were skipped because they have nothing to repeat.
    skipped: Vec<&'static str>,
    /// Whether there is a mistake such as `[:space:]`, which is reported after other errors.
    has_outer_class: bool,
}

/// A count of an interval.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Count {
    Missing,
    Invalid,
    Number(u32),
}

impl<'a> RegexParser<'a> {
    fn new(text: &'a [u8], options: GnuRegexOptions) -> Self {
        Self {
            text,
            at: 0,
            options,
            token: token::read(text, 0, options, true),
            groups: 0,
            complete_groups: Vec::new(),
            depth: 0,
            skipped: Vec::new(),
            has_outer_class: false,
        }
    }

    fn next(&mut self) {
        self.next_token(false);
    }

    fn next_token(&mut self, caret_is_anchor: bool) {
        self.at += self.token.length;
        self.token = token::read(self.text, self.at, self.options, caret_is_anchor);
    }

    fn ends_branch(&self) -> bool {
        match self.token.kind {
            TokenKind::End | TokenKind::Alternation => true,
            TokenKind::CloseGroup => self.depth > 0,
            _ => false,
        }
    }

    fn alternation(&mut self) -> Result<Node, GnuRegexError> {
        let mut branches = vec![self.branch()?];
        while self.token.kind == TokenKind::Alternation {
            self.next_token(true);
            branches.push(self.branch()?);
        }
        Ok(match branches.len() {
            1 => branches.remove(0),
            _ => Node::Alternation(branches),
        })
    }

    fn branch(&mut self) -> Result<Node, GnuRegexError> {
        let mut parts = Vec::new();
        while !self.ends_branch() {
            parts.push(self.expression()?);
        }
        Ok(match parts.len() {
            0 => Node::Empty,
            1 => parts.remove(0),
            _ => Node::Concatenation(parts),
        })
    }

    /// One part with the repetitions after it.
    fn expression(&mut self) -> Result<Node, GnuRegexError> {
        let node = match self.token.kind {
            TokenKind::Assertion(assertion) => {
                self.next_token(true);
                let is_refused = match self.token.kind {
                    TokenKind::Repetition(..) | TokenKind::OpenInterval => true,
                    TokenKind::Assertion(next) => {
                        next == Assertion::LineStart && self.options.syntax.is_basic()
                    }
                    _ => false,
                };
                if is_refused && assertion != Assertion::LineStart && self.options.syntax.is_grep() {
                    return Err(GnuRegexError::InvalidRepetition);
                }
                return Ok(Node::Assertion(assertion));
            }
            TokenKind::Repetition(..) | TokenKind::OpenInterval => match self.leading_operator()? {
                Some(node) => node,
                None => return Ok(Node::Empty),
            },
            _ => self.atom()?,
        };
        self.repetitions(node)
    }

    fn atom(&mut self) -> Result<Node, GnuRegexError> {
        let encoding = self.options.encoding;
        let node = match self.token.kind {
            TokenKind::OpenGroup => return self.group(),
            TokenKind::OpenBracket => {
                self.has_outer_class |= bracket::is_outer_class(self.text, self.at + 1, self.options);
                let (set, end) = bracket::parse(self.text, self.at + 1, self.options)?;
                self.token.length = end - self.at;
                Node::Set(set)
            }
            TokenKind::AnyCharacter if self.options.multi_line => {
                Node::Set(CharSet::all(encoding).without(b'\n'.into()))
            }
            TokenKind::AnyCharacter => Node::Set(CharSet::all(encoding)),
            TokenKind::Class { is_word, is_negated } => {
                let name: &[u8] = if is_word { b"alnum" } else { b"space" };
                let mut ranges = CharSet::class(name, encoding).unwrap_or_default().ranges().to_vec();
                if is_word {
                    ranges.push((b'_'.into(), b'_'.into()));
                }
                let set = CharSet::new(ranges);
                Node::Set(if is_negated { set.complement(encoding) } else { set })
            }
            TokenKind::BackReference(number) if self.complete_groups.contains(&number) => {
                Node::BackReference(number)
            }
            TokenKind::BackReference(_) => return Err(GnuRegexError::InvalidBackReference),
            TokenKind::CloseGroup if !self.options.syntax.allows_unmatched_close() => {
                return Err(GnuRegexError::UnmatchedClose);
            }
            TokenKind::TrailingBackslash => return Err(GnuRegexError::TrailingBackslash),
            _ => self.literal(),
        };
        self.next();
        Ok(node)
    }

    /// The character of the current token.
    fn literal(&self) -> Node {
        let encoding = self.options.encoding;
        Node::Set(match self.options.ignore_case {
            true => CharSet::single(upper(self.token.code, encoding)).with_any_case(encoding),
            false => CharSet::single(self.token.code),
        })
    }

    fn group(&mut self) -> Result<Node, GnuRegexError> {
        self.groups += 1;
        let number = self.groups;
        self.depth += 1;
        if self.depth > MAX_DEPTH {
            return Err(GnuRegexError::TooBig);
        }
        self.next_token(true);
        let node = self.alternation()?;
        if self.token.kind != TokenKind::CloseGroup {
            return Err(GnuRegexError::UnmatchedOpen);
        }
        self.depth -= 1;
        self.complete_groups.push(number);
        self.next();
        Ok(Node::Group(number, Box::new(node)))
    }

    /// A repetition operator with nothing to repeat. `None` if it is skipped.
    fn leading_operator(&mut self) -> Result<Option<Node>, GnuRegexError> {
        let syntax = self.options.syntax;
        let is_interval = self.token.kind == TokenKind::OpenInterval;
        if is_interval && syntax.refuses_double_repetition() {
            return Err(GnuRegexError::InvalidRepetition);
        }
        match syntax.leading_operator() {
            LeadingOperator::Invalid => return Err(GnuRegexError::InvalidRepetition),
            LeadingOperator::Skipped if !is_interval => {
                self.skipped.push(match self.token.kind {
                    TokenKind::PLUS => "+",
                    TokenKind::QUESTION => "?",
                    _ => "*",
                });
                self.next();
                return Ok(None);
            }
            LeadingOperator::Skipped => {
                if self.interval(Node::Empty)?.is_some() {
                    return Err(GnuRegexError::InvalidRepetition);
                }
            }
            LeadingOperator::Literal => {}
        }
        let node = self.literal();
        self.next();
        Ok(Some(node))
    }

    fn repetitions(&mut self, mut node: Node) -> Result<Node, GnuRegexError> {
        for _ in 0..MAX_DEPTH {
            node = match self.token.kind {
                TokenKind::Repetition(min, max) => {
                    self.next();
                    repeat(node, min, max)
                }
                TokenKind::OpenInterval => {
                    let before = node.clone();
                    match self.interval(node)? {
                        Some(node) => node,
                        None => {
                            let brace = self.literal();
                            self.next();
                            // An empty interval is an error, other incomplete ones match themselves.
                            if self.token.kind == TokenKind::CloseInterval {
                                return Err(GnuRegexError::InvalidInterval);
                            }
                            let rest = self.repetitions(brace)?;
                            return Ok(Node::Concatenation(vec![before, rest]));
                        }
                    }
                }
                _ => return Ok(node),
            };
            let repeats_again = matches!(self.token.kind, TokenKind::STAR | TokenKind::OpenInterval);
            if repeats_again && self.options.syntax.refuses_double_repetition() {
                return Err(GnuRegexError::InvalidRepetition);
            }
        }
        Err(GnuRegexError::TooBig)
    }

    /// Reads an interval. `None` if it is not one, and the brace matches itself; then the current token is still the brace.
    fn interval(&mut self, node: Node) -> Result<Option<Node>, GnuRegexError> {
        let (start_at, start_token) = (self.at, self.token);
        let mut min = self.count();
        let is_comma =
            |token: &RegexToken| token.code == u32::from(b',') && token.kind == TokenKind::Character;
        if min == Count::Missing {
            if !is_comma(&self.token) {
                return self.invalid_interval(start_at, start_token, GnuRegexError::InvalidInterval);
            }
            min = Count::Number(0);
        }
        let max = match self.token.kind {
            TokenKind::CloseInterval => min,
            _ if is_comma(&self.token) => self.count(),
            _ => Count::Invalid,
        };
        let (Count::Number(min), max) = (min, max) else {
            return self.invalid_interval(start_at, start_token, self.brace_error());
        };
        if max == Count::Invalid {
            return self.invalid_interval(start_at, start_token, self.brace_error());
        }
        let max = if let Count::Number(max) = max { Some(max) } else { None };
        if max.is_some_and(|max| max < min) || self.token.kind != TokenKind::CloseInterval {
            return Err(GnuRegexError::InvalidInterval);
        }
        if max.unwrap_or(min) > MAX_COUNT {
            return Err(GnuRegexError::TooBig);
        }
        self.next();
        Ok(Some(repeat(node, min, max)))
    }

    fn brace_error(&self) -> GnuRegexError {
        match self.token.kind {
            TokenKind::End => GnuRegexError::UnmatchedBrace,
            _ => GnuRegexError::InvalidInterval,
        }
    }

    fn invalid_interval(
        &mut self,
        at: usize,
        token: RegexToken,
        error: GnuRegexError,
    ) -> Result<Option<Node>, GnuRegexError> {
        if !self.options.syntax.allows_invalid_interval() {
            return Err(error);
        }
        (self.at, self.token) = (at, token);
        Ok(None)
    }

    /// Reads a count up to a comma or the end of the interval.
    fn count(&mut self) -> Count {
        let mut count = Count::Missing;
        loop {
            self.next();
            let (kind, code) = (self.token.kind, self.token.code);
            if kind == TokenKind::End {
                return Count::Invalid;
            }
            if kind == TokenKind::CloseInterval || code == u32::from(b',') {
                return count;
            }
            let digit = char::from_u32(code).and_then(|letter| letter.to_digit(10));
            count = match (digit, count) {
                (Some(digit), Count::Missing) if kind == TokenKind::Character => Count::Number(digit),
                (Some(digit), Count::Number(number)) if kind == TokenKind::Character => {
                    Count::Number((number * 10 + digit).min(MAX_COUNT + 1))
                }
                _ => Count::Invalid,
            };
        }
    }
}

fn repeat(node: Node, min: u32, max: Option<u32>) -> Node {
    match max {
        Some(0) => Node::Empty,
        _ => Node::Repetition(Box::new(Repetition { node, min, max })),
    }
}

/// A tree of fixed strings, of which any may match.
pub(super) fn literals(texts: &[&[u8]], options: GnuRegexOptions) -> Node {
    let literal = |text: &&[u8]| {
        let mut parser = RegexParser::new(text, options);
        let mut parts = Vec::new();
        while parser.at < text.len() {
            let (code, length) = super::char_set::decode(&text[parser.at..], options.encoding);
            parser.token.code = code;
            parts.push(parser.literal());
            parser.at += length;
        }
        Node::Concatenation(parts)
    };
    Node::Alternation(texts.iter().map(literal).collect())
}
