//! The patterns of `grep`.

use std::sync::Arc;

use haft_kernel::Bytes;
use haft_text::encoding::Encoding;
use haft_text::regex::gnu::{
    GnuMatchExtent, GnuRegex, GnuRegexError, GnuRegexOptions, GnuSyntax, leading_operators,
};

use super::super::recent::RecentlyUsed;
use super::{TROUBLE, complain};
use crate::text::streams::{Stop, TextRun};

/// The syntax of a pattern.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum PatternSyntax {
    Basic,
    Extended,
    Fixed,
}

/// Two options select different syntaxes.
pub(super) struct ConflictingMatchers;

/// The options about patterns.
pub(super) struct PatternOptions {
    syntax: Option<PatternSyntax>,
    extent: GnuMatchExtent,
    ignore_case: bool,
    pub(super) is_given: bool,
    pub(super) patterns: Vec<Bytes>,
}

impl PatternOptions {
    pub(super) fn new(syntax: PatternSyntax) -> Self {
        Self {
            syntax: (syntax != PatternSyntax::Basic).then_some(syntax),
            extent: GnuMatchExtent::Anywhere,
            ignore_case: false,
            is_given: false,
            patterns: Vec::new(),
        }
    }

    /// Applies an option. Returns whether it is about patterns.
    pub(super) fn option(
        &mut self,
        run: &mut TextRun<'_, '_>,
        name: &str,
        value: &[u8],
    ) -> Result<bool, Stop> {
        match name {
            "regexp" => self.add(value),
            "file" => self.add_file(run, value)?,
            _ => {
                let is_choice = self.choice(name);
                return is_choice.or_else(|ConflictingMatchers| run.fail("conflicting matchers specified"));
            }
        }
        Ok(true)
    }

    /// Applies an option without a value. Returns whether it is about patterns.
    pub(super) fn choice(&mut self, name: &str) -> Result<bool, ConflictingMatchers> {
        match name {
            "extended-regexp" => self.set_syntax(PatternSyntax::Extended)?,
            "fixed-strings" => self.set_syntax(PatternSyntax::Fixed)?,
            "basic-regexp" => self.set_syntax(PatternSyntax::Basic)?,
            "ignore-case" | "y" => self.ignore_case = true,
            "no-ignore-case" => self.ignore_case = false,
            "line-regexp" => self.extent = GnuMatchExtent::Whole,
            "word-regexp" if self.extent != GnuMatchExtent::Whole => self.extent = GnuMatchExtent::Word,
            _ => return Ok(false),
        }
        Ok(true)
    }

    fn set_syntax(&mut self, syntax: PatternSyntax) -> Result<(), ConflictingMatchers> {
        if self.syntax.is_some_and(|known| known != syntax) {
            return Err(ConflictingMatchers);
        }
        self.syntax = Some(syntax);
        Ok(())
    }

    /// Whether no line can be selected by the absence of a match, because every line matches.
    pub(super) fn match_every_line(&self) -> bool {
        self.extent == GnuMatchExtent::Anywhere && matches!(&self.patterns[..], [only] if only.is_empty())
    }

    /// Adds each line as a pattern.
    pub(super) fn add(&mut self, patterns: &[u8]) {
        self.is_given = true;
        self.patterns.extend(patterns.split(|byte| *byte == b'\n').map(Bytes::from));
    }

    fn add_file(&mut self, run: &mut TextRun<'_, '_>, name: &[u8]) -> Result<(), Stop> {
        self.is_given = true;
        let opened = match name {
            b"-" => Ok(run.standard_input()),
            _ => run.try_open(&Bytes::from(name))?,
        };
        let mut input = match opened {
            Ok(input) => input,
            Err(error) => {
                let reason = haft_fs::message(&error);
                complain(run, &[name, b": ", reason.as_bytes()].concat());
                return Err(Stop::Exit(TROUBLE));
            }
        };
        let content = input.read_all(run)?;
        if input.has_failed() {
            return Err(Stop::Exit(TROUBLE));
        }
        self.add_lines(&content);
        Ok(())
    }

    /// Adds the content of a file of patterns.
    pub(super) fn add_lines(&mut self, content: &[u8]) {
        self.is_given = true;
        if !content.is_empty() {
            self.add(content.strip_suffix(b"\n").unwrap_or(content));
        }
    }

    pub(super) fn compile(
        &self,
        run: &mut TextRun<'_, '_>,
        encoding: Encoding,
    ) -> Result<Option<Arc<GnuRegex>>, Stop> {
        if self.patterns.is_empty() {
            return Ok(None);
        }
        let key = self.key(encoding);
        let options = key.options;
        let compiled = RECENT.get_or_make(key, RegexKey::compile);
        if self.syntax == Some(PatternSyntax::Extended) && compiled.is_ok() {
            let operators =
                self.patterns.iter().filter_map(|pattern| leading_operators(pattern, options).ok());
            for operator in operators.flatten() {
                complain(run, format!("warning: {operator} at start of expression").as_bytes());
            }
        }
        match compiled {
            Ok(regex) => Ok(Some(regex)),
            Err(error) => run.fail(error),
        }
    }

    fn key(&self, encoding: Encoding) -> RegexKey {
        let syntax = match self.syntax {
            Some(PatternSyntax::Extended) => GnuSyntax::GrepExtended,
            _ => GnuSyntax::GrepBasic,
        };
        let options =
            GnuRegexOptions { ignore_case: self.ignore_case, ..GnuRegexOptions::new(syntax, encoding) };
        let is_fixed = self.syntax == Some(PatternSyntax::Fixed);
        RegexKey { patterns: self.patterns.clone(), extent: self.extent, options, is_fixed }
    }

    /// Whether a search might fail where GNU's `grep` does not.
    pub(super) fn are_inexact(&self, encoding: Encoding) -> bool {
        let length: usize = self.patterns.iter().map(|pattern| pattern.len() + 1).sum();
        // In a basic expression, GNU's `grep` reads the second of them as a character.
        let has_two_anchors = self.patterns.iter().any(|it| memchr::memmem::find(it, b"^^").is_some());
        length > MAX_PATTERN_BYTES
            || has_two_anchors
            || !self.patterns.is_empty()
                && RECENT.get_or_make(self.key(encoding), RegexKey::compile).map_or(true, |regex| {
                    // GNU's library takes some bytes that are not characters for letters.
                    regex.has_back_references() || encoding == Encoding::Utf8 && regex.has_word_interiors()
                })
    }
}

/// The most bytes of patterns that are searched for in-process if there is a program. GNU's program is made for more.
const MAX_PATTERN_BYTES: usize = 16 << 10;

/// The patterns of the last calls.
static RECENT: RecentlyUsed<RegexKey, GnuRegex> = RecentlyUsed::new();

/// Everything that a compiled expression depends on.
#[derive(PartialEq)]
struct RegexKey {
    patterns: Vec<Bytes>,
    extent: GnuMatchExtent,
    options: GnuRegexOptions,
    is_fixed: bool,
}

impl RegexKey {
    fn compile(&self) -> Result<GnuRegex, GnuRegexError> {
        let patterns: Vec<&[u8]> = self.patterns.iter().map(|pattern| &**pattern).collect();
        match self.is_fixed {
            true => GnuRegex::fixed(&patterns, self.extent, self.options),
            false => GnuRegex::any_of(&patterns, self.extent, self.options),
        }
    }
}
