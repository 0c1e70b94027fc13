//! What is launched, in a few words before it is.

use rustix::stdio::stderr;
use rustix::termios::isatty;
use serde_json::{Value, json};

use super::prepare::PreparedLaunch;
use crate::failure::{print_message, print_stderr};

/// Says on standard error what could not be made, and to a person at a terminal what is launched.
pub(super) fn show(prepared: &PreparedLaunch, as_json: bool) {
    if as_json {
        print_stderr(&format!("{}\n", data(prepared)));
        return;
    }
    if isatty(stderr()) {
        print_message(line(prepared));
    }
    prepared.material.notes.iter().for_each(print_message);
}

/// What is launched, in one line.
pub(super) fn line(prepared: &PreparedLaunch) -> String {
    let mut line = prepared.agent.clone();
    if let Some(model) = &prepared.model {
        line += &format!(" ({model})");
    }
    if let Some(role) = &prepared.role {
        line += &format!(" as \"{role}\"");
    }
    if let Some(task) = &prepared.task {
        line += &format!(" for task \"{task}\"");
    }
    if !prepared.material.included.is_empty() {
        line += &format!(" with {}", prepared.material.included.join(", "));
    }
    line
}

/// What is launched, as data.
pub(super) fn data(prepared: &PreparedLaunch) -> Value {
    let text = |word: &std::ffi::OsString| Value::from(word.to_string_lossy());
    json!({
        "agent": prepared.agent,
        "model": prepared.model,
        "role": prepared.role,
        "task": prepared.task,
        "contexts": prepared.material.included,
        "notes": prepared.material.notes,
        "argv": prepared.plan.argv.iter().map(text).collect::<Vec<_>>(),
        "env": prepared.plan.variables.iter().map(|(name, value)| (name.clone(), text(value)))
            .collect::<serde_json::Map<_, _>>(),
        "prompt": prepared.plan.delivery,
        "prompt_bytes": prepared.material.prompt.len(),
        "files": prepared.plan.files.iter().map(|(path, _)| path.display().to_string()).collect::<Vec<_>>(),
    })
}
