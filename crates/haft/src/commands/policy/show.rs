//! `haft policy show`: print a preset.

use haft_policy::Preset;
use schemars::JsonSchema;
use serde::Serialize;

use super::arguments::PolicyShowArguments;
use crate::commands::print::{print_json, print_text};

/// A preset.
#[derive(JsonSchema, Serialize)]
pub(crate) struct PresetReport {
    /// Its name.
    name: Preset,
    /// Its text in TOML.
    text: &'static str,
}

/// Prints the text of a preset.
pub(crate) fn run(arguments: &PolicyShowArguments) -> i32 {
    let preset = arguments.preset;
    match arguments.json {
        true => print_json(&PresetReport { name: preset, text: preset.text() }, 0),
        false => print_text(preset.text(), 0),
    }
}
