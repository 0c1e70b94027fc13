//! The tools that come with haft and run in this process: one file each.

mod binary;
mod edit_match;
mod file_edit;
mod file_read;
mod file_write;
mod glob;
mod grep;
mod output;
mod process;
mod replace;
mod walk;

use std::ffi::OsString;
use std::io::ErrorKind;
use std::sync::Arc;

use serde::de::DeserializeOwned;
use serde_json::Value;

use crate::access::Access;
use crate::envelope::Fault;
use crate::native::Native;
use crate::tool::Descriptor;

/// What the core tools have to be told.
#[derive(Clone, Debug, Default)]
pub struct CoreOptions {
    /// The words before a text that a shell shall run, such as `sh` and `-c`; without them, programs are started by
    /// their arguments only.
    pub shell: Vec<OsString>,
}

/// The core tools: files, outputs that were cut, and processes in the background, which end with the last of these values.
pub fn core_tools(options: &CoreOptions) -> Vec<Arc<dyn Native>> {
    let mut tools: Vec<Arc<dyn Native>> = vec![
        Arc::new(file_read::FileRead),
        Arc::new(file_write::FileWrite),
        Arc::new(file_edit::FileEdit),
        Arc::new(glob::Glob),
        Arc::new(grep::Grep),
        Arc::new(output::Output),
    ];
    tools.extend(process::tools(options));
    tools
}

/// A descriptor of a core tool.
fn describe(name: &str, description: &str, access: Access, mut parameters: Value) -> Descriptor {
    parameters["type"] = "object".into();
    parameters["additionalProperties"] = false.into();
    Descriptor {
        name: name.to_owned(),
        description: description.to_owned(),
        parameters,
        returns: None,
        timeout: None,
        output_limit: None,
        access,
        env: Vec::new(),
        version: None,
    }
}

fn reads(parameter: &str) -> Access {
    Access::Paths { read: vec![parameter.to_owned()], write: Vec::new() }
}

fn writes(parameter: &str) -> Access {
    Access::Paths { read: Vec::new(), write: vec![parameter.to_owned()] }
}

/// Arguments as a type. They fit the schema, so they fit the type.
fn read_arguments<T: DeserializeOwned>(arguments: &Value) -> Result<T, Fault> {
    T::deserialize(arguments).map_err(|error| Fault::invalid(error.to_string()))
}

/// What could not be done with a file: because it was named wrongly, or because the system would not.
fn failed(doing: &str, path: &std::path::Path, error: &std::io::Error) -> Fault {
    let message = format!("cannot {doing} '{}': {}", path.display(), haft_process::reason(error));
    match error.kind() {
        ErrorKind::NotFound
        | ErrorKind::NotADirectory
        | ErrorKind::IsADirectory
        | ErrorKind::InvalidInput
        | ErrorKind::InvalidFilename => Fault::invalid(message),
        _ => Fault::failed(message),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_core_tool_describes_itself_rightly() {
        for native in core_tools(&CoreOptions::default()) {
            let descriptor = native.descriptor();
            let value = serde_json::to_value(&descriptor).expect("JSON");
            assert_eq!(Descriptor::from_value(value), Ok(descriptor.clone()));
            assert!(!descriptor.description.is_empty());
            for (name, parameter) in descriptor.parameters["properties"].as_object().expect("properties") {
                assert!(parameter.get("description").is_some(), "{} of {}", name, descriptor.name);
            }
        }
    }
}
