//! Running one builtin from another.

use haft_text::Bytes;

use super::{Builtin, BuiltinFunction, Context, Operand};
use crate::flow::Flow;
use crate::session::Session;
use crate::values::JsonValues;

impl Session {
    /// Runs a builtin with words; the first is its name.
    pub(crate) fn run_builtin_words(
        &mut self,
        builtin: &'static Builtin,
        words: &[Bytes],
        values: &JsonValues,
    ) -> Flow {
        let mut context = Context::new(self, builtin.name.as_bytes(), values);
        let arguments = words.get(1..).unwrap_or_default();
        let result = match builtin.run {
            BuiltinFunction::Words(run) => run(&mut context, arguments),
            BuiltinFunction::Operands(run) => {
                let operands: Vec<Operand> = arguments.iter().cloned().map(Operand::Word).collect();
                run(&mut context, &operands)
            }
        };
        context.status_after_output(result)
    }
}
