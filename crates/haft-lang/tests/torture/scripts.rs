//! The installed shell scripts.

use std::fs;
use std::io::Read;
use std::path::{Path, PathBuf};

/// Directories to search for scripts.
const ROOTS: [&str; 2] = ["/usr", "/etc"];

/// Maximum size of a script. Larger files are usually self-extracting programs.
const MAX_SCRIPT_BYTES: u64 = 4 << 20;

/// Returns all scripts for sh, bash or dash, and all bash completions.
pub(crate) fn find() -> Vec<PathBuf> {
    let mut found = Vec::new();
    for root in ROOTS {
        walk(Path::new(root), &mut found);
    }
    found.sort();
    found
}

fn walk(directory: &Path, found: &mut Vec<PathBuf>) {
    let Ok(entries) = fs::read_dir(directory) else { return };
    for entry in entries.flatten() {
        let Ok(kind) = entry.file_type() else { continue };
        if kind.is_dir() {
            walk(&entry.path(), found);
        } else if kind.is_file() && is_script(&entry.path()) {
            found.push(entry.path());
        }
    }
}

fn is_script(path: &Path) -> bool {
    let small = fs::metadata(path).is_ok_and(|metadata| metadata.len() <= MAX_SCRIPT_BYTES);
    small && (starts_with_shebang(path) || is_for_bash(path))
}

/// Completions have no `#!` line, but a fixed location or extension.
fn is_for_bash(path: &Path) -> bool {
    path.extension().is_some_and(|extension| extension == "bash")
        || path.parent().is_some_and(|parent| parent.ends_with("bash-completion/completions"))
}

fn starts_with_shebang(path: &Path) -> bool {
    let Ok(file) = fs::File::open(path) else { return false };
    let mut line = Vec::new();
    if file.take(80).read_to_end(&mut line).is_err() || !line.starts_with(b"#!") {
        return false;
    }
    let line = line.split(|byte| *byte == b'\n').next().unwrap_or_default();
    let line = String::from_utf8_lossy(&line[2..]);
    let mut words = line.split_whitespace().map(|word| word.rsplit('/').next().unwrap_or(word));
    let shell = words.find(|word| *word != "env");
    matches!(shell, Some("sh" | "bash" | "dash"))
}
