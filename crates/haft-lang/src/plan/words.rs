//! Converts words of the tree into planned words.

use crate::ast::{
    Argument, Assignment, AssignmentValue, Bytes, PartKind, Span, SpecialParameter, Word, WordFlags, WordPart,
};
use crate::ast::{Parameter, ParameterOperator};

use super::step::{Expansion, PlannedAssignment, PlannedWord, WordPiece};

/// Converts an argument. A JSON word becomes several words, as in bash.
pub(super) fn arguments(argument: &Argument, source: &[u8]) -> Vec<PlannedWord> {
    match argument {
        Argument::Word(word) => vec![item(word, source)],
        Argument::Assignment(assignment) => vec![assignment_item(assignment, source)],
        Argument::Json(json) => json.words.iter().map(|word| item(word, source)).collect(),
    }
}

/// Converts a word that undergoes word splitting and filename expansion.
pub(super) fn item(word: &Word, source: &[u8]) -> PlannedWord {
    const SEVERAL: WordFlags =
        WordFlags::SPLIT.union(WordFlags::GLOB).union(WordFlags::BRACES).union(WordFlags::FIELDS);
    PlannedWord { several: word.flags.contains(SEVERAL), ..single(word, source) }
}

/// Converts a word that stays a single word.
pub(super) fn single(word: &Word, source: &[u8]) -> PlannedWord {
    let mut pieces = PieceBuilder::default();
    match word.literal_text() {
        Some(text) => pieces.literal(text),
        None => pieces.parts(word.parts(), source),
    }
    PlannedWord { pieces: pieces.finish(), several: false }
}

/// Creates a word from a known text.
pub(super) fn known(text: &[u8]) -> PlannedWord {
    let mut pieces = PieceBuilder::default();
    pieces.literal(text);
    PlannedWord { pieces: pieces.finish(), several: false }
}

/// Converts an assignment argument of `declare` or a similar builtin.
fn assignment_item(assignment: &Assignment, source: &[u8]) -> PlannedWord {
    let mut pieces = PieceBuilder::default();
    pieces.literal(&target(assignment, source));
    pieces.literal(if assignment.append { b"+=" } else { b"=" });
    match &assignment.value {
        AssignmentValue::Word(word) => match word.literal_text() {
            Some(text) => pieces.literal(text),
            None => pieces.parts(word.parts(), source),
        },
        AssignmentValue::Array(elements) => {
            pieces.literal(b"(");
            for (index, element) in elements.iter().enumerate() {
                pieces.literal(if index == 0 { b"" } else { b" " });
                match element.value.literal() {
                    Some(_) => pieces.literal(element.span.of(source)),
                    None => pieces.dynamic(Expansion::Parameter, element.span, source),
                }
            }
            pieces.literal(b")");
        }
    }
    PlannedWord { pieces: pieces.finish(), several: false }
}

/// Returns the variable of an assignment, including its subscript.
pub(super) fn target(assignment: &Assignment, source: &[u8]) -> Vec<u8> {
    let mut name = assignment.name.to_vec();
    if let Some(subscript) = &assignment.subscript {
        name.push(b'[');
        name.extend_from_slice(subscript.span.of(source));
        name.push(b']');
    }
    name
}

pub(super) fn binding(assignment: &Assignment, source: &[u8]) -> PlannedAssignment {
    let value = match &assignment.value {
        AssignmentValue::Word(word) => vec![single(word, source)],
        AssignmentValue::Array(elements) => {
            elements.iter().map(|element| item(&element.value, source)).collect()
        }
    };
    PlannedAssignment { name: Bytes::from(&*target(assignment, source)), append: assignment.append, value }
}

/// Collects pieces and joins adjacent literals.
#[derive(Default)]
struct PieceBuilder {
    done: Vec<WordPiece>,
    literal: Vec<u8>,
}

impl PieceBuilder {
    fn literal(&mut self, text: &[u8]) {
        self.literal.extend_from_slice(text);
    }

    fn dynamic(&mut self, by: Expansion, span: Span, source: &[u8]) {
        self.flush();
        self.done.push(WordPiece::Dynamic { by, source: span.of(source).into() });
    }

    fn flush(&mut self) {
        if !self.literal.is_empty() {
            self.done.push(WordPiece::Literal(Bytes::from(&*self.literal)));
            self.literal.clear();
        }
    }

    fn finish(mut self) -> Vec<WordPiece> {
        self.flush();
        self.done
    }

    fn parts(&mut self, parts: &[WordPart], source: &[u8]) {
        for part in parts {
            self.part(part, source);
        }
    }

    fn part(&mut self, part: &WordPart, source: &[u8]) {
        let by = match &part.kind {
            PartKind::Literal(text) | PartKind::SingleQuoted(text) | PartKind::AnsiQuoted(text) => {
                return self.literal(text);
            }
            PartKind::Escaped(byte) => return self.literal(&[*byte]),
            PartKind::DoubleQuoted(parts) | PartKind::LocaleQuoted(parts) => {
                return self.parts(parts, source);
            }
            PartKind::Variable(_) | PartKind::Parameter(_) => Expansion::Parameter,
            PartKind::Command(_) => Expansion::Command,
            PartKind::Arithmetic(_) => Expansion::Arithmetic,
            PartKind::Process(_) => Expansion::Process,
            PartKind::Tilde(_) => Expansion::Tilde,
            PartKind::Braces(_) => Expansion::Braces,
            PartKind::Glob(_) | PartKind::ExtendedGlob(_) => Expansion::Glob,
        };
        self.dynamic(by, part.span, source);
    }
}

/// Whether an expansion always yields a number: a count, a length or an exit status.
pub(super) fn is_number(part: &PartKind) -> bool {
    let PartKind::Parameter(expansion) = part else { return matches!(part, PartKind::Arithmetic(_)) };
    if expansion.indirect {
        return false;
    }
    match (&expansion.parameter, &expansion.operator) {
        (_, ParameterOperator::Length) => true,
        (Parameter::Special(special), ParameterOperator::Value) => {
            matches!(
                special,
                SpecialParameter::Count
                    | SpecialParameter::Status
                    | SpecialParameter::Process
                    | SpecialParameter::Background
            )
        }
        _ => false,
    }
}
