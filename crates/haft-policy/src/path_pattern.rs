//! Patterns on paths.

use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Component, Path, PathBuf};

use crate::context::{PolicyContext, VARIABLES};
use crate::wildcard;

/// A pattern on absolute paths. It matches the files that it describes and, for directories, everything in them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct PathPattern {
    parts: Vec<PatternPart>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum PatternPart {
    /// `**`: any number of directories.
    Any,
    /// A name with wildcards.
    Wild(Vec<u8>),
    Name(Vec<u8>),
}

impl PathPattern {
    /// Reads a pattern: `./…` in the project, `~/…` in the home directory, `$variable/…`, an absolute path, or a name
    /// without slash that may occur in any directory. A variable may have several values or none, so there may be
    /// several patterns or none.
    ///
    /// # Errors
    /// If the pattern has another form, or its variable does not exist.
    pub(crate) fn read(
        text: &str,
        context: &PolicyContext,
    ) -> Result<Vec<PathPattern>, (String, Option<String>)> {
        let (roots, rest) = match text.split_once('/').unwrap_or((text, "")) {
            ("", rest) if text.starts_with('/') => (vec![PathBuf::from("/")], rest),
            (".", rest) => (context.variable("project").unwrap_or_default(), rest),
            ("~", rest) => (context.variable("home").unwrap_or_default(), rest),
            (first, rest) if first.starts_with('$') => (variable(&first[1..], context)?, rest),
            ("**", rest) => (vec![PathBuf::from("/**")], rest),
            _ if !text.is_empty() && !text.contains('/') => (vec![PathBuf::from("/**")], text),
            _ => return Err(wrong_form(text)),
        };
        if rest.split('/').any(|part| part == "..") {
            return Err((format!("'..' in the pattern '{text}'"), None));
        }
        Ok(roots.iter().map(|root| PathPattern::new(&root.join(rest))).collect())
    }

    fn new(path: &Path) -> PathPattern {
        let part = |component: Component<'_>| match component {
            Component::Normal(name) => Some(match name.as_bytes() {
                b"**" => PatternPart::Any,
                name if wildcard::is_wild(name) => PatternPart::Wild(name.to_vec()),
                name => PatternPart::Name(name.to_vec()),
            }),
            _ => None,
        };
        let mut parts: Vec<PatternPart> = path.components().filter_map(part).collect();
        parts.dedup_by(|one, other| *one == PatternPart::Any && *other == PatternPart::Any);
        PathPattern { parts }
    }

    /// Whether an absolute path without `.` and `..` matches.
    pub(crate) fn matches(&self, path: &Path) -> bool {
        let names: Vec<&[u8]> = path
            .components()
            .filter_map(|component| match component {
                Component::Normal(name) => Some(name.as_bytes()),
                _ => None,
            })
            .collect();
        // The number of leading names that the parts so far have consumed.
        let mut reached = vec![false; names.len() + 1];
        reached[0] = true;
        for part in &self.parts {
            reached = part.advance(&reached, &names);
        }
        // Whatever is left is inside a directory that matches.
        reached.contains(&true)
    }

    /// Returns the directory or file if the pattern describes one with everything in it.
    pub(crate) fn plain(&self) -> Option<PathBuf> {
        let parts = match self.parts.split_last() {
            Some((PatternPart::Any, parts)) => parts,
            _ => &self.parts,
        };
        let mut path = PathBuf::from("/");
        for part in parts {
            let PatternPart::Name(name) = part else { return None };
            path.push(OsStr::from_bytes(name));
        }
        Some(path)
    }
}

impl PatternPart {
    fn advance(&self, reached: &[bool], names: &[&[u8]]) -> Vec<bool> {
        let mut next = vec![false; reached.len()];
        for (at, _) in reached.iter().enumerate().filter(|(_, is_reached)| **is_reached) {
            let matched = names.get(at).is_some_and(|name| match self {
                PatternPart::Any => false,
                PatternPart::Wild(pattern) => wildcard::matches(pattern, name),
                PatternPart::Name(expected) => expected == name,
            });
            match self {
                PatternPart::Any => next[at..].fill(true),
                _ if matched => next[at + 1] = true,
                _ => {}
            }
        }
        next
    }
}

fn variable(name: &str, context: &PolicyContext) -> Result<Vec<PathBuf>, (String, Option<String>)> {
    context.variable(name).ok_or_else(|| {
        (format!("unknown variable '${name}'"), haft_config::suggest(name, VARIABLES.iter().copied()))
    })
}

fn wrong_form(text: &str) -> (String, Option<String>) {
    let hint = format!("for a path in the project, write './{text}'");
    (format!("invalid path pattern '{text}'"), Some(hint))
}

/// Removes `.`, `..`, repeated slashes, and the prefix `/proc/self/root`, which leads to the same file.
pub(crate) fn normalized(path: &Path) -> PathBuf {
    let mut normal = PathBuf::from("/");
    for component in path.components() {
        match component {
            Component::Normal(name) => normal.push(name),
            Component::ParentDir => {
                normal.pop();
            }
            _ => {}
        }
        if leads_to_root(&normal) {
            normal = PathBuf::from("/");
        }
    }
    normal
}

/// Whether a path is `/proc/PID/root` or `/proc/PID/task/TID/root`.
fn leads_to_root(path: &Path) -> bool {
    path.starts_with("/proc") && path.file_name() == Some(OsStr::new("root")) && path.components().count() > 3
}

#[cfg(test)]
mod tests {
    use super::*;

    fn matches(pattern: &str, path: &str) -> bool {
        let context = PolicyContext {
            project: Some("/work".into()),
            home: Some("/home/me".into()),
            temp: vec!["/tmp".into(), "/var/tmp".into()],
            git: None,
        };
        let patterns = PathPattern::read(pattern, &context).unwrap();
        patterns.iter().any(|pattern| pattern.matches(&normalized(Path::new(path))))
    }

    #[test]
    fn patterns_match_files_and_everything_in_directories() {
        for (pattern, path) in [
            ("./src", "/work/src/a/b.rs"),
            ("./src/**", "/work/src"),
            ("./**/*.pem", "/work/a/b/key.pem"),
            ("~/.ssh", "/home/me/.ssh/id_rsa"),
            (".env", "/work/deep/.env"),
            ("*.key", "/a.key"),
            ("$temp", "/var/tmp/x"),
            ("$project/x", "/work/x"),
            ("/", "/anything"),
            ("/etc", "/proc/self/root/etc/passwd"),
            ("./secrets/**", "/work/x/../secrets/y"),
            ("**/.git/hooks", "/work/sub/.git/hooks/pre-commit"),
        ] {
            assert!(matches(pattern, path), "{pattern} {path}");
        }
        for (pattern, path) in [
            ("./src", "/work/src2"),
            ("./*.rs", "/work/a/b.rs"),
            ("~/.ssh", "/home/me"),
            ("$git", "/work/.git"),
        ] {
            assert!(!matches(pattern, path), "{pattern} {path}");
        }
    }

    #[test]
    fn other_forms_are_refused() {
        let context = PolicyContext::default();
        for pattern in ["", "src/x", "./a/../b", "$tmp/x"] {
            assert!(PathPattern::read(pattern, &context).is_err(), "{pattern}");
        }
    }
}
