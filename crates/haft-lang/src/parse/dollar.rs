//! Expansions that start with a dollar sign.

use crate::ast::{
    Bytes, Parameter, ParameterExpansion, ParameterOperator, PartKind, SharedNode, SpecialParameter,
    SubscriptKind, WordFlags,
};

use super::builder::WordBuilder;
use super::bytes::{self, NAME, NAME_START};
use super::{Parser, Result};

/// The quoting context of an expansion.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Quoting {
    /// Unquoted: the result undergoes word splitting.
    None,
    /// In double quotes, or in text that is treated like it.
    Double,
    /// In the operand of `"${name:-…}"`: like double quotes, but `$'…'` and `$"…"` are recognized.
    Operand,
}

impl Parser<'_> {
    /// Parses an expansion, or a literal dollar sign.
    pub(super) fn dollar(&mut self, quoting: Quoting, builder: &mut WordBuilder) -> Result<()> {
        let start = self.input.at;
        let quoted = quoting != Quoting::None;
        self.input.at += 1;
        let Some(byte) = self.peek() else {
            self.input.at = start;
            self.literal_byte(builder);
            return Ok(());
        };
        match byte {
            b'{' => self.nested(|parser| parser.braced_parameter(start, quoted, builder)),
            b'(' => self.nested(|parser| parser.parenthesized(start, quoted, builder)),
            b'[' => self.nested(|parser| parser.old_arithmetic(start, quoted, builder)),
            b'\'' if quoting == Quoting::None || (quoting == Quoting::Operand && !self.in_document) => {
                self.ansi_quoted(start, builder)
            }
            b'"' if quoting != Quoting::Double => self.double_quoted(builder, start, true),
            _ => {
                self.bare_parameter(start, quoted, builder);
                Ok(())
            }
        }
    }

    /// Parses `$name`, `$1` or `$@`. Any other dollar sign is literal.
    fn bare_parameter(&mut self, start: usize, quoted: bool, builder: &mut WordBuilder) {
        let name = self.name();
        if !name.is_empty() {
            builder.push(PartKind::Variable(name), self.span_from(start), expansion_flags(quoted));
            return;
        }
        let Some(parameter) = self.input.ahead(0).and_then(single_parameter) else {
            self.input.at = start;
            return self.literal_byte(builder);
        };
        self.input.at += 1;
        self.push_parameter(plain(parameter), start, quoted, builder);
    }

    /// Appends a parameter expansion that ends here.
    pub(super) fn push_parameter(
        &mut self,
        expansion: ParameterExpansion,
        start: usize,
        quoted: bool,
        builder: &mut WordBuilder,
    ) {
        let flags = expansion_flags(quoted).union(parameter_flags(&expansion));
        let kind = match expansion {
            ParameterExpansion {
                parameter: Parameter::Variable(name),
                subscript: None,
                indirect: false,
                operator: ParameterOperator::Value,
            } => PartKind::Variable(name),
            expansion => PartKind::Parameter(SharedNode::new(expansion, &mut self.arena)),
        };
        builder.push(kind, self.span_from(start), flags);
    }

    /// Parses a name, without line continuations. Empty if none comes next.
    pub(super) fn name(&mut self) -> Bytes {
        let rest = self.input.remaining();
        let length = bytes::name_length(rest);
        match rest.get(length) {
            Some(byte) if *byte != b'\\' => {
                let name = Bytes::prefix(rest, length);
                self.input.at += length;
                name
            }
            _ => self.name_slow(),
        }
    }

    #[cold]
    fn name_slow(&mut self) -> Bytes {
        let mut name = Vec::new();
        while let Some(byte) = self.peek() {
            if !bytes::is(byte, if name.is_empty() { NAME_START } else { NAME }) {
                break;
            }
            name.push(byte);
            self.input.at += 1;
        }
        Bytes::from(name.as_slice())
    }
}

/// Creates an expansion without an operator.
pub(super) fn plain(parameter: Parameter) -> ParameterExpansion {
    ParameterExpansion { parameter, subscript: None, indirect: false, operator: ParameterOperator::Value }
}

/// Returns the parameter for a single digit or symbol.
pub(super) fn single_parameter(byte: u8) -> Option<Parameter> {
    match byte {
        b'0'..=b'9' => Some(Parameter::Positional(u32::from(byte - b'0'))),
        _ => special(byte).map(Parameter::Special),
    }
}

/// Returns the special parameter for a symbol.
pub(super) fn special(byte: u8) -> Option<SpecialParameter> {
    Some(match byte {
        b'@' => SpecialParameter::At,
        b'*' => SpecialParameter::Star,
        b'#' => SpecialParameter::Count,
        b'?' => SpecialParameter::Status,
        b'-' => SpecialParameter::Flags,
        b'$' => SpecialParameter::Process,
        b'!' => SpecialParameter::Background,
        _ => return None,
    })
}

/// Returns the flags of every expansion.
pub(super) fn expansion_flags(quoted: bool) -> WordFlags {
    if quoted { WordFlags::EXPANSION } else { WordFlags::EXPANSION.union(WordFlags::SPLIT) }
}

/// Returns the flags that an expansion adds, including those of its operands.
fn parameter_flags(expansion: &ParameterExpansion) -> WordFlags {
    const INHERITED: [WordFlags; 2] = [WordFlags::FIELDS, WordFlags::COMMANDS];
    let several = match (&expansion.parameter, &expansion.subscript, &expansion.operator) {
        (_, _, ParameterOperator::Length) => false,
        (_, _, ParameterOperator::Names { fields } | ParameterOperator::Keys { fields }) => *fields,
        (Parameter::Special(SpecialParameter::At), ..) => true,
        (_, Some(subscript), _) => subscript.kind == SubscriptKind::At,
        _ => expansion.indirect,
    };
    let own = if several { WordFlags::FIELDS } else { WordFlags::NONE };
    let inner = operands(expansion).fold(WordFlags::NONE, WordFlags::union);
    INHERITED.iter().filter(|flag| inner.contains(**flag)).fold(own, |flags, flag| flags.union(*flag))
}

/// Returns the flags of the words in an expansion.
fn operands(expansion: &ParameterExpansion) -> impl Iterator<Item = WordFlags> {
    use ParameterOperator as Op;
    let (first, second) = match &expansion.operator {
        Op::Default { word, .. }
        | Op::Assign { word, .. }
        | Op::Require { word, .. }
        | Op::Alternative { word, .. } => (Some(word.flags), None),
        Op::RemovePrefix { pattern, .. } | Op::RemoveSuffix { pattern, .. } => {
            (commands(pattern.flags), None)
        }
        Op::Replace { pattern, replacement, .. } => {
            (commands(pattern.flags), replacement.as_ref().and_then(|word| commands(word.flags)))
        }
        Op::ChangeCase { pattern, .. } => (pattern.as_ref().and_then(|word| commands(word.flags)), None),
        Op::Substring { offset, length } => {
            (commands(offset.text.flags), length.as_ref().and_then(|length| commands(length.text.flags)))
        }
        _ => (None, None),
    };
    let subscript = expansion.subscript.as_ref().and_then(|subscript| match &subscript.kind {
        SubscriptKind::Element { key, .. } => commands(key.flags),
        _ => None,
    });
    first.into_iter().chain(second).chain(subscript)
}

/// The only relevant flag of a word that does not become part of the result.
fn commands(flags: WordFlags) -> Option<WordFlags> {
    flags.contains(WordFlags::COMMANDS).then_some(WordFlags::COMMANDS)
}
