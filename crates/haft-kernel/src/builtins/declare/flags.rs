//! The options of `declare`, `local`, `export` and `readonly`.

use haft_text::Bytes;

use super::super::options::OptionParser;
use super::super::{Context, Operand};
use crate::flow::Flow;
use crate::variables::Attributes;

/// The parsed options.
#[derive(Clone, Copy, Debug, Default)]
pub(in crate::builtins) struct DeclareFlags {
    /// Attributes to set.
    pub(in crate::builtins) on: Attributes,
    /// Attributes to clear.
    pub(in crate::builtins) off: Attributes,
    pub(in crate::builtins) array: Option<ArrayKind>,
    /// `+a` or `+A`, which is an error for arrays.
    pub(in crate::builtins) no_array: bool,
    pub(in crate::builtins) functions: Option<FunctionListing>,
    pub(in crate::builtins) global: bool,
    pub(in crate::builtins) inherit: bool,
    /// `-p`.
    pub(in crate::builtins) show: bool,
    /// Whether variables become local to the current function.
    pub(in crate::builtins) local: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::builtins) enum ArrayKind {
    Indexed,
    Associative,
}

/// `-f`, or `-F` for the names only.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::builtins) enum FunctionListing {
    Definitions,
    Names,
}

/// Parses the options, and returns them with the operands.
pub(in crate::builtins) fn parse<'a>(
    context: &mut Context<'_>,
    operands: &'a [Operand],
    known: &str,
) -> Result<(DeclareFlags, &'a [Operand]), Flow> {
    let words: Vec<Bytes> = operands
        .iter()
        .map_while(|operand| match operand {
            Operand::Word(word) => Some(word.clone()),
            Operand::Assignment(_) => None,
        })
        .collect();
    let takes_plus = !matches!(context.name, b"export" | b"readonly");
    let mut options = if takes_plus { OptionParser::with_plus(&words) } else { OptionParser::new(&words) };
    let mut flags = DeclareFlags::default();
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

impl DeclareFlags {
    fn add(&mut self, letter: u8, plus: bool) {
        match letter {
            b'a' if !plus => self.array = self.array.or(Some(ArrayKind::Indexed)),
            b'A' if !plus => self.array = Some(ArrayKind::Associative),
            b'a' | b'A' => self.no_array = true,
            b'f' if !plus => self.functions = self.functions.or(Some(FunctionListing::Definitions)),
            b'F' if !plus => self.functions = Some(FunctionListing::Names),
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
