//! The entry points: expansion of a word to fields, to a string, to a pattern.

use std::borrow::Cow;

use haft_lang::ast::{PartKind, Word, WordContent, WordFlags, WordPart};
use haft_text::Bytes;

use super::sink::{Fields, Sink, SinkMode};
use crate::discard::discard_words;
use crate::flow::Unwind;
use crate::options::SetOption;
use crate::session::Session;
use crate::variables::{Attributes, Separators, VariableValue};

impl Session {
    /// Returns the field separators of the current `IFS`.
    pub(crate) fn separators(&self) -> Cow<'_, Separators> {
        match self.variables.separators() {
            Some(separators) => Cow::Borrowed(separators),
            None => Cow::Owned(Separators::new(self.value(b"IFS").as_deref())),
        }
    }

    /// Expands words to arguments, with all expansions: braces, parameters, commands, word splitting, pathnames, quote removal.
    pub(crate) fn expand_words(&mut self, words: &[Word], fields: &mut Vec<Bytes>) -> Result<(), Unwind> {
        words.iter().try_for_each(|word| self.expand_fields(word, fields))
    }

    /// Expands a word to arguments.
    pub(crate) fn expand_fields(&mut self, word: &Word, fields: &mut Vec<Bytes>) -> Result<(), Unwind> {
        match &word.content {
            WordContent::Plain(text) | WordContent::Static { text, .. } => {
                fields.push(text.clone());
                Ok(())
            }
            WordContent::Parts(parts) => {
                if let [part] = &**parts
                    && let Some(field) = self.single_field(part)
                {
                    fields.push(field);
                    return Ok(());
                }
                self.expand_parts_to_fields(word, parts, fields)
            }
        }
    }

    /// Expands the word of a redirection. In POSIX mode, only an interactive shell performs pathname expansion in it.
    pub(crate) fn expand_target(&mut self, word: &Word) -> Result<Vec<Bytes>, Unwind> {
        let mut names = Vec::new();
        let before = self.options.has(SetOption::NoGlob);
        self.options.put(SetOption::NoGlob, before || self.conforms());
        let expanded = self.expand_fields(word, &mut names);
        self.options.put(SetOption::NoGlob, before);
        expanded.map(|()| names)
    }

    #[inline(never)]
    fn expand_parts_to_fields(
        &mut self,
        word: &Word,
        parts: &[WordPart],
        fields: &mut Vec<Bytes>,
    ) -> Result<(), Unwind> {
        if word.flags.contains(WordFlags::BRACES) && self.options.has(SetOption::BraceExpand) {
            let expanded = self.expand_braces(parts, fields);
            if expanded.is_err() {
                discard_words(fields, &self.memory);
            }
            return expanded;
        }
        let mut sink = Sink::new(SinkMode::Fields, self.separators().into_owned());
        self.expand_parts(parts, false, &mut sink)?;
        self.finish_fields(sink.into_fields(), fields)
    }

    /// Applies pathname expansion to fields.
    pub(super) fn finish_fields(&mut self, made: Fields, fields: &mut Vec<Bytes>) -> Result<(), Unwind> {
        let Fields { mut texts, patterns } = made;
        if patterns.is_empty() || self.options.has(SetOption::NoGlob) {
            match fields.is_empty() && fields.capacity() < texts.len() {
                true => *fields = texts,
                false => fields.append(&mut texts),
            }
            return Ok(());
        }
        let mut patterns = patterns.into_iter().peekable();
        for (place, text) in texts.into_iter().enumerate() {
            match patterns.next_if(|(at, _)| *at == place) {
                Some((_, pattern)) => self.expand_glob(&text, &pattern, fields)?,
                None => fields.push(text),
            }
        }
        Ok(())
    }

    /// Returns the only field of a word that is a single parameter, if no splitting or pathname expansion applies to its value.
    fn single_field(&self, part: &WordPart) -> Option<Bytes> {
        let (value, quoted) = self.whole_value(part)?;
        (quoted || self.separators().leaves_whole(value)).then(|| value.clone())
    }

    /// Returns the value of a variable or positional parameter that makes up a whole word, and whether it is quoted.
    #[inline]
    fn whole_value(&self, part: &WordPart) -> Option<(&Bytes, bool)> {
        let (part, quoted) = match &part.kind {
            PartKind::DoubleQuoted(parts) => match &**parts {
                [part] => (part, true),
                _ => return None,
            },
            _ => (part, false),
        };
        let value = match &part.kind {
            PartKind::Variable(name) => {
                let variable = self.variables.get(name)?;
                match &variable.value {
                    VariableValue::Scalar(value) if !variable.attributes.intersects(Attributes::INDIRECT) => {
                        value
                    }
                    _ => return None,
                }
            }
            PartKind::Parameter(expansion) => {
                let place = expansion.plain_position()?.checked_sub(1)?;
                self.parameters.positional().get(place as usize)?
            }
            _ => return None,
        };
        Some((value, quoted))
    }

    /// Expands a word to one string, without word splitting and pathname expansion.
    pub(crate) fn expand_string(&mut self, word: &Word) -> Result<Bytes, Unwind> {
        match &word.content {
            WordContent::Plain(text) | WordContent::Static { text, .. } => Ok(text.clone()),
            WordContent::Parts(parts) => {
                if let [part] = &**parts
                    && let Some((value, _)) = self.whole_value(part)
                {
                    return Ok(value.clone());
                }
                let mut sink = Sink::new(SinkMode::String, self.separators().into_owned());
                self.expand_parts(parts, false, &mut sink)?;
                Ok(sink.into_text().into())
            }
        }
    }

    /// Expands the subject of `[[ ]]` or `case` to one string.
    pub(crate) fn expand_subject(&mut self, word: &Word) -> Result<Bytes, Unwind> {
        if let WordContent::Parts(parts) = &word.content
            && !matches!(&**parts, [part] if self.whole_value(part).is_some())
        {
            let mut sink = Sink::new(SinkMode::String, self.separators().into_owned());
            sink.subject = true;
            self.expand_parts(parts, false, &mut sink)?;
            return Ok(sink.into_text().into());
        }
        self.expand_string(word)
    }

    /// Expands a word to one string, without tilde expansion.
    pub(crate) fn expand_without_tilde(&mut self, word: &Word) -> Result<Bytes, Unwind> {
        let WordContent::Parts(parts) = &word.content else { return self.expand_string(word) };
        let mut sink = Sink::new(SinkMode::String, self.separators().into_owned());
        for part in parts {
            match &part.kind {
                PartKind::Tilde(user) => {
                    sink.literal(b"~");
                    sink.literal(user);
                }
                _ => self.expand_part(part, false, &mut sink)?,
            }
        }
        Ok(sink.into_text().into())
    }

    /// Expands parts to one string, as in double quotes.
    pub(crate) fn expand_quoted(&mut self, parts: &[WordPart]) -> Result<Bytes, Unwind> {
        let mut sink = Sink::new(SinkMode::String, self.separators().into_owned());
        self.expand_parts(parts, true, &mut sink)?;
        Ok(sink.into_text().into())
    }

    /// Expands the body of a here-document.
    pub(crate) fn expand_document(&mut self, parts: &[WordPart]) -> Result<Bytes, Unwind> {
        let mut sink = Sink::new(SinkMode::String, self.separators().into_owned());
        sink.document = true;
        self.expand_parts(parts, true, &mut sink)?;
        Ok(sink.into_text().into())
    }

    /// Expands a word to the text of a pattern.
    pub(crate) fn expand_pattern(&mut self, word: &Word) -> Result<Vec<u8>, Unwind> {
        self.expand_mode(word, SinkMode::Pattern)
    }

    /// Expands a word to the text of a regular expression.
    pub(crate) fn expand_regex(&mut self, word: &Word) -> Result<Vec<u8>, Unwind> {
        self.expand_mode(word, SinkMode::Regex)
    }

    /// Expands a word to the text of a replacement, in which an unescaped `&` means the match.
    pub(crate) fn expand_replacement(&mut self, word: &Word) -> Result<Vec<u8>, Unwind> {
        self.expand_mode(word, SinkMode::Replacement)
    }

    fn expand_mode(&mut self, word: &Word, mode: SinkMode) -> Result<Vec<u8>, Unwind> {
        let mut sink = Sink::new(mode, self.separators().into_owned());
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
