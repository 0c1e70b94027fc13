//! Words outside double quotes.

use crate::ast::{PartKind, Span, Text, Word, WordContent, WordFlags};

use super::builder::WordBuilder;
use super::bytes::{self, BRACE, BRACKET, BREAK, CLOSE_BRACE, COLON, EQUAL, GLOB, GROUP, QUOTE, SLASH};
use super::dollar::Quoting;
use super::{Parser, Result};

/// How a word is read, which depends on where it stands.
#[derive(Clone, Copy)]
pub(super) struct WordMode {
    /// The bytes that interrupt a literal.
    pub(super) stop: u16,
    /// What ends the word.
    pub(super) ends: WordEnd,
    /// Whether `*`, `?` and `[` match.
    pub(super) globs: bool,
    /// Whether `@(…)` and its kin match.
    pub(super) extglob: bool,
    /// Whether braces are expanded.
    pub(super) braces: bool,
    /// Where a tilde is expanded.
    pub(super) tilde: Tilde,
    /// Whether the whole stands in double quotes.
    pub(super) quoted: bool,
    /// What ends the word around an extended glob, and with it a glob that is not closed.
    pub(super) outer: Option<WordEnd>,
}

/// What ends a word.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum WordEnd {
    /// A blank, a newline, an operator.
    Break,
    /// `}`.
    Brace,
    /// `/` or `}`.
    Slash,
    /// `|` or `)`, of an extended glob.
    Alternative,
    /// `)`, of parentheses that mean nothing.
    Parenthesis,
    /// `]`.
    Bracket,
    /// `]`, within `${…}`, where `}` ends all.
    BracedBracket,
    /// Nothing but the end of the input.
    Input,
    /// What ends a word, save that parentheses and `|` belong to it.
    Regex,
}

/// Where a tilde is expanded.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Tilde {
    /// Nowhere.
    Never,
    /// At the beginning; and in a word that looks like an assignment, as in one.
    Word,
    /// At the beginning alone.
    Start,
    /// At the beginning, and after each colon.
    Assignment,
}

const WORD: u16 = BREAK | QUOTE | GLOB | BRACE | EQUAL;

impl WordMode {
    /// An argument, a `for` word, a redirection target.
    pub(super) fn argument(extglob: bool) -> Self {
        let tilde = Tilde::Word;
        Self { stop: WORD, globs: true, braces: true, tilde, ..Self::value(extglob) }
    }

    /// The value of an assignment.
    pub(super) fn value(extglob: bool) -> Self {
        let stop = BREAK | QUOTE | COLON | if extglob { GLOB } else { 0 };
        let tilde = Tilde::Assignment;
        let ends = WordEnd::Break;
        Self { stop, ends, globs: false, extglob, braces: false, tilde, quoted: false, outer: None }
    }

    /// A single word that is not split: the subject of `case`, a here-string, an operand of `[[ ]]`.
    pub(super) fn single(extglob: bool) -> Self {
        Self {
            stop: BREAK | QUOTE | if extglob { GLOB } else { 0 },
            tilde: Tilde::Start,
            ..Self::value(extglob)
        }
    }

    /// A pattern of `case` or `[[ ]]`.
    pub(super) fn pattern(extglob: bool) -> Self {
        Self { stop: BREAK | QUOTE | GLOB, globs: true, ..Self::single(extglob) }
    }

    /// The word in `${name:-word}`.
    pub(super) fn operand(quoted: bool) -> Self {
        let stop = BREAK | QUOTE | CLOSE_BRACE | if quoted { 0 } else { GLOB };
        let tilde = if quoted { Tilde::Never } else { Tilde::Start };
        Self { stop, ends: WordEnd::Brace, globs: !quoted, tilde, quoted, ..Self::value(!quoted) }
    }

    /// The pattern in `${name#pattern}`.
    pub(super) fn operand_pattern() -> Self {
        Self::operand(false)
    }

    /// The pattern in `${name/pattern/replacement}`.
    pub(super) fn replaced() -> Self {
        Self {
            stop: BREAK | QUOTE | CLOSE_BRACE | GLOB | SLASH,
            ends: WordEnd::Slash,
            ..Self::operand(false)
        }
    }

    /// The replacement in `${name/pattern/replacement}`.
    pub(super) fn replacement() -> Self {
        Self { stop: QUOTE | CLOSE_BRACE, globs: false, extglob: false, ..Self::operand(false) }
    }

    /// A subscript.
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

    /// An alternative of an extended glob.
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

    /// A regular expression of `[[ ]]`.
    pub(super) fn regex() -> Self {
        Self { ends: WordEnd::Regex, ..Self::single(false) }
    }
}

impl Parser<'_> {
    /// A word, which may turn out empty if nothing of it comes next.
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
            let content = WordContent::Plain(Text::prefix(rest, length));
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

    /// The word that ends here, in which braces may be marked.
    pub(super) fn finish_marked(&mut self, start: usize, mut builder: Box<WordBuilder>) -> Result<Word> {
        if !builder.marks.is_empty() {
            self.resolve_braces(&mut builder)?;
        }
        Ok(self.finish_word(start, builder))
    }

    /// The word that ends here.
    pub(super) fn finish_word(&mut self, start: usize, mut builder: Box<WordBuilder>) -> Word {
        let word = builder.finish(self.span_from(start), &mut self.slab);
        self.recycle(builder);
        word
    }

    /// An empty builder, which may have room already.
    pub(super) fn builder(&mut self) -> Box<WordBuilder> {
        self.pool.builders.pop().unwrap_or_default()
    }

    /// Keeps the room of a builder, of which nothing is left.
    pub(super) fn recycle(&mut self, builder: Box<WordBuilder>) {
        debug_assert!(builder.is_empty());
        self.pool.builders.push(builder);
    }

    /// The parts of a word.
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

    /// What begins with a byte that interrupts a literal. Returns false if it ends the word.
    fn part(&mut self, byte: u8, mode: &mut WordMode, builder: &mut WordBuilder) -> Result<bool> {
        match byte {
            b'\\' => self.backslash(*mode, builder),
            b'\'' if mode.quoted && self.options.posix => self.literal_byte(builder),
            b'\'' if mode.quoted => self.literal_quotes(*mode, builder)?,
            b'\'' => self.single_quoted(builder)?,
            b'"' => self.double_quoted(builder, self.input.at, false)?,
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

    /// A byte that may end the word. Returns false if it does.
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

    /// Brackets within brackets, which must balance.
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

    /// Takes the next byte as it is.
    pub(super) fn literal_byte(&mut self, builder: &mut WordBuilder) {
        let start = self.input.at;
        self.input.at += 1;
        builder.literal(self.input.slice(start, start + 1), self.span_from(start));
    }

    /// A backslash outside double quotes, or in a word within `"${…}"`.
    fn backslash(&mut self, mode: WordMode, builder: &mut WordBuilder) {
        let start = self.input.at;
        if self.peek() != Some(b'\\') {
            return;
        }
        let next = self.input.ahead(1);
        let escapes = match next {
            // At the end of the input it stands for itself, as if it were written twice.
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

    /// `'…'`.
    fn single_quoted(&mut self, builder: &mut WordBuilder) -> Result<()> {
        let start = self.input.at;
        let mut searched = start + 1;
        loop {
            let rest = self.input.slice(searched, self.input.limit());
            if let Some(length) = memchr::memchr(b'\'', rest) {
                let end = searched + length;
                self.input.at = end + 1;
                let text = Text::from(self.input.slice(start + 1, end));
                builder.push(PartKind::SingleQuoted(text), self.span_from(start), WordFlags::QUOTED);
                return Ok(());
            }
            searched = self.input.limit();
            if !self.input.refill() {
                return Err(self.unclosed("'", "'", start));
            }
        }
    }

    /// Single quotes within `"${name:-…}"`. They are literal and quote nothing, but they must close, and a brace
    /// between them does not end the word.
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

    /// The span of the byte that comes next.
    pub(super) fn next_span(&self) -> Span {
        self.input.span(self.input.at, self.input.at + 1)
    }
}
