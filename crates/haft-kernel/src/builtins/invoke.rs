//! Running one builtin from another.

use haft_text::Bytes;

use super::{Builtin, Context};
use crate::flow::Flow;

impl Context<'_> {
    /// Runs a builtin with words; the first is its name.
    pub(super) fn run_builtin(&mut self, builtin: &'static Builtin, words: &[Bytes]) -> Flow {
        let values = self.values;
        let mut context = Context::new(self.session_mut(), builtin.name.as_bytes(), values);
        builtin.invoke(&mut context, words.get(1..).unwrap_or_default(), None)
    }
}
