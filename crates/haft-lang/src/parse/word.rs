//! Words outside double quotes.

use crate::ast::{Bytes, PartKind, Span, Word, WordContent, WordFlags};

use super::builder::WordBuilder;
use super::bytes::{self, BRACE, BRACKET, BREAK, CLOSE_BRACE, COLON, EQUAL, GLOB, GROUP, QUOTE, SLASH};
use super::dollar::Quoting;
use super::{Parser, Result};

/// How to parse a word, depending on its context.
#[derive(Clone, Copy)]
pub(super) struct WordMode {
    /// The character classes that interrupt a literal.
    pub(super) stop: u16,
    /// The token that ends the word.
    pub(super) ends: WordEnd,
    /// Whether `*`, `?` and `[` are globs.
    pub(super) globs: bool,
    /// Whether extended globs such as `@(…)` are recognized.
    pub(super) extglob: bool,
    /// Whether brace expansions are recognized.
    pub(super) braces: bool,
    /// The positions at which tilde prefixes are recognized.
    pub(super) tilde: Tilde,
    /// Whether the whole word is in double quotes.
    pub(super) quoted: bool,
    /// The token that ends the word around an extended glob, which also ends an unclosed glob.
    pub(super) outer: Option<WordEnd>,
}

/// The token that ends a word.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum WordEnd {
    /// A metacharacter: a blank, a newline or an operator.
    Break,
    /// `}`.
    Brace,
    /// `/` or `}`.
    Slash,
    /// `|` or `)`, of an extended glob.
    Alternative,
    /// `)` of parentheses without a special meaning.
    Parenthesis,
    /// `]`.
    Bracket,
    /// `]` in `${…}`, where `}` also ends the word.
    BracedBracket,
    /// Only the end of the input.
    Input,
    /// A metacharacter, except that parentheses and `|` are part of the word.
    Regex,
}

/// The positions at which tilde prefixes are recognized.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Tilde {
    /// Nowhere.
    Never,
    /// At the start, and as in an assignment if the word looks like one.
    Word,
    /// Only at the start.
    Start,
    /// At the start and after each colon.
    Assignment,
}

const WORD: u16 = BREAK | QUOTE | GLOB | BRACE | EQUAL;

impl WordMode {
    /// For arguments, `for` words and redirection targets.
    pub(super) fn argument(extglob: bool) -> Self {
        let tilde = Tilde::Word;
        Self { stop: WORD, globs: true, braces: true, tilde, ..Self::value(extglob) }
    }

    /// For values of assignments.
    pub(super) fn value(extglob: bool) -> Self {
        let stop = BREAK | QUOTE | COLON | if extglob { GLOB } else { 0 };
        let tilde = Tilde::Assignment;
        let ends = WordEnd::Break;
        Self { stop, ends, globs: false, extglob, braces: false, tilde, quoted: false, outer: None }
    }

    /// For words that are not split: the subject of `case`, here-strings, operands of `[[ ]]`.
    pub(super) fn single(extglob: bool) -> Self {
        Self {
            stop: BREAK | QUOTE | if extglob { GLOB } else { 0 },
            tilde: Tilde::Start,
            ..Self::value(extglob)
        }
    }

    /// For patterns of `case` and `[[ ]]`.
    pub(super) fn pattern(extglob: bool) -> Self {
        Self { stop: BREAK | QUOTE | GLOB, globs: true, ..Self::single(extglob) }
    }

    /// For the word in `${name:-word}`.
    pub(super) fn operand(quoted: bool) -> Self {
        let stop = BREAK | QUOTE | CLOSE_BRACE | if quoted { 0 } else { GLOB };
        let tilde = if quoted { Tilde::Never } else { Tilde::Start };
        Self { stop, ends: WordEnd::Brace, globs: !quoted, tilde, quoted, ..Self::value(!quoted) }
    }

    /// For the pattern in `${name#pattern}`.
    pub(super) fn operand_pattern() -> Self {
        Self::operand(false)
    }

    /// For the pattern in `${name/pattern/replacement}`.
    pub(super) fn replaced() -> Self {
        Self {
            stop: BREAK | QUOTE | CLOSE_BRACE | GLOB | SLASH,
            ends: WordEnd::Slash,
            ..Self::operand(false)
        }
    }

    /// For the replacement in `${name/pattern/replacement}`.
    pub(super) fn replacement() -> Self {
        Self { stop: QUOTE | CLOSE_BRACE, globs: false, extglob: false, ..Self::operand(false) }
    }

    /// For subscripts.
    pub(super) fn subscript(braced: bool) -> Self {
        let (ends, more) = if braced { (WordEnd::BracedBracket, CLOSE_BRACE) } else { (WordEnd::Bracket, 0) };
        Self {
            stop: QUOTE | BRACKET | more,
            ends,
            globs: false,
            extglob: false,
            tilde: Tilde::Never,
            ..Self::operand(false)
        }
    }

    /// For alternatives of an extended glob.
    pub(super) fn alternative(self) -> Self {
        let outer =
            if matches!(self.ends, WordEnd::Brace | WordEnd::Slash) { Some(self.ends) } else { self.outer };
        let closer = match outer {
            Some(WordEnd::Slash) => CLOSE_BRACE | SLASH,
            Some(_) => CLOSE_BRACE,
            None => 0,
        };
        Self {
            stop: QUOTE | GLOB | GROUP | closer,
            outer,
            ends: WordEnd::Alternative,
            globs: true,
            extglob: true,
            braces: false,
            tilde: Tilde::Never,
            ..self
        }
    }

    /// For regular expressions of `[[ ]]`.
    pub(super) fn regex() -> Self {
        Self { ends: WordEnd::Regex, ..Self::single(false) }
    }
}

impl Parser<'_> {
    /// Parses a word. It is empty if no word comes next.
    #[inline]
    pub(super) fn word(&mut self, mode: WordMode) -> Result<Word> {
        self.check_limits()?;
        let rest = self.input.remaining();
        let length = bytes::run(rest, mode.stop | BREAK);
        if mode.ends == WordEnd::Break
            && length > 0
            && rest[0] != b'~'
            && rest.get(length).is_some_and(|byte| bytes::is(*byte, BREAK) && !matches!(byte, b'<' | b'>'))
        {
            let content = WordContent::Plain(Bytes::prefix(rest, length));
            let span = self.input.span(self.input.at, self.input.at + length);
            self.input.at += length;
            return Ok(Word { span, flags: WordFlags::NONE, content });
        }
        self.word_of_parts(mode)
    }

    fn word_of_parts(&mut self, mode: WordMode) -> Result<Word> {
        let start = self.input.at;
        let mut builder = self.builder();
        self.parts(mode, &mut builder)?;
        self.finish_marked(start, builder)
    }

    /// Finishes the word that ends here and resolves marked braces.
    pub(super) fn finish_marked(&mut self, start: usize, mut builder: Box<WordBuilder>) -> Result<Word> {
        if !builder.marks.is_empty() {
            self.resolve_braces(&mut builder)?;
        }
        Ok(self.finish_word(start, builder))
    }

    /// Finishes the word that ends here.
    pub(super) fn finish_word(&mut self, start: usize, mut builder: Box<WordBuilder>) -> Word {
        let word = builder.finish(self.span_from(start), &mut self.arena);
        self.recycle(builder);
        word
    }

    /// Takes an empty builder from the pool.
    pub(super) fn builder(&mut self) -> Box<WordBuilder> {
        self.pool.builders.pop().unwrap_or_default()
    }

    /// Returns an empty builder to the pool.
    pub(super) fn recycle(&mut self, builder: Box<WordBuilder>) {
        debug_assert!(builder.is_empty());
        self.pool.builders.push(builder);
    }

    /// Parses the parts of a word.
    pub(super) fn parts(&mut self, mut mode: WordMode, builder: &mut WordBuilder) -> Result<()> {
        if mode.tilde != Tilde::Never && self.peek() == Some(b'~') {
            self.tilde(mode, builder);
        }
        loop {
            self.check_limits()?;
            let start = self.input.at;
            let length = bytes::run(self.input.remaining(), mode.stop);
            if length > 0 {
                let span = self.input.span(start, start + length);
                builder.literal(self.input.slice(start, start + length), span);
                self.input.at += length;
            }
            match self.input.ahead(0) {
                Some(byte) if self.part(byte, &mut mode, builder)? => {}
                None if self.input.refill() => {}
                _ => return Ok(()),
            }
        }
    }

    /// Parses the part that starts with a byte that interrupts a literal. Returns false if the byte ends the
    /// word.
    fn part(&mut self, byte: u8, mode: &mut WordMode, builder: &mut WordBuilder) -> Result<bool> {
        match byte {
            b'\\' => self.backslash(*mode, builder),
            b'\'' if mode.quoted && self.options.posix => self.literal_byte(builder),
            b'\'' if mode.quoted => self.literal_quotes(*mode, builder)?,
            b'\'' => self.single_quoted(builder)?,
            b'"' => self.double_quoted_in(builder, self.input.at, false, mode.quoted)?,
            b'$' => self.dollar(if mode.quoted { Quoting::Operand } else { Quoting::None }, builder)?,
            b'`' => self.backquoted(mode.quoted, builder)?,
            b'*' | b'?' | b'@' | b'+' | b'!' if mode.ends != WordEnd::Bracket => {
                self.glob(byte, *mode, builder)?;
            }
            b'[' if mode.globs => self.bracket(*mode, builder),
            b'=' | b':' if bytes::is(byte, mode.stop) => self.assignment_tilde(byte, mode, builder),
            b'{' | b',' | b'}' if mode.braces => self.mark(byte, builder),
            _ => return self.delimiter(byte, *mode, builder),
        }
        Ok(true)
    }

    /// Handles a byte that may end the word. Returns false if it does.
    fn delimiter(&mut self, byte: u8, mode: WordMode, builder: &mut WordBuilder) -> Result<bool> {
        if matches!(byte, b'<' | b'>') && !mode.quoted && self.peek_second() == Some(b'(') {
            self.process_substitution(byte, builder)?;
            return Ok(true);
        }
        match (mode.ends, byte) {
            (WordEnd::Break, b'[') => self.literal_byte(builder),
            (WordEnd::Break, _)
            | (WordEnd::Brace | WordEnd::Slash, b'}')
            | (WordEnd::Slash, b'/')
            | (WordEnd::Alternative, b')' | b'|')
            | (WordEnd::Parenthesis, b')')
            | (WordEnd::Bracket, b']')
            | (WordEnd::BracedBracket, b']' | b'}') => return Ok(false),
            (WordEnd::Alternative | WordEnd::Parenthesis, b'}' | b'/') if mode.outer.is_some() => {
                return Ok(false);
            }
            (WordEnd::Regex, b'|') => self.literal_byte(builder),
            (WordEnd::Regex, byte) if byte != b'(' => return Ok(false),
            (WordEnd::Alternative | WordEnd::Parenthesis | WordEnd::Regex, b'(') => {
                self.enclosed(mode, WordEnd::Parenthesis, builder)?;
            }
            (WordEnd::Bracket | WordEnd::BracedBracket, b'[') => {
                self.enclosed(mode, WordEnd::Bracket, builder)?;
            }
            _ => self.literal_byte(builder),
        }
        Ok(true)
    }

    /// Parses nested brackets or parentheses, which must be balanced.
    fn enclosed(&mut self, mode: WordMode, ends: WordEnd, builder: &mut WordBuilder) -> Result<()> {
        let start = self.input.at;
        let (open, close) = if ends == WordEnd::Bracket { ("[", "]") } else { ("(", ")") };
        self.literal_byte(builder);
        let closer = if mode.outer.is_some() { mode.stop & (CLOSE_BRACE | SLASH) } else { 0 };
        let stop = QUOTE | GROUP | BRACKET | closer | if mode.globs { GLOB } else { 0 };
        self.nested(|parser| parser.parts(WordMode { ends, stop, tilde: Tilde::Never, ..mode }, builder))?;
        if self.peek().is_none() {
            return Err(self.unclosed(close, open, start));
        }
        if self.peek() == close.bytes().next() {
            self.literal_byte(builder);
        }
        Ok(())
    }

    /// Appends the next byte as a literal.
    pub(super) fn literal_byte(&mut self, builder: &mut WordBuilder) {
        let start = self.input.at;
        self.input.at += 1;
        builder.literal(self.input.slice(start, start + 1), self.span_from(start));
    }

    /// Parses a backslash outside double quotes, or in a word in `"${…}"`.
    fn backslash(&mut self, mode: WordMode, builder: &mut WordBuilder) {
        let start = self.input.at;
        if self.peek() != Some(b'\\') {
            return;
        }
        let next = self.input.ahead(1);
        let escapes = match next {
            // At the end of the input a backslash is literal.
            None => {
                builder.push(PartKind::Escaped(b'\\'), self.next_span(), WordFlags::QUOTED);
                self.input.at += 1;
                return;
            }
            Some(b'$' | b'`' | b'"' | b'\\' | b'}') => true,
            Some(_) => !mode.quoted,
        };
        let Some(byte) = next.filter(|_| escapes) else {
            self.literal_byte(builder);
            if next == Some(b'\'') {
                self.literal_byte(builder);
            }
            return;
        };
        let start = start.max(self.input.at);
        self.input.at += 2;
        builder.push(PartKind::Escaped(byte), self.span_from(start), WordFlags::QUOTED);
    }

    /// Parses `'…'`.
    fn single_quoted(&mut self, builder: &mut WordBuilder) -> Result<()> {
        let start = self.input.at;
        let mut searched = start + 1;
        loop {
            let rest = self.input.slice(searched, self.input.limit());
            if let Some(length) = memchr::memchr(b'\'', rest) {
                let end = searched + length;
                self.input.at = end + 1;
                let text = Bytes::from(self.input.slice(start + 1, end));
                builder.push(PartKind::SingleQuoted(text), self.span_from(start), WordFlags::QUOTED);
                return Ok(());
            }
            searched = self.input.limit();
            if !self.input.refill() {
                return Err(self.unclosed("'", "'", start));
            }
        }
    }

    /// Parses single quotes in `"${name:-…}"`. They are literal and do not quote, but they must be balanced,
    /// and a brace between them does not end the word.
    fn literal_quotes(&mut self, mode: WordMode, builder: &mut WordBuilder) -> Result<()> {
        let start = self.input.at;
        self.literal_byte(builder);
        let Some(length) = memchr::memchr(b'\'', self.input.remaining()) else {
            return Err(self.unclosed("'", "'", start));
        };
        let limit = self.input.set_limit(self.input.at + length);
        let inside = WordMode { stop: QUOTE, ends: WordEnd::Input, tilde: Tilde::Never, ..mode };
        let result = self.nested(|parser| parser.parts(inside, builder));
        self.input.set_limit(limit);
        result?;
        self.literal_byte(builder);
        Ok(())
    }

    /// Returns the span of the next byte.
    pub(super) fn next_span(&self) -> Span {
        self.input.span(self.input.at, self.input.at + 1)
    }
}
