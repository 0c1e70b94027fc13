//! `file_write`: writes a whole file.

use std::io::ErrorKind;

use serde::Deserialize;
use serde_json::{Value, json};

use super::atomic_write::write_atomically;
use super::{check_change, describe, failed, read_arguments, writes};
use crate::envelope::CallError;
use crate::native::{CallContext, NativeTool};
use crate::tool::ToolDescriptor;

#[derive(Debug)]
pub(super) struct FileWriteTool;

#[derive(Deserialize)]
struct FileWriteArguments {
    path: String,
    content: String,
}

impl NativeTool for FileWriteTool {
    fn descriptor(&self) -> ToolDescriptor {
        describe(
            "file_write",
            "Write a whole file, replacing its content atomically. Creates missing directories.",
            writes("path"),
            json!({
                "properties": {
                    "path": {"type": "string", "description": "The file"},
                    "content": {"type": "string", "description": "The complete content"},
                },
                "required": ["path", "content"],
            }),
        )
    }

    fn call(&self, arguments: &Value, call: &CallContext<'_>) -> Result<Value, CallError> {
        let arguments: FileWriteArguments = read_arguments(arguments)?;
        let path = call.path(&arguments.path);
        let content = arguments.content.as_bytes();
        check_change(&path, call)?;
        let written = match (write_atomically(&path, content), path.parent()) {
            (Err(error), Some(directory)) if error.kind() == ErrorKind::NotFound => {
                std::fs::create_dir_all(directory)
                    .map_err(|error| failed("create the directory", directory, &error))?;
                write_atomically(&path, content)
            }
            (written, _) => written,
        };
        let created = written.map_err(|error| failed("write", &path, &error))?;
        Ok(json!({"path": arguments.path, "bytes": arguments.content.len(), "created": created}))
    }

    fn text(&self, result: &Value) -> Option<String> {
        let verb = if result["created"] == true { "created" } else { "replaced" };
        Some(format!("{verb} {}, {} bytes\n", result["path"].as_str()?, result["bytes"]))
    }
}
