//! Parameter expansions.

use crate::ast::{
    Arithmetic, CaseChange, Parameter, ParameterExpansion, ParameterOperator, ReplaceScope, Span, Word,
};

use super::Printer;
use super::word::braced;

impl<'a> Printer<'a> {
    pub(super) fn parameter(&mut self, expansion: &'a ParameterExpansion, span: Span) {
        if is_bare(expansion) && !braced(span, 1) {
            self.text("$");
            return self.name_of(&expansion.parameter);
        }
        self.text("${");
        if let ParameterOperator::Invalid { text } = &expansion.operator {
            self.out.extend_from_slice(text);
        } else {
            self.prefix(expansion);
            self.name_of(&expansion.parameter);
            self.subscript(expansion.subscript.as_deref());
            self.operator(&expansion.operator);
        }
        self.text("}");
    }

    fn prefix(&mut self, expansion: &ParameterExpansion) {
        match expansion.operator {
            ParameterOperator::Length => self.text("#"),
            ParameterOperator::Names { .. } | ParameterOperator::Keys { .. } => self.text("!"),
            _ if expansion.indirect => self.text("!"),
            _ => {}
        }
    }

    fn name_of(&mut self, parameter: &Parameter) {
        match parameter {
            Parameter::Variable(name) => self.out.extend_from_slice(name),
            Parameter::Positional(number) => self.text(&number.to_string()),
            Parameter::Special(special) => self.out.push(special.symbol()),
        }
    }

    fn operator(&mut self, operator: &'a ParameterOperator) {
        match operator {
            ParameterOperator::Value
            | ParameterOperator::Length
            | ParameterOperator::Keys { .. }
            | ParameterOperator::Invalid { .. } => {}
            ParameterOperator::Names { fields } => self.text(if *fields { "@" } else { "*" }),
            ParameterOperator::Default { or_empty, word } => self.alternative("-", *or_empty, word),
            ParameterOperator::Assign { or_empty, word } => self.alternative("=", *or_empty, word),
            ParameterOperator::Require { or_empty, word } => self.alternative("?", *or_empty, word),
            ParameterOperator::Alternative { or_empty, word } => self.alternative("+", *or_empty, word),
            ParameterOperator::RemovePrefix { longest, pattern } => {
                self.repeated("#", *longest, Some(pattern));
            }
            ParameterOperator::RemoveSuffix { longest, pattern } => {
                self.repeated("%", *longest, Some(pattern));
            }
            ParameterOperator::ChangeCase { change, all, pattern } => {
                let symbol = match change {
                    CaseChange::Upper => "^",
                    CaseChange::Lower => ",",
                    CaseChange::Toggle => "~",
                };
                self.repeated(symbol, *all, pattern.as_ref());
            }
            ParameterOperator::Replace { scope, pattern, replacement } => {
                self.replace(*scope, pattern, replacement.as_ref());
            }
            ParameterOperator::Transform(transform) => {
                self.out.extend_from_slice(&[b'@', transform.letter()]);
            }
            ParameterOperator::Substring { offset, length } => {
                self.section(offset);
                length.iter().for_each(|length| self.section(length));
            }
        }
    }

    fn alternative(&mut self, symbol: &str, or_empty: bool, word: &'a Word) {
        self.text(if or_empty { ":" } else { "" });
        self.text(symbol);
        self.word(word);
    }

    fn repeated(&mut self, symbol: &str, twice: bool, pattern: Option<&'a Word>) {
        self.text(symbol);
        self.text(if twice { symbol } else { "" });
        pattern.into_iter().for_each(|pattern| self.word(pattern));
    }

    fn replace(&mut self, scope: ReplaceScope, pattern: &'a Word, replacement: Option<&'a Word>) {
        self.text(match scope {
            ReplaceScope::First => "/",
            ReplaceScope::All => "//",
            ReplaceScope::Prefix => "/#",
            ReplaceScope::Suffix => "/%",
        });
        self.word(pattern);
        if let Some(replacement) = replacement {
            self.text("/");
            self.word(replacement);
        }
    }

    fn section(&mut self, arithmetic: &'a Arithmetic) {
        self.text(":");
        self.quoted_word(&arithmetic.text);
    }
}

/// Whether the expansion can be written as `$` and one character.
fn is_bare(expansion: &ParameterExpansion) -> bool {
    let short = match &expansion.parameter {
        Parameter::Variable(_) => false,
        Parameter::Positional(number) => *number < 10,
        Parameter::Special(_) => true,
    };
    short && !expansion.indirect && expansion.operator == ParameterOperator::Value
}
