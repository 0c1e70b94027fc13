//! Builtins, and the table in which a kernel finds them.

use std::collections::HashMap;
use std::sync::OnceLock;

use foldhash::fast::RandomState;
use haft_text::Bytes;

use super::Context;
use crate::flow::Flow;
use crate::variables::Assigned;

/// A builtin.
#[derive(Clone, Copy, Debug)]
pub struct Builtin {
    /// Its name.
    pub name: &'static str,
    /// The function that runs it.
    pub run: BuiltinFunction,
    /// Whether it is a POSIX special builtin: in POSIX mode it is found before functions, and its errors can exit the shell.
    pub special: bool,
    /// The synopsis, for `help` and usage errors.
    pub synopsis: &'static str,
    /// A sentence for `help`.
    pub summary: &'static str,
}

impl Builtin {
    /// Runs it with arguments, which do not include its name. `operands` are the same arguments with their assignments, if
    /// the parser has recognised them.
    pub(crate) fn invoke(
        &self,
        context: &mut Context<'_>,
        words: &[Bytes],
        operands: Option<&[Operand]>,
    ) -> Flow {
        let result = match (self.run, operands) {
            (BuiltinFunction::Words(run), _) => run(context, words),
            (BuiltinFunction::Operands(run), Some(operands)) => run(context, operands),
            (BuiltinFunction::Operands(run), None) => {
                let operands: Vec<Operand> = words.iter().cloned().map(Operand::Word).collect();
                run(context, &operands)
            }
        };
        context.status_after_output(result)
    }
}

/// The function that runs a builtin.
#[derive(Clone, Copy, Debug)]
pub enum BuiltinFunction {
    /// Takes words.
    Words(fn(&mut Context<'_>, &[Bytes]) -> Flow),
    /// Takes words and assignments, as `declare` does.
    Operands(fn(&mut Context<'_>, &[Operand]) -> Flow),
}

/// An argument of a builtin that takes assignments.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Operand {
    /// A word.
    Word(Bytes),
    /// An assignment that the parser recognised.
    Assignment(Assigned),
}

/// The builtins of a kernel, by name.
#[derive(Debug)]
pub(crate) struct BuiltinTable {
    all: &'static [Builtin],
    by_name: OnceLock<HashMap<&'static [u8], &'static Builtin, RandomState>>,
}

impl BuiltinTable {
    pub(crate) const fn new(all: &'static [Builtin]) -> Self {
        Self { all, by_name: OnceLock::new() }
    }

    /// All builtins, sorted by name.
    #[inline]
    pub(crate) fn all(&self) -> &'static [Builtin] {
        self.all
    }

    /// The builtin of this name.
    pub(crate) fn find(&self, name: &[u8]) -> Option<&'static Builtin> {
        let by_name = self
            .by_name
            .get_or_init(|| self.all.iter().map(|builtin| (builtin.name.as_bytes(), builtin)).collect());
        by_name.get(name).copied()
    }

    /// Whether this is the name of a special builtin of POSIX.
    pub(crate) fn is_special(&self, name: &[u8]) -> bool {
        self.find(name).is_some_and(|builtin| builtin.special)
    }
}
