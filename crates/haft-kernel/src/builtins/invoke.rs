//! Running a builtin by way of another.

use haft_text::Bytes;

use super::{Builtin, Context, Operand, Run};
use crate::flow::Flow;
use crate::session::Session;
use crate::values::Values;

impl Session {
    /// Runs a builtin with words, the name first.
    pub(crate) fn run_builtin_words(
        &mut self,
        builtin: &'static Builtin,
        words: &[Bytes],
        values: &Values,
    ) -> Flow {
        let mut context = Context::new(self, builtin.name.as_bytes(), values);
        let arguments = words.get(1..).unwrap_or_default();
        let result = match builtin.run {
            Run::Words(run) => run(&mut context, arguments),
            Run::Operands(run) => {
                let operands: Vec<Operand> = arguments.iter().cloned().map(Operand::Word).collect();
                run(&mut context, &operands)
            }
        };
        context.status_after_output(result)
    }
}
