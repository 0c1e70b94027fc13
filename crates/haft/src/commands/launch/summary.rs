//! Summaries of a launch.

use std::collections::BTreeMap;

use rustix::stdio::stderr;
use rustix::termios::isatty;
use schemars::JsonSchema;
use serde::Serialize;

use super::prepare::PreparedLaunch;
use crate::commands::print::json_line;
use crate::failure::{print_message, print_stderr};

/// Prints notes to standard error, and on a terminal the launched agent.
pub(super) fn show(prepared: &PreparedLaunch, as_json: bool) {
    if as_json {
        print_stderr(&json_line(&LaunchReport::new(prepared)));
        return;
    }
    if isatty(stderr()) {
        print_message(line(prepared));
    }
    prepared.material.notes.iter().for_each(print_message);
}

/// The launch in one line.
pub(super) fn line(prepared: &PreparedLaunch) -> String {
    let mut line = prepared.agent.clone();
    if let Some(model) = &prepared.model {
        line += &format!(" ({model})");
    }
    if let Some(role) = &prepared.role {
        line += &format!(" as '{role}'");
    }
    if let Some(task) = &prepared.task {
        line += &format!(" for task '{task}'");
    }
    if !prepared.material.included.is_empty() {
        line += &format!(" with {}", prepared.material.included.join(", "));
    }
    line
}

/// An agent's launch.
#[derive(Debug, JsonSchema, Serialize)]
pub(crate) struct LaunchReport {
    agent: String,
    model: Option<String>,
    role: Option<String>,
    task: Option<String>,
    /// The contexts in the prompt.
    contexts: Vec<String>,
    /// Contexts that could not be added, with the reason.
    notes: Vec<String>,
    /// The agent's command line.
    pub(super) argv: Vec<String>,
    /// Environment variables that are set for the agent.
    pub(super) env: BTreeMap<String, String>,
    /// How the agent gets its prompt: `argv`, `stdin`, `file` or `env`; null if it has none.
    prompt: Option<String>,
    prompt_bytes: usize,
    /// The pieces of the role and the prompt, in order.
    pieces: Vec<PieceReport>,
    /// Default contexts that are left out because the agent reads them itself.
    skipped: Vec<String>,
    /// Files that are written for the agent.
    files: Vec<String>,
    /// The directory with the saved files of a dry run.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) directory: Option<String>,
}

/// One piece of a role or prompt.
#[derive(Debug, JsonSchema, Serialize)]
struct PieceReport {
    /// Its kind and name: `role "NAME"`, `context "NAME"`, `task "NAME"` or `instructions`.
    label: String,
    bytes: usize,
}

impl From<&haft_launch::PromptPiece> for PieceReport {
    fn from(piece: &haft_launch::PromptPiece) -> PieceReport {
        PieceReport { label: piece.label.clone(), bytes: piece.bytes }
    }
}

impl LaunchReport {
    pub(super) fn new(prepared: &PreparedLaunch) -> LaunchReport {
        let text = |word: &std::ffi::OsString| word.to_string_lossy().into_owned();
        let delivery = serde_json::to_value(prepared.plan.delivery).unwrap_or_default();
        LaunchReport {
            agent: prepared.agent.clone(),
            model: prepared.model.clone(),
            role: prepared.role.clone(),
            task: prepared.task.clone(),
            contexts: prepared.material.included.clone(),
            notes: prepared.material.notes.clone(),
            argv: prepared.plan.argv.iter().map(text).collect(),
            env: prepared.plan.variables.iter().map(|(name, value)| (name.clone(), text(value))).collect(),
            prompt: delivery.as_str().map(str::to_owned),
            prompt_bytes: prepared.material.prompt.len(),
            pieces: prepared.material.pieces.iter().map(PieceReport::from).collect(),
            skipped: prepared.material.skipped.clone(),
            files: prepared.plan.files.iter().map(|(path, _)| path.display().to_string()).collect(),
            directory: None,
        }
    }
}
