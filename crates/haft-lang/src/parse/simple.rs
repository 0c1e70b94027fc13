//! SimpleCommandBuilder commands and assignments.

use crate::Expected;
use crate::ast::{
    Argument, ArrayElement, Assignment, AssignmentValue, Bytes, CacheSlot, Command, CommandKind, Name,
    PartKind, Redirect, SharedSlice, SimpleCommand, Subscript, SubscriptKind, Word, WordContent, WordFlags,
    WordPart,
};

use crate::sys::Arena;

use super::builder::WordBuilder;
use super::bytes::{self, BREAK};
use super::word::WordMode;
use super::{Parser, Result, Speculation};

/// Builds a simple command.
#[derive(Default)]
pub(super) struct SimpleCommandBuilder {
    assignments: Vec<Assignment>,
    arguments: Vec<Argument>,
    redirects: Vec<Redirect>,
    kind: AssignmentHandling,
}

/// How a command treats arguments that look like assignments.
#[derive(Clone, Copy, Default, PartialEq, Eq)]
enum AssignmentHandling {
    /// As words.
    #[default]
    Plain,
    /// As assignments: `declare` and the other declaration builtins.
    Declaration,
    /// As words, with `name=(…)` as a single word: `eval` and `let`.
    Compound,
}

/// The left side of an assignment.
struct AssignmentLeftSide {
    name: Name,
    subscript: Option<Box<Subscript>>,
    append: bool,
}

impl Parser<'_> {
    /// Parses a simple command, or a function definition of the form `name()`.
    pub(super) fn simple_command(&mut self) -> Result<Command> {
        let start = self.input.at;
        let mut line = self.line_at(start);
        let mut simple = self.pool.commands.pop().unwrap_or_default();
        let mut end = start;
        loop {
            self.skip_blanks();
            let before = self.input.at;
            if self.begins_function(&simple) {
                return self.function_after_name(start, end, &simple);
            }
            if !self.simple_part(&mut simple)? {
                break;
            }
            end = self.input.at;
            debug_assert!(end > before);
            // bash uses the line on which the first assignment, or the word after the command name, ends.
            let noted = match (simple.assignments.len(), simple.arguments.len()) {
                (0, 2) | (1, 0) => simple.redirects.is_empty(),
                _ => false,
            };
            if noted && self.input.slice(start, end).contains(&b'\n') {
                line = self.line_at(end - 1);
            }
        }
        if end == start {
            return Err(self.unexpected(Some(Expected::Command), None));
        }
        let command = simple.finish(self.input.span(start, end), line, &mut self.arena);
        self.pool.commands.push(simple);
        Ok(command)
    }

    /// Whether a function definition starts here: a single word followed by `(`.
    fn begins_function(&mut self, simple: &SimpleCommandBuilder) -> bool {
        simple.arguments.len() == 1
            && self.peek() == Some(b'(')
            && simple.assignments.is_empty()
            && simple.redirects.is_empty()
    }

    /// Parses a redirection, assignment or word. Returns false if there is none.
    fn simple_part(&mut self, simple: &mut SimpleCommandBuilder) -> Result<bool> {
        let Some(byte) = self.peek() else { return Ok(false) };
        if matches!(byte, b'<' | b'>' | b'&' | b'{' | b'0'..=b'9')
            && let Some(redirect) = self.redirect()?
        {
            simple.redirects.push(redirect);
            if simple.assignments.is_empty() {
                self.expand_alias_of_name(simple);
            }
            return Ok(true);
        }
        if bytes::is(byte, BREAK) && !self.at_process_substitution() {
            return Ok(false);
        }
        if simple.arguments.is_empty()
            && let Some(assignment) = self.assignment()?
        {
            simple.assignments.push(assignment);
            self.expand_alias_of_name(simple);
            return Ok(true);
        }
        self.argument(simple)?;
        Ok(true)
    }

    /// Expands an alias in the command name. It may follow assignments or redirections, but bash expands none
    /// after both.
    fn expand_alias_of_name(&mut self, simple: &SimpleCommandBuilder) {
        if simple.arguments.is_empty() && self.options.aliases.is_some() {
            self.skip_blanks();
            self.expand_aliases();
        }
    }

    fn at_process_substitution(&mut self) -> bool {
        matches!(self.peek(), Some(b'<' | b'>')) && self.peek_second() == Some(b'(')
    }

    fn argument(&mut self, simple: &mut SimpleCommandBuilder) -> Result<()> {
        if self.alias_next.is_some() && !simple.arguments.is_empty() {
            self.expand_alias_after_blank();
            if self.at_break() {
                return Ok(());
            }
        }
        match simple.kind {
            AssignmentHandling::Declaration => {
                if let Some(argument) = self.declaration()? {
                    simple.arguments.push(argument);
                    return Ok(());
                }
            }
            AssignmentHandling::Compound => {
                if let Some(word) = self.compound_word()? {
                    simple.arguments.push(Argument::Word(word));
                    return Ok(());
                }
            }
            AssignmentHandling::Plain if !simple.arguments.is_empty() => {
                if self.json_argument(&mut simple.arguments)? {
                    return Ok(());
                }
            }
            AssignmentHandling::Plain => {}
        }
        let word = match simple.arguments.is_empty() && self.has_failed(Speculation::Word, self.input.at) {
            true => self.subscripted_word()?,
            false => self.word(WordMode::argument(self.options.extglob))?,
        };
        if simple.arguments.is_empty() {
            simple.kind = kind_of(word.plain());
        }
        simple.arguments.push(Argument::Word(word));
        Ok(())
    }

    /// Parses a word `name[…]…` in the position of an assignment. Blanks between the brackets are part of it.
    fn subscripted_word(&mut self) -> Result<Word> {
        let start = self.input.at;
        let mut builder = self.builder();
        let name = self.name();
        builder.literal(&name, self.span_from(start));
        self.literal_byte(&mut builder);
        self.nested(|parser| parser.parts(WordMode::subscript(false), &mut builder))?;
        self.parts(WordMode::argument(self.options.extglob), &mut builder)?;
        self.finish_marked(start, builder)
    }

    /// Parses an assignment, if one comes next.
    fn assignment(&mut self) -> Result<Option<Assignment>> {
        let start = self.input.at;
        let Some(target) = self.target_of_assignment()? else { return Ok(None) };
        let value = self.assigned_value(false)?;
        let AssignmentLeftSide { name, subscript, append } = target;
        Ok(Some(Assignment { span: self.span_from(start), name, subscript, append, value }))
    }

    /// Parses `name=`, `name+=` or `name[…]=`. Consumes nothing if there is none.
    fn target_of_assignment(&mut self) -> Result<Option<AssignmentLeftSide>> {
        let start = self.input.at;
        let rest = self.input.remaining();
        let length = bytes::name_length(rest);
        if length == 0 || !matches!(rest.get(length), Some(b'=' | b'+' | b'[' | b'\\') | None) {
            return Ok(None);
        }
        if self.has_failed(Speculation::Assignment, start) {
            return Ok(None);
        }
        let name = self.name();
        let subscript = if self.peek() == Some(b'[') { Some(Box::new(self.subscript()?)) } else { None };
        let append = self.peek() == Some(b'+');
        self.input.at += usize::from(append);
        if self.eat(b'=') {
            return Ok(Some(AssignmentLeftSide { name, subscript, append }));
        }
        self.input.at = start;
        self.note_failed(Speculation::Assignment, start);
        if subscript.is_some_and(|subscript| has_breaks(&subscript)) {
            self.note_failed(Speculation::Word, start);
        }
        Ok(None)
    }

    /// Parses the value after the `=`. With `braces`, marks braces as in an argument.
    fn assigned_value(&mut self, braces: bool) -> Result<AssignmentValue> {
        if self.peek() != Some(b'(') {
            let mut mode = WordMode::value(self.options.extglob);
            if braces {
                mode.braces = true;
                mode.stop |= bytes::BRACE;
            }
            return Ok(AssignmentValue::Word(self.word(mode)?));
        }
        let start = self.input.at;
        let elements = self.nested(Self::array_elements)?;
        if self.peek().is_none_or(|byte| bytes::is(byte, BREAK)) {
            return Ok(AssignmentValue::Array(elements));
        }
        // Text follows the parenthesis directly: bash treats the whole value as a string.
        let rest = self.word(WordMode::value(self.options.extglob))?;
        let text = Bytes::from(self.input.slice(start, self.input.at));
        let span = self.span_from(start).to(rest.span);
        Ok(AssignmentValue::Word(Word { span, flags: WordFlags::QUOTED, content: glued(text, span) }))
    }

    /// Parses the elements of `(…)`.
    fn array_elements(&mut self) -> Result<SharedSlice<ArrayElement>> {
        let start = self.input.at;
        self.input.at += 1;
        let mut elements = Vec::new();
        loop {
            self.skip_newlines()?;
            match self.peek() {
                None => return Err(self.unclosed(")", "(", start)),
                Some(b')') => {
                    self.input.at += 1;
                    return Ok(self.arena.slice_from(&mut elements));
                }
                Some(byte) if bytes::is(byte, BREAK) && !self.at_process_substitution() => {
                    let opened = self.opened("(", start);
                    return Err(self.unexpected(Some(Expected::ArrayElement), Some(opened)));
                }
                Some(_) => elements.push(self.array_element()?),
            }
        }
    }

    fn array_element(&mut self) -> Result<ArrayElement> {
        let start = self.input.at;
        let mut subscript = None;
        let mut append = false;
        if self.peek() == Some(b'[') && !self.has_failed(Speculation::Assignment, start) {
            let found = self.subscript()?;
            append = self.peek() == Some(b'+');
            self.input.at += usize::from(append);
            if self.eat(b'=') {
                subscript = Some(Box::new(found));
            } else {
                self.input.at = start;
                self.note_failed(Speculation::Assignment, start);
                append = false;
            }
        }
        let extglob = self.options.extglob;
        let mode = if subscript.is_some() { WordMode::value(extglob) } else { WordMode::argument(extglob) };
        let value = self.word(mode)?;
        Ok(ArrayElement { span: self.span_from(start), subscript, append, value })
    }

    /// Parses an assignment argument of a declaration builtin. With a brace expansion it is several
    /// arguments, so it becomes a word.
    fn declaration(&mut self) -> Result<Option<Argument>> {
        let start = self.input.at;
        let Some(AssignmentLeftSide { name, subscript, append }) = self.target_of_assignment()? else {
            return Ok(None);
        };
        let value_start = self.input.at;
        let value = self.assigned_value(true)?;
        let span = self.span_from(start);
        match value {
            AssignmentValue::Word(value) if value.flags.contains(WordFlags::BRACES) => {
                let mut builder = WordBuilder::default();
                builder.flags = value.flags.union(WordFlags::ASSIGNMENT);
                builder.literal(self.input.slice(start, value_start), span);
                value.parts().iter().cloned().for_each(|part: WordPart| builder.append(part));
                Ok(Some(Argument::Word(builder.finish(span, &mut self.arena))))
            }
            value => {
                let assignment = Assignment { span, name, subscript, append, value };
                Ok(Some(Argument::Assignment(Box::new(assignment))))
            }
        }
    }

    /// Parses `name=(…)` as a single word, as `eval` and `let` receive it. Blanks and parentheses are part of
    /// the word, and quotes are removed as usual.
    fn compound_word(&mut self) -> Result<Option<Word>> {
        let rest = self.input.remaining();
        let length = bytes::name_length(rest);
        let compound = rest[length..].starts_with(b"=(") || rest[length..].starts_with(b"+=(");
        if length == 0 || !compound {
            return Ok(None);
        }
        let start = self.input.at;
        let Some(assignment) = self.assignment()? else { return Ok(None) };
        let span = self.span_from(start);
        let AssignmentValue::Array(elements) = &assignment.value else {
            let text = Bytes::from(self.input.slice(start, self.input.at));
            return Ok(Some(Word { span, flags: WordFlags::QUOTED, content: glued(text, span) }));
        };
        let mut builder = WordBuilder::default();
        builder.literal(&assignment.name, span);
        builder.literal(if assignment.append { b"+=(" } else { b"=(" }, span);
        for (index, element) in elements.iter().enumerate() {
            if index > 0 {
                builder.literal(b" ", span);
            }
            splice_element(&mut builder, element);
        }
        builder.literal(b")", span);
        Ok(Some(builder.finish(span, &mut self.arena)))
    }
}

/// Appends an array element, including its subscript, to a word.
fn splice_element(builder: &mut WordBuilder, element: &ArrayElement) {
    if let Some(subscript) = &element.subscript {
        builder.literal(b"[", element.span);
        match &subscript.kind {
            SubscriptKind::At => builder.literal(b"@", element.span),
            SubscriptKind::Star => builder.literal(b"*", element.span),
            SubscriptKind::Element { key, .. } => splice(builder, key),
        }
        builder.literal(if element.append { b"]+=" } else { b"]=" }, element.span);
    }
    splice(builder, &element.value);
}

fn splice(builder: &mut WordBuilder, word: &Word) {
    match &word.content {
        WordContent::Plain(text) => builder.literal(text, word.span),
        _ => word.parts().iter().cloned().for_each(|part| builder.append(part)),
    }
    builder.flags = builder.flags.union(word.flags);
}

/// Creates the content of a word whose whole text is literal, as if quoted.
fn glued(text: Bytes, span: crate::ast::Span) -> WordContent {
    let mut parts = Vec::new();
    for piece in text.split_inclusive(|byte| *byte == b'\'') {
        let unquoted = piece.strip_suffix(b"'").unwrap_or(piece);
        parts.push(PartKind::SingleQuoted(Bytes::from(unquoted)));
        parts.extend((unquoted.len() < piece.len()).then_some(PartKind::Escaped(b'\'')));
    }
    let parts = parts.into_iter().map(|kind| WordPart { span, kind }).collect();
    WordContent::Static { text, parts }
}

/// Whether the text between the brackets contains a metacharacter, which would end a word.
fn has_breaks(subscript: &Subscript) -> bool {
    let SubscriptKind::Element { key, .. } = &subscript.kind else { return false };
    let breaks = |text: &[u8]| text.iter().any(|byte| bytes::is(*byte, BREAK));
    key.plain().is_some_and(breaks)
        || key.parts().iter().any(|part| matches!(&part.kind, PartKind::Literal(text) if breaks(text)))
}

fn kind_of(name: Option<&[u8]>) -> AssignmentHandling {
    match name {
        Some(b"declare" | b"typeset" | b"local" | b"readonly" | b"export") => AssignmentHandling::Declaration,
        Some(b"eval" | b"let") => AssignmentHandling::Compound,
        _ => AssignmentHandling::Plain,
    }
}

impl SimpleCommandBuilder {
    /// Takes the command and leaves the builder empty.
    fn finish(&mut self, span: crate::ast::Span, line: u32, arena: &mut Arena) -> Command {
        let literal = self
            .arguments
            .iter()
            .all(|argument| argument.word().is_some_and(|word| word.literal().is_some()));
        let simple = SimpleCommand {
            assignments: arena.slice_from(&mut self.assignments),
            arguments: arena.slice_from(&mut self.arguments),
            literal,
            slot: CacheSlot::default(),
        };
        self.kind = AssignmentHandling::Plain;
        Command {
            span,
            line,
            kind: CommandKind::Simple(simple),
            redirects: arena.slice_from(&mut self.redirects),
        }
    }

    fn only_word(&self) -> Option<&Word> {
        self.arguments.first()?.word()
    }
}

impl Parser<'_> {
    /// Parses a function definition whose name was read as the only word of a simple command.
    fn function_after_name(
        &mut self,
        start: usize,
        end: usize,
        simple: &SimpleCommandBuilder,
    ) -> Result<Command> {
        let span = simple.only_word().map_or(self.span_from(start), |word| word.span);
        let name = match simple.only_word().and_then(Word::literal_text) {
            Some(text) => text.clone(),
            None => Bytes::from(self.input.slice(start, end)),
        };
        let open = self.input.at;
        self.input.at += 1;
        self.skip_blanks();
        if !self.eat(b')') {
            let opened = self.opened("(", open);
            let mut error = self.unexpected(Some(Expected::Token(")")), Some(opened));
            error.hint = Some(
                "a word before \"(\" starts a function definition; quote the parenthesis for a literal one"
                    .to_owned(),
            );
            return Err(error);
        }
        self.function_body(start, name, span)
    }
}
