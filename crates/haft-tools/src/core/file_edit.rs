//! `file_edit`: replaces exact text in a file.

use serde::Deserialize;
use serde_json::{Value, json};

use super::atomic_write::write_atomically;
use super::edit_match::{has_carriage_returns, line_of, nearest, positions, with_carriage_returns};
use super::{check_change, describe, failed, read_arguments, writes};
use crate::envelope::CallError;
use crate::native::{CallContext, NativeTool};
use crate::tool::ToolDescriptor;

#[derive(Debug)]
pub(super) struct FileEditTool;

#[derive(Deserialize)]
struct FileEditArguments {
    path: String,
    old: String,
    new: String,
    replace_all: bool,
}

impl NativeTool for FileEditTool {
    fn descriptor(&self) -> ToolDescriptor {
        describe(
            "file_edit",
            "Replace exact text in a file. The text must occur exactly once unless replace_all is set.",
            writes("path"),
            json!({
                "properties": {
                    "path": {"type": "string", "description": "The file"},
                    "old": {"type": "string", "minLength": 1, "description": "Exact, unique text to replace"},
                    "new": {"type": "string", "description": "Replacement text"},
                    "replace_all": {"type": "boolean", "default": false, "description": "Replace all occurrences"},
                },
                "required": ["path", "old", "new"],
            }),
        )
    }

    fn call(&self, arguments: &Value, call: &CallContext<'_>) -> Result<Value, CallError> {
        let mut arguments: FileEditArguments = read_arguments(arguments)?;
        let path = call.path(&arguments.path);
        if arguments.old == arguments.new {
            return Err(CallError::invalid("parameters 'old' and 'new' are equal"));
        }
        if path.metadata().is_ok_and(|metadata| !metadata.is_file()) {
            return Err(CallError::invalid(format!("'{}' is not a regular file", path.display())));
        }
        let text = std::fs::read(&path).map_err(|error| failed("read", &path, &error))?;
        let mut found = positions(&text, arguments.old.as_bytes());
        if found.is_empty() && arguments.old.contains('\n') && has_carriage_returns(&text) {
            arguments.old = with_carriage_returns(&arguments.old);
            arguments.new = with_carriage_returns(&arguments.new);
            found = positions(&text, arguments.old.as_bytes());
        }
        check_matches(&arguments, &text, &found)?;
        let edited = substitute(&text, &found, &arguments);
        call.check()?;
        check_change(&path, call)?;
        write_atomically(&path, &edited).map_err(|error| failed("write", &path, &error))?;
        let lines: Vec<usize> = found.iter().take(100).map(|place| line_of(&text, *place)).collect();
        Ok(json!({"path": arguments.path, "replacements": found.len(), "lines": lines}))
    }

    fn text(&self, result: &Value) -> Option<String> {
        let lines: Vec<String> = result["lines"].as_array()?.iter().map(Value::to_string).collect();
        let (path, lines) = (result["path"].as_str()?, lines.join(", "));
        Some(match result["replacements"].as_u64()? {
            1 => format!("edited {path} at line {lines}\n"),
            count => format!("edited {path}: {count} replacements at lines {lines}\n"),
        })
    }
}

/// Fails if the text does not occur, or occurs several times without `replace_all`.
fn check_matches(arguments: &FileEditArguments, text: &[u8], found: &[usize]) -> Result<(), CallError> {
    let path = &arguments.path;
    match found.len() {
        0 => {
            let near = match nearest(text, &arguments.old) {
                Some((line, lines)) => format!("; the most similar text is at line {line}:\n{lines}"),
                None => String::new(),
            };
            Err(CallError::invalid(format!("the text does not occur in '{path}'{near}")))
        }
        1 => Ok(()),
        _ if arguments.replace_all => Ok(()),
        count => {
            let lines: Vec<String> =
                found.iter().take(20).map(|place| line_of(text, *place).to_string()).collect();
            Err(CallError::invalid(format!(
                "the text occurs {count} times in '{path}', at lines {}; add context to make it unique, or set replace_all",
                lines.join(", ")
            )))
        }
    }
}

fn substitute(text: &[u8], found: &[usize], arguments: &FileEditArguments) -> Vec<u8> {
    let mut edited = Vec::with_capacity(text.len() + arguments.new.len());
    let mut from = 0;
    for place in found {
        edited.extend_from_slice(&text[from..*place]);
        edited.extend_from_slice(arguments.new.as_bytes());
        from = place + arguments.old.len();
    }
    edited.extend_from_slice(&text[from..]);
    edited
}
