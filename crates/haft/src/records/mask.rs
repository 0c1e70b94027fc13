//! Masks secrets in records, and cuts long texts, before they are written.

use haft_process::Redactor;
use haft_records::{RunEnd, RunStart, StageEnd};
use serde_json::Value;

use super::RecordedRun;

/// The most bytes of a script, and of all words of a command.
const MAX_SCRIPT_BYTES: usize = 16 << 10;
const MAX_ARGV_BYTES: usize = 4 << 10;
/// The most bytes of one string in the arguments of a tool, and of an error.
const MAX_STRING_BYTES: usize = 2 << 10;

impl RecordedRun {
    pub(super) fn mask_start(&self, start: &mut RunStart) {
        let mut is_cut = false;
        if let Some(text) = &mut start.script {
            is_cut |= self.mask(text, MAX_SCRIPT_BYTES);
        }
        is_cut |= self.mask_words(&mut start.argv);
        if let Some(arguments) = &mut start.arguments {
            is_cut |= self.mask_value(arguments);
        }
        for text in [&mut start.agent, &mut start.tool, &mut start.parent].into_iter().flatten() {
            self.mask(text, MAX_STRING_BYTES);
        }
        if let Some(client) = &mut start.client {
            self.mask(&mut client.name, MAX_STRING_BYTES);
            self.mask(&mut client.version, MAX_STRING_BYTES);
        }
        self.mask(&mut start.cwd, MAX_STRING_BYTES);
        self.mask(&mut start.session, MAX_STRING_BYTES);
        start.truncated |= is_cut;
    }

    pub(super) fn mask_stage(&self, stage: &mut StageEnd) {
        stage.truncated |= self.mask_words(&mut stage.argv);
    }

    pub(super) fn mask_end(&self, end: &mut RunEnd) {
        if let Some(error) = &mut end.error {
            self.mask(error, MAX_STRING_BYTES);
        }
        for path in end.changed.iter_mut().flat_map(|changed| &mut changed.paths) {
            self.mask(path, MAX_STRING_BYTES);
        }
        for decision in &mut end.policy {
            self.mask(decision, MAX_STRING_BYTES);
        }
    }

    /// Masks all strings of a JSON value, keys too. Returns whether one was cut.
    fn mask_value(&self, value: &mut Value) -> bool {
        match value {
            Value::String(text) => self.mask(text, MAX_STRING_BYTES),
            Value::Array(items) => {
                items.iter_mut().fold(false, |is_cut, item| self.mask_value(item) | is_cut)
            }
            Value::Object(fields) => {
                let mut is_cut = false;
                *fields = std::mem::take(fields)
                    .into_iter()
                    .map(|(mut name, mut value)| {
                        self.mask(&mut name, MAX_STRING_BYTES);
                        is_cut |= self.mask_value(&mut value);
                        (name, value)
                    })
                    .collect();
                is_cut
            }
            _ => false,
        }
    }

    /// Masks words, and leaves out those that are too many bytes. Returns whether some were.
    fn mask_words(&self, words: &mut Vec<String>) -> bool {
        let mut left = MAX_ARGV_BYTES;
        for index in 0..words.len() {
            let is_cut = self.mask(&mut words[index], left);
            if is_cut {
                words.truncate(index + 1);
                return true;
            }
            left -= words[index].len();
        }
        false
    }

    /// Masks secrets in a text, then cuts it, so that no part of a secret remains. Returns whether it was cut.
    fn mask(&self, text: &mut String, limit: usize) -> bool {
        self.redactor.redact(text);
        self.recorder.patterns.iter().for_each(|patterns: &Redactor| patterns.redact(text));
        if text.len() <= limit {
            return false;
        }
        text.truncate(text.floor_char_boundary(limit));
        true
    }
}
