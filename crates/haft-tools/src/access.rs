//! Declared access of tools, and conflicts between calls.

use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};
use serde_json::Value;

/// The paths that a tool declares to read and write.
///
/// In a schema: `"none"`, `"read"` or `"write"` for any path, or the parameters that name paths, such as
/// `{"read": ["path"], "write": ["target"]}`. A tool without a declaration may access everything.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(try_from = "Value", into = "SerializedAccess")]
pub enum ToolAccess {
    /// Not declared.
    #[default]
    Unknown,
    /// Nothing that other calls could observe.
    None,
    /// Reads any path.
    Read,
    /// Writes any path.
    Write,
    /// Reads and writes the paths that these parameters name.
    Paths {
        /// Parameters with paths to read.
        read: Vec<String>,
        /// Parameters with paths to write.
        write: Vec<String>,
    },
}

/// The serialized form.
#[derive(Clone, Serialize, schemars::JsonSchema)]
#[serde(untagged)]
enum SerializedAccess {
    Word(&'static str),
    Paths { read: Vec<String>, write: Vec<String> },
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct AccessPaths {
    #[serde(default)]
    read: Vec<String>,
    #[serde(default)]
    write: Vec<String>,
}

impl TryFrom<Value> for ToolAccess {
    type Error = String;

    fn try_from(value: Value) -> Result<ToolAccess, String> {
        match value.as_str() {
            Some("none") => return Ok(ToolAccess::None),
            Some("read") => return Ok(ToolAccess::Read),
            Some("write") => return Ok(ToolAccess::Write),
            _ => {}
        }
        match AccessPaths::deserialize(&value) {
            Ok(AccessPaths { read, write }) if value.is_object() => Ok(ToolAccess::Paths { read, write }),
            _ => Err(format!(
                "access must be \"none\", \"read\", \"write\" or {{\"read\": […], \"write\": […]}} with names of parameters, got {}",
                crate::text::short(&value)
            )),
        }
    }
}

impl From<ToolAccess> for SerializedAccess {
    fn from(access: ToolAccess) -> SerializedAccess {
        match access {
            ToolAccess::Unknown => SerializedAccess::Word("unknown"),
            ToolAccess::None => SerializedAccess::Word("none"),
            ToolAccess::Read => SerializedAccess::Word("read"),
            ToolAccess::Write => SerializedAccess::Word("write"),
            ToolAccess::Paths { read, write } => SerializedAccess::Paths { read, write },
        }
    }
}

impl ToolAccess {
    pub(crate) fn is_unknown(&self) -> bool {
        *self == ToolAccess::Unknown
    }

    pub(crate) fn check(&self, parameters: &Value) -> Result<(), String> {
        let ToolAccess::Paths { read, write } = self else { return Ok(()) };
        let unknown = |name: &&String| parameters["properties"].get(name.as_str()).is_none();
        match read.iter().chain(write).find(unknown) {
            Some(name) => Err(format!("bad schema at /access: unknown parameter '{name}'")),
            None => Ok(()),
        }
    }

    /// The access of a call with these arguments. Relative paths start at `directory`.
    pub fn of_call(&self, arguments: &Value, directory: &Path) -> CallAccess {
        match self {
            ToolAccess::Unknown | ToolAccess::Write => CallAccess::Everything,
            ToolAccess::None => CallAccess::default(),
            ToolAccess::Read => CallAccess::Paths { read: vec![PathBuf::from("/")], write: Vec::new() },
            ToolAccess::Paths { read, write } => CallAccess::Paths {
                read: paths(read, arguments, directory),
                write: paths(write, arguments, directory),
            },
        }
    }
}

/// The paths that one call accesses.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum CallAccess {
    /// Any path, so the call runs alone.
    Everything,
    /// These paths, without symbolic links, and everything beneath them.
    Paths {
        /// Paths to read.
        read: Vec<PathBuf>,
        /// Paths to write.
        write: Vec<PathBuf>,
    },
}

impl Default for CallAccess {
    fn default() -> CallAccess {
        CallAccess::Paths { read: Vec::new(), write: Vec::new() }
    }
}

impl CallAccess {
    /// Returns true if the calls must not run in parallel: one writes what the other reads or writes.
    pub fn conflicts(&self, other: &CallAccess) -> bool {
        let (CallAccess::Paths { read, write }, CallAccess::Paths { read: other_read, write: other_write }) =
            (self, other)
        else {
            return true;
        };
        overlap(write, other_write) || overlap(write, other_read) || overlap(read, other_write)
    }
}

fn overlap(ones: &[PathBuf], others: &[PathBuf]) -> bool {
    ones.iter().any(|one| others.iter().any(|other| one.starts_with(other) || other.starts_with(one)))
}

fn paths(names: &[String], arguments: &Value, directory: &Path) -> Vec<PathBuf> {
    names
        .iter()
        .flat_map(|name| match arguments.get(name) {
            Some(Value::String(path)) => vec![path.as_str()],
            Some(Value::Array(paths)) => paths.iter().filter_map(Value::as_str).collect(),
            // An omitted path means the working directory of the call.
            _ => vec![""],
        })
        .map(|path| canonical(&directory.join(path)))
        .collect()
}

/// Resolves symbolic links in the part of the path that exists.
pub(crate) fn canonical(path: &Path) -> PathBuf {
    let mut missing = Vec::new();
    let mut existing = path;
    loop {
        if let Ok(mut found) = existing.canonicalize() {
            found.extend(missing.iter().rev());
            return found;
        }
        match (existing.parent(), existing.file_name()) {
            (Some(parent), Some(name)) => {
                missing.push(name);
                existing = parent;
            }
            _ => return path.to_path_buf(),
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn touched(access: &str, arguments: &Value) -> CallAccess {
        let access: ToolAccess = serde_json::from_str(access).expect("valid access");
        access.of_call(arguments, Path::new("/"))
    }

    #[test]
    fn writes_conflict_with_overlapping_access_and_reads_do_not_conflict() {
        let paths = r#"{"read": ["r"], "write": ["w"]}"#;
        let read = |path: &str| touched(r#"{"read": ["r"]}"#, &json!({"r": path}));
        let write = |path: &str| touched(r#"{"write": ["w"]}"#, &json!({"w": path}));
        assert!(!read("/no/a").conflicts(&read("/no/a")));
        assert!(write("/no/a").conflicts(&read("/no/a")) && read("/no/a").conflicts(&write("/no/a")));
        assert!(write("/no/a").conflicts(&write("/no/a/b")) && write("/no/a/b").conflicts(&read("/no/a")));
        assert!(!write("/no/a").conflicts(&write("/no/ab")));
        let both = touched(paths, &json!({"r": ["/no/x", "/no/y"], "w": "/no/z"}));
        assert!(both.conflicts(&write("/no/y")) && !both.conflicts(&read("/no/y")));
    }

    #[test]
    fn undeclared_access_conflicts_with_everything() {
        let (unknown, none) =
            (ToolAccess::Unknown.of_call(&json!({}), Path::new("/")), touched("\"none\"", &json!({})));
        assert!(unknown.conflicts(&none) && none.conflicts(&unknown) && !none.conflicts(&none));
        assert!(!touched("\"read\"", &json!({})).conflicts(&touched("\"read\"", &json!({}))));
    }

    #[test]
    fn a_path_and_a_link_to_it_conflict() {
        let directory = tempfile::tempdir().expect("a directory");
        std::fs::create_dir(directory.path().join("real")).expect("a directory");
        std::os::unix::fs::symlink("real", directory.path().join("link")).expect("a link");
        let access: ToolAccess = serde_json::from_str(r#"{"write": ["w"]}"#).expect("valid access");
        let one = access.of_call(&json!({"w": "real/new"}), directory.path());
        let other = access.of_call(&json!({"w": "link/new"}), directory.path());
        assert!(one.conflicts(&other));
    }
}
