//! Directories that a script should not remove or make writable for everyone.

use crate::plan::{Expansion, PlannedWord, WordPiece};

/// A directory that the system or the user needs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum CriticalDirectory {
    /// `/`, or everything in it.
    Root,
    /// A system directory, such as `/etc`.
    System(String),
    /// A home directory.
    Home,
}

/// Top-level directories that the system needs.
const SYSTEM: &[&str] = &[
    "bin",
    "boot",
    "dev",
    "etc",
    "home",
    "lib",
    "lib32",
    "lib64",
    "opt",
    "proc",
    "root",
    "run",
    "sbin",
    "srv",
    "sys",
    "usr",
    "var",
    "Users",
    "System",
    "Library",
    "Applications",
];

/// Directories in `/usr` and `/var` that the system needs.
const SYSTEM_BELOW: &[[&str; 2]] = &[
    ["usr", "bin"],
    ["usr", "lib"],
    ["usr", "lib64"],
    ["usr", "sbin"],
    ["usr", "share"],
    ["usr", "include"],
    ["var", "lib"],
    ["lib", "modules"],
];

impl CriticalDirectory {
    /// Returns the directory that a path names, or whose whole content it names.
    pub(super) fn of(path: &PlannedWord) -> Option<Self> {
        let (first, rest) = path.pieces.split_first()?;
        let (home, begin) = match first {
            WordPiece::Dynamic { by, source } if is_home(*by, source) => (true, Vec::new()),
            first => (false, absolute(first)?.to_vec()),
        };
        let mut text = begin;
        for piece in rest {
            match piece {
                WordPiece::Literal(more) => text.extend_from_slice(more),
                WordPiece::Dynamic { by: Expansion::Glob | Expansion::Braces, source } => {
                    text.extend_from_slice(source);
                }
                WordPiece::Dynamic { .. } => return None,
            }
        }
        // The path must end here or continue with a slash: `$HOME.old` is not a home directory.
        if home && text.first().is_some_and(|byte| *byte != b'/') {
            return None;
        }
        let components = components(&text);
        match components.as_slice() {
            [] if home => Some(Self::Home),
            _ if home => None,
            [] => Some(Self::Root),
            [one] if SYSTEM.contains(&one.as_str()) => Some(Self::System(format!("/{one}"))),
            [one, two] if SYSTEM_BELOW.iter().any(|known| known[0] == one && known[1] == two) => {
                Some(Self::System(format!("/{one}/{two}")))
            }
            _ => None,
        }
    }

    /// Returns a description for messages.
    pub(super) fn description(&self) -> String {
        match self {
            Self::Root => "the root directory".to_owned(),
            Self::System(path) => format!("the system directory \"{path}\""),
            Self::Home => "the home directory".to_owned(),
        }
    }
}

/// Returns the beginning of an absolute path: literal text, or the default of a variable as in `${dir:-/}`.
fn absolute(piece: &WordPiece) -> Option<&[u8]> {
    let text = match piece {
        WordPiece::Literal(text) => &**text,
        WordPiece::Dynamic { by: Expansion::Parameter, source } => default_value(source)?,
        WordPiece::Dynamic { .. } => return None,
    };
    text.starts_with(b"/").then_some(text)
}

/// Returns the default in `${name:-text}`, `${name-text}`, `${name:=text}` or `${name=text}`, if it is plain text.
fn default_value(source: &[u8]) -> Option<&[u8]> {
    let inside = source.strip_prefix(b"${")?.strip_suffix(b"}")?;
    let name = inside.iter().take_while(|byte| byte.is_ascii_alphanumeric() || **byte == b'_').count();
    let operator = &inside[name..];
    let operator = operator.strip_prefix(b":").unwrap_or(operator);
    let text = operator.strip_prefix(b"-").or_else(|| operator.strip_prefix(b"="))?;
    text.iter().all(|byte| !b"$`\\\"'{}".contains(byte)).then_some(text)
}

/// Whether an expansion yields a home directory: `~`, `~user`, `$HOME` and `${HOME…}`.
fn is_home(by: Expansion, source: &[u8]) -> bool {
    match by {
        Expansion::Tilde => !matches!(source, b"~+" | b"~-"),
        Expansion::Parameter => {
            source == b"$HOME"
                || source
                    .strip_prefix(b"${HOME")
                    .is_some_and(|rest| !rest[0].is_ascii_alphanumeric() && rest[0] != b'_')
        }
        _ => false,
    }
}

/// Returns the components of a path, without trailing patterns that match everything.
fn components(text: &[u8]) -> Vec<String> {
    let mut components: Vec<&[u8]> = Vec::new();
    for component in text.split(|byte| *byte == b'/') {
        match component {
            b"" | b"." => {}
            b".." => drop(components.pop()),
            _ => components.push(component),
        }
    }
    while components.last().is_some_and(|last| matches_all(last)) {
        components.pop();
    }
    components.iter().map(|component| String::from_utf8_lossy(component).into_owned()).collect()
}

/// Whether a pattern matches every name, or every name that starts with a dot.
fn matches_all(component: &[u8]) -> bool {
    component.contains(&b'*') && component.iter().all(|byte| b"*.?[]!^{},-".contains(byte))
}
