//! `file_write`: a whole file.

use std::io::ErrorKind;

use serde::Deserialize;
use serde_json::{Value, json};

use super::replace::replace;
use super::{describe, failed, read_arguments, writes};
use crate::envelope::Fault;
use crate::native::{Native, Surroundings};
use crate::tool::Descriptor;

#[derive(Debug)]
pub(super) struct FileWrite;

#[derive(Deserialize)]
struct Arguments {
    path: String,
    content: String,
}

impl Native for FileWrite {
    fn descriptor(&self) -> Descriptor {
        describe(
            "file_write",
            "Write a whole file, in place of what it held. Directories that are missing are made; nobody sees half of it.",
            writes("path"),
            json!({
                "properties": {
                    "path": {"type": "string", "description": "The file"},
                    "content": {"type": "string", "description": "All it shall hold"},
                },
                "required": ["path", "content"],
            }),
        )
    }

    fn call(&self, arguments: &Value, surroundings: &Surroundings<'_>) -> Result<Value, Fault> {
        let arguments: Arguments = read_arguments(arguments)?;
        let path = surroundings.path(&arguments.path);
        let content = arguments.content.as_bytes();
        let written = match (replace(&path, content), path.parent()) {
            (Err(error), Some(directory)) if error.kind() == ErrorKind::NotFound => {
                std::fs::create_dir_all(directory)
                    .map_err(|error| failed("make the directory", directory, &error))?;
                replace(&path, content)
            }
            (written, _) => written,
        };
        let created = written.map_err(|error| failed("write", &path, &error))?;
        Ok(json!({"path": arguments.path, "bytes": arguments.content.len(), "created": created}))
    }
}
