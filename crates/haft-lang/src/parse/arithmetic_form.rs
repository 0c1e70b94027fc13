//! What can be said about an arithmetic expression before its expansions are made.

use crate::ast::{ArithmeticForm, PartKind, Word, WordPart};
use crate::sys::Slab;

use super::arithmetic::{self, EXPANSION};

/// What can be said about an expression ahead of time.
pub(super) fn form(text: &Word, slab: &mut Slab) -> ArithmeticForm {
    if let Some(literal) = text.literal() {
        return arithmetic::parse(literal, &[], slab).map_or(ArithmeticForm::Text, ArithmeticForm::Tree);
    }
    let mut flat = FlattenedText::default();
    if !flat.parts(text.parts(), true) {
        return ArithmeticForm::Text;
    }
    arithmetic::parse(&flat.text, &flat.indices, slab).map_or(ArithmeticForm::Text, ArithmeticForm::Guess)
}

/// The text of an expression with its expansions replaced by [`EXPANSION`].
#[derive(Default)]
struct FlattenedText {
    text: Vec<u8>,
    indices: Vec<u32>,
}

impl FlattenedText {
    /// Adds parts; returns false if only what they expand to can tell.
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
