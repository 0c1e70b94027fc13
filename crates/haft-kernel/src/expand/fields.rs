//! The entries: a word to fields, to a string, to a pattern.

use haft_lang::ast::{PartKind, Word, WordContent, WordFlags, WordPart};

use super::sink::{Field, Mode, Sink};
use crate::bytes::Bytes;
use crate::expand::Separators;
use crate::flow::Unwind;
use crate::options::SetOption;
use crate::session::Session;
use crate::variables::Value;

impl Session {
    /// What `IFS` says now.
    pub(crate) fn separators(&self) -> Separators {
        match self.variables.get(b"IFS").map(|variable| (&variable.value, variable.attributes)) {
            Some((Value::Scalar(value), attributes)) if !attributes.intersects(super::fields::INDIRECT) => {
                Separators::new(Some(value))
            }
            None => Separators::new(None),
            Some(_) => Separators::new(self.value(b"IFS").as_deref()),
        }
    }

    /// Expands words to arguments: braces, expansions, splitting, globs, quote removal.
    pub(crate) fn expand_words(&mut self, words: &[Word], fields: &mut Vec<Bytes>) -> Result<(), Unwind> {
        words.iter().try_for_each(|word| self.expand_fields(word, fields))
    }

    /// Expands a word to arguments.
    pub(crate) fn expand_fields(&mut self, word: &Word, fields: &mut Vec<Bytes>) -> Result<(), Unwind> {
        match &word.content {
            WordContent::Plain(text) | WordContent::Static { text, .. } => {
                fields.push(text.into());
                Ok(())
            }
            WordContent::Parts(parts) => {
                if let [part] = &**parts
                    && let Some(field) = self.single_variable(part)
                {
                    fields.push(field);
                    return Ok(());
                }
                self.expand_parts_to_fields(word, parts, fields)
            }
        }
    }

    #[inline(never)]
    fn expand_parts_to_fields(
        &mut self,
        word: &Word,
        parts: &[WordPart],
        fields: &mut Vec<Bytes>,
    ) -> Result<(), Unwind> {
        if word.flags.contains(WordFlags::BRACES) && self.options.has(SetOption::BraceExpand) {
            return self.expand_braces(parts, fields);
        }
        let mut sink = Sink::new(Mode::Fields, self.separators());
        self.expand_parts(parts, false, &mut sink)?;
        self.finish_fields(sink.into_fields(), fields)
    }

    /// Turns fields into arguments: those that are patterns into the names they match.
    pub(super) fn finish_fields(&mut self, made: Vec<Field>, fields: &mut Vec<Bytes>) -> Result<(), Unwind> {
        for field in made {
            match field.pattern {
                Some(pattern) if !self.options.has(SetOption::NoGlob) => {
                    self.expand_glob(&field.text, &pattern, fields)?;
                }
                _ => fields.push(field.text),
            }
        }
        Ok(())
    }

    /// The field that a word of a single plain variable makes, if its value makes exactly one as it stands.
    fn single_variable(&self, part: &WordPart) -> Option<Bytes> {
        let (name, quoted) = match &part.kind {
            PartKind::Variable(name) => (name, false),
            PartKind::DoubleQuoted(parts) => match &**parts {
                [WordPart { kind: PartKind::Variable(name), .. }] => (name, true),
                _ => return None,
            },
            _ => return None,
        };
        let variable = self.variables.get(name)?;
        let Value::Scalar(value) = &variable.value else { return None };
        if variable.attributes.intersects(INDIRECT) {
            return None;
        }
        if quoted {
            return Some(value.clone());
        }
        let separators = self.separators();
        let plain = |byte: &u8| !separators.separates(*byte) && !matches!(byte, b'*' | b'?' | b'[' | b'(');
        (!value.is_empty() && value.iter().all(plain)).then(|| value.clone())
    }

    /// Expands a word to one string: no splitting, no globs.
    pub(crate) fn expand_string(&mut self, word: &Word) -> Result<Bytes, Unwind> {
        match &word.content {
            WordContent::Plain(text) | WordContent::Static { text, .. } => Ok(text.into()),
            WordContent::Parts(parts) => {
                if let [part] = &**parts
                    && let Some(value) = self.whole_variable(part)
                {
                    return Ok(value);
                }
                let mut sink = Sink::new(Mode::String, self.separators());
                self.expand_parts(parts, false, &mut sink)?;
                Ok(sink.into_text().into())
            }
        }
    }

    fn whole_variable(&self, part: &WordPart) -> Option<Bytes> {
        let name = match &part.kind {
            PartKind::Variable(name) => name,
            PartKind::DoubleQuoted(parts) => match &**parts {
                [WordPart { kind: PartKind::Variable(name), .. }] => name,
                _ => return None,
            },
            _ => return None,
        };
        let variable = self.variables.get(name)?;
        match &variable.value {
            Value::Scalar(value) if !variable.attributes.intersects(INDIRECT) => Some(value.clone()),
            _ => None,
        }
    }

    /// Expands parts to one string, as in double quotes.
    pub(crate) fn expand_quoted(&mut self, parts: &[WordPart]) -> Result<Bytes, Unwind> {
        let mut sink = Sink::new(Mode::String, self.separators());
        self.expand_parts(parts, true, &mut sink)?;
        Ok(sink.into_text().into())
    }

    /// Expands the body of a here-document, in which a space joins `$*` whatever `IFS` says.
    pub(crate) fn expand_document(&mut self, parts: &[WordPart]) -> Result<Bytes, Unwind> {
        let mut sink = Sink::new(Mode::String, Separators::new(None));
        self.expand_parts(parts, true, &mut sink)?;
        Ok(sink.into_text().into())
    }

    /// Expands a word to the text of a pattern.
    pub(crate) fn expand_pattern(&mut self, word: &Word) -> Result<Vec<u8>, Unwind> {
        self.expand_mode(word, Mode::Pattern)
    }

    /// Expands a word to the text of a regular expression.
    pub(crate) fn expand_regex(&mut self, word: &Word) -> Result<Vec<u8>, Unwind> {
        self.expand_mode(word, Mode::Regex)
    }

    /// Expands a word to the text of a replacement, in which an `&` without a backslash stands for the match.
    pub(crate) fn expand_replacement(&mut self, word: &Word) -> Result<Vec<u8>, Unwind> {
        self.expand_mode(word, Mode::Replacement)
    }

    fn expand_mode(&mut self, word: &Word, mode: Mode) -> Result<Vec<u8>, Unwind> {
        let mut sink = Sink::new(mode, self.separators());
        sink.thorough = self.traces();
        match &word.content {
            WordContent::Plain(text) => sink.literal(text),
            WordContent::Static { parts, .. } | WordContent::Parts(parts) => {
                self.expand_parts(parts, false, &mut sink)?;
            }
        }
        Ok(sink.into_text())
    }
}

/// Attributes with which a variable's value is not simply its value.
pub(super) const INDIRECT: crate::variables::Attributes =
    crate::session::SLOW.union(crate::variables::Attributes::UNSET);
