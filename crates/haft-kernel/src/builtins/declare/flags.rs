//! The options of `declare` and its kin.

use haft_text::Bytes;

use super::super::options::Options;
use super::super::{Context, Operand};
use crate::flow::Flow;
use crate::variables::Attributes;

/// What the options ask for.
#[derive(Clone, Copy, Debug, Default)]
pub(in crate::builtins) struct Flags {
    /// Attributes to give.
    pub(in crate::builtins) on: Attributes,
    /// Attributes to take.
    pub(in crate::builtins) off: Attributes,
    pub(in crate::builtins) array: Option<Array>,
    /// `+a` or `+A`, which arrays refuse.
    pub(in crate::builtins) no_array: bool,
    pub(in crate::builtins) functions: Option<Functions>,
    pub(in crate::builtins) global: bool,
    pub(in crate::builtins) inherit: bool,
    /// `-p`.
    pub(in crate::builtins) show: bool,
    /// Whether variables are made local to the innermost call.
    pub(in crate::builtins) local: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::builtins) enum Array {
    Indexed,
    Associative,
}

/// `-f`, or `-F` for the names alone.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::builtins) enum Functions {
    Definitions,
    Names,
}

/// Reads the options; yields them and the operands after them.
pub(in crate::builtins) fn parse<'a>(
    context: &mut Context<'_>,
    operands: &'a [Operand],
    known: &str,
) -> Result<(Flags, &'a [Operand]), Flow> {
    let words: Vec<Bytes> = operands
        .iter()
        .map_while(|operand| match operand {
            Operand::Word(word) => Some(word.clone()),
            Operand::Assignment(_) => None,
        })
        .collect();
    let takes_plus = !matches!(context.name, b"export" | b"readonly");
    let mut options = if takes_plus { Options::with_plus(&words) } else { Options::new(&words) };
    let mut flags = Flags::default();
    loop {
        match options.next(known) {
            Ok(Some(flag)) => flags.add(flag.letter, flag.plus),
            Ok(None) => break,
            Err(bad) => return Err(context.usage(bad)),
        }
    }
    let used = words.len() - options.rest().len();
    Ok((flags, &operands[used..]))
}

impl Flags {
    fn add(&mut self, letter: u8, plus: bool) {
        match letter {
            b'a' if !plus => self.array = self.array.or(Some(Array::Indexed)),
            b'A' if !plus => self.array = Some(Array::Associative),
            b'a' | b'A' => self.no_array = true,
            b'f' if !plus => self.functions = self.functions.or(Some(Functions::Definitions)),
            b'F' if !plus => self.functions = Some(Functions::Names),
            b'f' | b'F' => self.functions = None,
            b'g' => self.global = true,
            b'I' => self.inherit = true,
            b'p' => self.show = true,
            _ => {
                let attribute = attribute(letter);
                if plus {
                    self.off = self.off.union(attribute);
                } else {
                    self.on = self.on.union(attribute);
                }
            }
        }
    }
}

fn attribute(letter: u8) -> Attributes {
    match letter {
        b'c' => Attributes::CAPITAL,
        b'i' => Attributes::INTEGER,
        b'l' => Attributes::LOWER,
        b'n' => Attributes::NAMEREF,
        b'r' => Attributes::READONLY,
        b't' => Attributes::TRACE,
        b'u' => Attributes::UPPER,
        b'x' => Attributes::EXPORT,
        _ => Attributes::NONE,
    }
}
