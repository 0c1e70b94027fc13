//! What tools read and write, and which calls can run side by side.

use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};
use serde_json::Value;

/// What a tool says it touches.
///
/// In a schema: `"none"`, `"read"` or `"write"` for anything anywhere, or the parameters that name paths, as
/// `{"read": ["path"], "write": ["target"]}`. A tool that says nothing may do anything.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "Value", into = "SerializedAccess")]
pub enum ToolAccess {
    /// It does not say.
    #[default]
    Unknown,
    /// Nothing that other calls could notice.
    None,
    /// It reads, anywhere.
    Read,
    /// It writes, anywhere.
    Write,
    /// It reads and writes what these parameters name.
    Paths {
        /// Parameters whose paths are read.
        read: Vec<String>,
        /// Parameters whose paths are written.
        write: Vec<String>,
    },
}

/// How it is written.
#[derive(Clone, Serialize)]
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
                "access is {}; it is \"none\", \"read\", \"write\", or {{\"read\": […], \"write\": […]}} with names of parameters",
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
        let known = |name: &&String| parameters["properties"].get(name.as_str()).is_none();
        match read.iter().chain(write).find(known) {
            Some(name) => Err(format!("bad schema at /access: there is no parameter '{name}'")),
            None => Ok(()),
        }
    }

    /// What a call with these arguments touches, with paths from a directory.
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

/// What one call touches.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum CallAccess {
    /// It may touch anything, so it runs alone.
    Everything,
    /// It touches these paths, which are free of links, and what is below them.
    Paths {
        /// AccessPaths that are read.
        read: Vec<PathBuf>,
        /// AccessPaths that are written.
        write: Vec<PathBuf>,
    },
}

impl Default for CallAccess {
    fn default() -> CallAccess {
        CallAccess::Paths { read: Vec::new(), write: Vec::new() }
    }
}

impl CallAccess {
    /// Whether two calls must not run side by side: one writes what the other reads or writes.
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
            // What is not given is taken from where the call is made.
            _ => vec![""],
        })
        .map(|path| canonical(&directory.join(path)))
        .collect()
}

/// The path without links, as far as it exists.
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
        let access: ToolAccess = serde_json::from_str(access).expect("an access");
        access.of_call(arguments, Path::new("/"))
    }

    #[test]
    fn a_write_conflicts_with_what_it_overlaps_and_reads_with_no_read() {
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
    fn unknown_access_is_a_barrier_and_none_is_not() {
        let (unknown, none) =
            (ToolAccess::Unknown.of_call(&json!({}), Path::new("/")), touched("\"none\"", &json!({})));
        assert!(unknown.conflicts(&none) && none.conflicts(&unknown) && !none.conflicts(&none));
        assert!(!touched("\"read\"", &json!({})).conflicts(&touched("\"read\"", &json!({}))));
    }

    #[test]
    fn links_lead_to_the_same_path() {
        let directory = tempfile::tempdir().expect("a directory");
        std::fs::create_dir(directory.path().join("real")).expect("a directory");
        std::os::unix::fs::symlink("real", directory.path().join("link")).expect("a link");
        let access: ToolAccess = serde_json::from_str(r#"{"write": ["w"]}"#).expect("an access");
        let one = access.of_call(&json!({"w": "real/new"}), directory.path());
        let other = access.of_call(&json!({"w": "link/new"}), directory.path());
        assert!(one.conflicts(&other));
    }
}
