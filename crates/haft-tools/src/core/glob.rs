//! `glob`: finds files by name.

use std::path::PathBuf;
use std::time::SystemTime;

use globset::GlobBuilder;
use serde::Deserialize;
use serde_json::{Value, json};

use super::walk::{self, FileFilter};
use super::{describe, read_arguments, reads};
use crate::envelope::CallError;
use crate::native::{CallContext, NativeTool};
use crate::text;
use crate::tool::ToolDescriptor;

#[derive(Debug)]
pub(super) struct GlobTool;

#[derive(Deserialize)]
struct GlobArguments {
    pattern: String,
    path: String,
    limit: usize,
    hidden: bool,
    ignored: bool,
}

impl NativeTool for GlobTool {
    fn descriptor(&self) -> ToolDescriptor {
        describe(
            "glob",
            "Find files by a glob pattern such as `src/**/*.rs`, newest first. Respects .gitignore.",
            reads("path"),
            json!({
                "properties": {
                    "pattern": {"type": "string", "minLength": 1, "description": "Glob pattern with `*`, `?`, `**`, `{a,b}`, `[a-z]`"},
                    "path": {"type": "string", "default": ".", "description": "Directory to search"},
                    "limit": {"type": "integer", "minimum": 1, "default": 1000, "description": "Maximum files"},
                    "hidden": {"type": "boolean", "default": false, "description": "Include hidden files"},
                    "ignored": {"type": "boolean", "default": false, "description": "Include ignored files"},
                },
                "required": ["pattern"],
            }),
        )
    }

    fn call(&self, arguments: &Value, call: &CallContext<'_>) -> Result<Value, CallError> {
        let arguments: GlobArguments = read_arguments(arguments)?;
        let base = call.path(&arguments.path);
        if let Err(error) = base.metadata() {
            return Err(super::failed("open", &base, &error));
        }
        let (prefix, pattern) = split(&arguments.pattern);
        let root = walk::clean(&base.join(prefix));
        let matcher = GlobBuilder::new(pattern)
            .literal_separator(true)
            .build()
            .map_err(|error| CallError::invalid(format!("parameter 'pattern': {error}")))?
            .compile_matcher();
        let hidden = arguments.hidden || pattern.split('/').any(|part| part.starts_with('.'));
        let mut found: Vec<(SystemTime, PathBuf)> = Vec::new();
        let filter = FileFilter { hidden, ignored: arguments.ignored, matching: None };
        let mut unreadable = 0;
        if root.exists() {
            unreadable = walk::files(&root, filter, call, |entry| {
                if entry.path().strip_prefix(&root).is_ok_and(|below| matcher.is_match(below)) {
                    let modified = entry.metadata().ok().and_then(|metadata| metadata.modified().ok());
                    found.push((modified.unwrap_or(SystemTime::UNIX_EPOCH), entry.path().to_path_buf()));
                }
                Ok(true)
            })?;
        }
        found.sort_by(|one, other| other.0.cmp(&one.0).then_with(|| one.1.cmp(&other.1)));
        let total = found.len();
        let files: Vec<String> =
            found.iter().take(arguments.limit).map(|(_, path)| walk::shown(path, call)).collect();
        let mut result = json!({"files": files, "total": total, "truncated": total > arguments.limit});
        if unreadable > 0 {
            result["unreadable"] = unreadable.into();
        }
        Ok(result)
    }

    /// The names, one per line.
    fn text(&self, result: &Value) -> Option<String> {
        let files = result["files"].as_array()?;
        let mut text = text::lines(files.iter().filter_map(Value::as_str));
        let mut facts = Vec::new();
        if files.is_empty() {
            facts.push("no files match".to_owned());
        }
        if result["truncated"] == true {
            facts.push(format!("{} of {} files; set limit to see more", files.len(), result["total"]));
        }
        facts.extend(text::unreadable(result));
        text::push_facts(&mut text, &facts);
        Some(text)
    }
}

/// Splits a pattern into its literal directory prefix and the rest.
fn split(pattern: &str) -> (&str, &str) {
    let special = pattern.find(['*', '?', '[', '{', '\\']).unwrap_or(pattern.len());
    match pattern[..special].rfind('/') {
        Some(0) => ("/", &pattern[1..]),
        Some(slash) => (&pattern[..slash], &pattern[slash + 1..]),
        None => ("", pattern),
    }
}

#[cfg(test)]
mod tests {
    use super::split;

    #[test]
    fn literal_directories_are_split_off() {
        assert_eq!(split("src/**/*.rs"), ("src", "**/*.rs"));
        assert_eq!(split("*.rs"), ("", "*.rs"));
        assert_eq!(split("/etc/*.conf"), ("/etc", "*.conf"));
        assert_eq!(split("/*"), ("/", "*"));
        assert_eq!(split("a/b"), ("a", "b"));
        assert_eq!(split("a/b{c,d}/e"), ("a", "b{c,d}/e"));
    }
}
