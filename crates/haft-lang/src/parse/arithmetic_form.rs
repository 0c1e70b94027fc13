//! Parses arithmetic expressions ahead of their expansion.

use crate::ast::{ArithmeticForm, PartKind, Word, WordPart};
use crate::sys::Arena;

use super::arithmetic::{self, EXPANSION};

/// Parses the text of an expression as far as possible before expansion.
pub(super) fn form(text: &Word, arena: &mut Arena) -> ArithmeticForm {
    if let Some(literal) = text.literal() {
        return arithmetic::parse(literal, &[], arena).map_or(ArithmeticForm::Text, ArithmeticForm::Tree);
    }
    let mut flat = FlattenedText::default();
    if !flat.parts(text.parts(), true) {
        return ArithmeticForm::Text;
    }
    arithmetic::parse(&flat.text, &flat.indices, arena).map_or(ArithmeticForm::Text, ArithmeticForm::Guess)
}

/// The text of an expression, with [`EXPANSION`] in place of each expansion.
#[derive(Default)]
struct FlattenedText {
    text: Vec<u8>,
    indices: Vec<u32>,
}

impl FlattenedText {
    /// Appends parts. Returns false if the expression can be parsed only after expansion.
    fn parts(&mut self, parts: &[WordPart], outermost: bool) -> bool {
        parts.iter().enumerate().all(|(index, part)| match &part.kind {
            PartKind::Literal(text) => {
                self.text.extend_from_slice(text);
                true
            }
            PartKind::DoubleQuoted(inner) => self.parts(inner, false),
            PartKind::Variable(_)
            | PartKind::Parameter(_)
            | PartKind::Command(_)
            | PartKind::Arithmetic(_) => {
                self.text.push(EXPANSION);
                self.indices.push(u32::try_from(index).unwrap_or(u32::MAX));
                outermost
            }
            _ => false,
        })
    }
}
