//! Values of options that are one of some words.

use super::{Stop, TextRun};
use crate::text::streams::Wording;

/// The words of an option. Those of one line mean the same.
pub(crate) type Choices<T> = [(&'static [&'static str], T)];

impl TextRun<'_, '_> {
    /// The meaning of a word, or of the start of one. Prints all words and ends the command if there is none.
    pub(crate) fn choice<T: Copy + PartialEq>(
        &mut self,
        option: &str,
        value: &[u8],
        choices: &Choices<T>,
    ) -> Result<T, Stop> {
        let words =
            || choices.iter().flat_map(|(words, meaning)| words.iter().map(move |word| (*word, *meaning)));
        if let Some((_, meaning)) = words().find(|(word, _)| word.as_bytes() == value) {
            return Ok(meaning);
        }
        let mut meanings: Vec<T> = words()
            .filter(|(word, _)| word.as_bytes().starts_with(value))
            .map(|(_, meaning)| meaning)
            .collect();
        meanings.dedup();
        if let [meaning] = meanings[..] {
            return Ok(meaning);
        }
        let kind = if meanings.is_empty() { "invalid" } else { "ambiguous" };
        let (shown, option) = (self.quote(value), self.quote(option.as_bytes()));
        let line = |(words, _): &(&[&str], T)| {
            let words: Vec<String> = words.iter().map(|word| self.quote(word.as_bytes())).collect();
            format!("\n  - {}", words.join(", "))
        };
        let valid: String = choices.iter().map(line).collect();
        // The status is that of wrong usage, also for commands with another one for errors.
        self.wording = Wording::Plain;
        self.usage(format_args!("{kind} argument {shown} for {option}\nValid arguments are:{valid}"))
    }
}
