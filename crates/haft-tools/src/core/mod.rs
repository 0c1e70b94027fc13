//! Core tools that run in this process, one file each.

mod atomic_write;
mod binary;
mod edit_match;
mod file_edit;
mod file_read;
mod file_write;
mod glob;
mod grep;
mod output;
mod process;
mod walk;

use std::ffi::OsString;
use std::io::ErrorKind;
use std::sync::Arc;

use serde::de::DeserializeOwned;
use serde_json::Value;

use crate::access::ToolAccess;
use crate::envelope::CallError;
use crate::native::{CallContext, NativeTool};
use crate::tool::ToolDescriptor;

/// Options of the core tools.
#[derive(Clone, Debug, Default)]
pub struct CoreOptions {
    /// The shell command that a script is appended to, such as `sh -c`. If empty, `process_start` accepts
    /// only argument lists.
    pub shell: Vec<OsString>,
}

/// The core tools: files, truncated outputs and background processes. The processes end when all these values
/// are dropped.
pub fn core_tools(options: &CoreOptions) -> Vec<Arc<dyn NativeTool>> {
    let mut tools: Vec<Arc<dyn NativeTool>> = vec![
        Arc::new(file_read::FileReadTool),
        Arc::new(file_write::FileWriteTool),
        Arc::new(file_edit::FileEditTool),
        Arc::new(glob::GlobTool),
        Arc::new(grep::GrepTool),
        Arc::new(output::OutputTool),
    ];
    tools.extend(process::tools(options));
    tools
}

/// Builds the descriptor of a core tool.
fn describe(name: &str, description: &str, access: ToolAccess, mut parameters: Value) -> ToolDescriptor {
    parameters["type"] = "object".into();
    parameters["additionalProperties"] = false.into();
    ToolDescriptor {
        name: name.to_owned(),
        description: description.to_owned(),
        parameters,
        returns: None,
        timeout: None,
        output_limit: None,
        access,
        env: Vec::new(),
        title: None,
        annotations: None,
        version: None,
    }
}

fn reads(parameter: &str) -> ToolAccess {
    ToolAccess::Paths { read: vec![parameter.to_owned()], write: Vec::new() }
}

fn writes(parameter: &str) -> ToolAccess {
    ToolAccess::Paths { read: Vec::new(), write: vec![parameter.to_owned()] }
}

/// Deserializes validated arguments.
fn read_arguments<T: DeserializeOwned>(arguments: &Value) -> Result<T, CallError> {
    T::deserialize(arguments).map_err(|error| CallError::invalid(error.to_string()))
}

/// Fails if a policy protects a file from changes.
fn check_change(path: &std::path::Path, call: &CallContext<'_>) -> Result<(), CallError> {
    call.host.permission().check_change(path).map_err(|error| failed("write", path, &error))
}

/// The error for a failed file operation: invalid parameters if the path is wrong, otherwise a failure of the
/// tool.
fn failed(doing: &str, path: &std::path::Path, error: &std::io::Error) -> CallError {
    let message = format!("cannot {doing} '{}': {}", path.display(), haft_process::reason(error));
    match error.kind() {
        ErrorKind::NotFound
        | ErrorKind::NotADirectory
        | ErrorKind::IsADirectory
        | ErrorKind::InvalidInput
        | ErrorKind::InvalidFilename => CallError::invalid(message),
        _ => CallError::failed(message),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_core_tool_has_a_valid_descriptor() {
        for native in core_tools(&CoreOptions::default()) {
            let descriptor = native.descriptor();
            let value = serde_json::to_value(&descriptor).expect("JSON");
            assert_eq!(ToolDescriptor::from_value(value), Ok(descriptor.clone()));
            assert!(!descriptor.description.is_empty());
            for (name, parameter) in descriptor.parameters["properties"].as_object().expect("properties") {
                assert!(parameter.get("description").is_some(), "{} of {}", name, descriptor.name);
            }
        }
    }
}
