//! `[[ subject =~ expression ]]`.

use std::sync::Arc;

use haft_lang::ast::Word;
use haft_text::Bytes;
use haft_text::encoding::Encoding;
use haft_text::regex::CompiledRegex;

use super::conditional::TestFailure;
use crate::options::ShellOption;
use crate::session::Session;
use crate::variables::{IndexedArray, Variable, VariableValue};

impl Session {
    pub(super) fn test_regex(
        &mut self,
        subject: &[u8],
        right: &Word,
        negated: bool,
    ) -> Result<bool, TestFailure> {
        let text = self.expand_regex(right)?;
        self.trace_test(negated, &[subject, b"=~", &text])?;
        let ignore_case = self.options.shell(ShellOption::NoCaseMatch);
        let narrow = !(subject.is_ascii() && text.is_ascii()) && self.encoding() == Encoding::Bytes;
        let text = if narrow { widened(&text) } else { text };
        let Some(compiled) = self.compile_regex(&text, ignore_case) else {
            return Err(TestFailure::Wrong(2));
        };
        let groups = match narrow {
            true => compiled
                .groups(&widened(subject))
                .map(|groups| groups.iter().map(|group| narrowed(group)).collect()),
            false => compiled.groups(subject),
        };
        let matched = groups.is_some();
        let groups = IndexedArray::from_values(groups.unwrap_or_default());
        self.variables.insert(b"BASH_REMATCH", Variable::new(VariableValue::Indexed(Arc::new(groups))));
        Ok(matched)
    }

    /// Compiles an expression, unless it is the one that was compiled last.
    fn compile_regex(&mut self, text: &[u8], ignore_case: bool) -> Option<CompiledRegex> {
        if let Some(known) = self.caches.regex()
            && known.is(text, ignore_case)
        {
            return Some(known.clone());
        }
        let compiled = CompiledRegex::new(text, ignore_case)?;
        self.caches.set_regex(compiled.clone());
        Some(compiled)
    }
}

/// Converts each byte to the character of the same number, for locales in which a character is a byte.
fn widened(bytes: &[u8]) -> Vec<u8> {
    bytes.iter().map(|byte| char::from(*byte)).collect::<String>().into_bytes()
}

fn narrowed(text: &[u8]) -> Bytes {
    let characters = String::from_utf8_lossy(text);
    characters.chars().filter_map(|character| u8::try_from(character).ok()).collect::<Vec<u8>>().into()
}
