//! Words.

use crate::ast::{
    BraceRange, Braces, CommandSubstitution, ExtendedGlob, Glob, GlobOperator, List, PartKind, SharedSlice,
    Span, Subscript, SubscriptKind, SubstitutionDirection, Word, WordContent, WordPart,
};

use super::command::ends_bare;
use super::{PrintStyle, Printer};

impl<'a> Printer<'a> {
    pub(super) fn words(&mut self, words: &'a [Word]) {
        for (index, word) in words.iter().enumerate() {
            self.text(if index > 0 { " " } else { "" });
            self.word(word);
        }
    }

    pub(super) fn word(&mut self, word: &'a Word) {
        match &word.content {
            WordContent::Plain(text) => self.out.extend_from_slice(text),
            WordContent::Static { parts, .. } | WordContent::Parts(parts) => self.parts(parts),
        }
    }

    /// Prints a word that is parsed as if in double quotes.
    pub(super) fn quoted_word(&mut self, word: &'a Word) {
        self.word(word);
    }

    pub(super) fn parts(&mut self, parts: &'a [WordPart]) {
        for (index, part) in parts.iter().enumerate() {
            self.part(part, parts.get(index + 1));
        }
    }

    fn part(&mut self, part: &'a WordPart, next: Option<&WordPart>) {
        match &part.kind {
            PartKind::Literal(text) => self.out.extend_from_slice(text),
            PartKind::Escaped(byte) => self.out.extend_from_slice(&[b'\\', *byte]),
            PartKind::SingleQuoted(text) => self.enclosed("'", text, "'"),
            PartKind::AnsiQuoted(text) if self.style == PrintStyle::Bash => self.single_quoted(text),
            PartKind::AnsiQuoted(text) => self.ansi_quoted(text),
            PartKind::DoubleQuoted(parts) => self.double_quoted("\"", parts),
            PartKind::LocaleQuoted(parts) if self.style == PrintStyle::Bash => {
                self.double_quoted("\"", parts);
            }
            PartKind::LocaleQuoted(parts) => self.double_quoted("$\"", parts),
            PartKind::Variable(name) => {
                let braced = braced(part.span, name.len()) || sticks(next);
                self.enclosed(if braced { "${" } else { "$" }, name, if braced { "}" } else { "" });
            }
            PartKind::Parameter(expansion) => self.parameter(expansion, part.span),
            PartKind::Command(substitution) => self.command_substitution(substitution),
            PartKind::Arithmetic(arithmetic) => {
                let (open, close) = if balanced(&arithmetic.text) { ("$((", "))") } else { ("$[", "]") };
                self.text(open);
                self.quoted_word(&arithmetic.text);
                self.text(close);
            }
            PartKind::Process(process) => {
                self.text(if process.direction == SubstitutionDirection::Read { "<" } else { ">" });
                self.parenthesized(&process.body);
            }
            PartKind::Tilde(name) => self.enclosed("~", name, ""),
            PartKind::Braces(braces) => self.braces(braces),
            PartKind::Glob(Glob::AnyString) => self.text("*"),
            PartKind::Glob(Glob::AnyCharacter) => self.text("?"),
            PartKind::Glob(Glob::Bracket(text)) => self.out.extend_from_slice(text),
            PartKind::ExtendedGlob(group) => self.extended_glob(group),
        }
    }

    fn enclosed(&mut self, before: &str, text: &[u8], after: &str) {
        self.text(before);
        self.out.extend_from_slice(text);
        self.text(after);
    }

    fn double_quoted(&mut self, open: &str, parts: &'a [WordPart]) {
        self.text(open);
        self.parts(parts);
        self.text("\"");
    }

    /// Prints any text in single quotes.
    pub(super) fn single_quoted(&mut self, text: &[u8]) {
        self.text("'");
        for byte in text {
            match byte {
                b'\'' => self.text("'\\''"),
                _ => self.out.push(*byte),
            }
        }
        self.text("'");
    }

    fn ansi_quoted(&mut self, text: &[u8]) {
        self.text("$'");
        for byte in text {
            match byte {
                b'\'' | b'\\' => self.out.extend_from_slice(&[b'\\', *byte]),
                b'\n' => self.text("\\n"),
                b'\t' => self.text("\\t"),
                0..b' ' | 0x7f => self.text(&format!("\\{byte:03o}")),
                _ => self.out.push(*byte),
            }
        }
        self.text("'");
    }

    fn command_substitution(&mut self, substitution: &'a CommandSubstitution) {
        if let Some(error) = &substitution.error {
            return self.enclosed("`", &error.text, "`");
        }
        if !substitution.backquoted {
            self.text("$");
            return self.parenthesized(&substitution.body);
        }
        let inner = self.capture(|printer| printer.inline_statements(&substitution.body));
        self.text("`");
        for byte in inner {
            if matches!(byte, b'`' | b'\\') {
                self.text("\\");
            }
            self.out.push(byte);
        }
        self.text("`");
    }

    /// Prints a list in parentheses. A blank separates two opening parentheses, which would form an operator.
    fn parenthesized(&mut self, list: &'a List) {
        let inner = self.capture(|printer| printer.inline_statements(list));
        self.text(if inner.starts_with(b"(") { "( " } else { "(" });
        self.out.extend_from_slice(&inner);
        self.text(if ends_bare(list) { ";)" } else { ")" });
    }

    /// Returns the output of `write`, with its own here-documents.
    fn capture(&mut self, write: impl FnOnce(&mut Self)) -> Vec<u8> {
        let out = std::mem::take(&mut self.out);
        let pending = std::mem::take(&mut self.pending);
        let indent = std::mem::take(&mut self.indent);
        let documents = self.documents;
        write(self);
        self.documents = documents;
        self.indent = indent;
        self.pending = pending;
        std::mem::replace(&mut self.out, out)
    }

    fn braces(&mut self, braces: &'a Braces) {
        match braces {
            Braces::List(alternatives) => {
                self.text("{");
                self.alternatives(alternatives, ",");
                self.text("}");
            }
            Braces::Range(BraceRange::Numbers { first, last, step, width }) => {
                let width = *width as usize;
                self.text(&format!("{{{first:0width$}..{last:0width$}"));
                self.range_end(*step);
            }
            Braces::Range(BraceRange::Letters { first, last, step }) => {
                self.out.extend_from_slice(&[b'{', *first, b'.', b'.', *last]);
                self.range_end(*step);
            }
        }
    }

    fn range_end(&mut self, step: u64) {
        if step != 1 {
            self.text(&format!("..{step}"));
        }
        self.text("}");
    }

    fn alternatives(&mut self, alternatives: &'a [SharedSlice<WordPart>], separator: &str) {
        for (index, parts) in alternatives.iter().enumerate() {
            self.text(if index > 0 { separator } else { "" });
            self.parts(parts);
        }
    }

    fn extended_glob(&mut self, group: &'a ExtendedGlob) {
        self.text(match group.operator {
            GlobOperator::ZeroOrOne => "?(",
            GlobOperator::ZeroOrMore => "*(",
            GlobOperator::OneOrMore => "+(",
            GlobOperator::One => "@(",
            GlobOperator::Not => "!(",
        });
        self.alternatives(&group.alternatives, "|");
        self.text(")");
    }

    pub(super) fn subscript(&mut self, subscript: Option<&'a Subscript>) {
        let Some(subscript) = subscript else { return };
        self.text("[");
        match &subscript.kind {
            SubscriptKind::At => self.text("@"),
            SubscriptKind::Star => self.text("*"),
            SubscriptKind::Element { key, .. } => self.word(key),
        }
        self.text("]");
    }
}

/// Whether `$name` was written as `${name}`: its span is longer then.
pub(super) fn braced(span: Span, length: usize) -> bool {
    span.end > span.start && (span.end - span.start) as usize > length + 1
}

/// Whether the next part would become part of `$name`.
fn sticks(next: Option<&WordPart>) -> bool {
    match next.map(|part| &part.kind) {
        Some(PartKind::Literal(text)) => {
            text.first().is_some_and(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'['))
        }
        Some(PartKind::Glob(Glob::Bracket(_))) => true,
        _ => false,
    }
}

/// Whether the parentheses in the text of an expression are balanced. In `$[…]` they need not be.
fn balanced(text: &Word) -> bool {
    let literals = text.plain().into_iter().chain(text.parts().iter().filter_map(|part| match &part.kind {
        PartKind::Literal(literal) => Some(literal.as_bytes()),
        _ => None,
    }));
    let (mut open, mut quoted) = (0usize, false);
    for byte in literals.flatten() {
        match byte {
            b'\'' => quoted = !quoted,
            _ if quoted => {}
            b'(' => open += 1,
            b')' if open == 0 => return false,
            b')' => open -= 1,
            _ => {}
        }
    }
    open == 0
}
