//! The texts to parse.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use tempfile::TempDir;

use crate::acceptance::refusal;

/// A script that an agent might write.
pub const AGENT: &str = include_str!("agent.sh");

/// Size at which the corpus is complete.
const CORPUS_BYTES: usize = 4 << 20;

/// Maximum size of a script.
const MAX_SCRIPT_BYTES: u64 = 200_000;

/// Maximum time to select scripts. The remaining scripts are left out.
const SELECTION_TIMEOUT: Duration = Duration::from_secs(60);

/// The shell scripts under `/usr`, each as the body of a function, repeated up to a fixed size.
pub struct Corpus {
    /// The text, which every parser accepts.
    pub text: String,
    /// The number of different scripts in it.
    pub scripts: usize,
    /// Scripts that were left out, each with the reason.
    pub left_out: Vec<(PathBuf, &'static str)>,
}

impl Corpus {
    /// Selects the scripts that every parser accepts. Takes a bounded time.
    pub fn new() -> Self {
        let directory = TempDir::new().expect("a temporary directory");
        let deadline = Instant::now() + SELECTION_TIMEOUT;
        let (mut scripts, mut left_out) = (vec![AGENT.to_owned()], Vec::new());
        for (path, script) in scripts_below(Path::new("/usr")) {
            let reason = if Instant::now() > deadline {
                Some("no time was left to test it")
            } else {
                let file = directory.path().join("script");
                fs::write(&file, function(0, &script)).expect("the script is written");
                refusal(&file)
            };
            match reason {
                Some(reason) => left_out.push((path, reason)),
                None => scripts.push(script),
            }
        }
        let mut text = String::new();
        for (number, script) in scripts.iter().cycle().enumerate() {
            text.push_str(&function(number, script));
            if text.len() > CORPUS_BYTES {
                break;
            }
        }
        Self { text, scripts: scripts.len(), left_out }
    }
}

impl Default for Corpus {
    fn default() -> Self {
        Self::new()
    }
}

fn function(number: usize, script: &str) -> String {
    format!("script_{number}() {{\n{script}\n}}\n")
}

fn scripts_below(directory: &Path) -> Vec<(PathBuf, String)> {
    let Ok(entries) = fs::read_dir(directory) else { return Vec::new() };
    let mut paths: Vec<_> = entries.flatten().map(|entry| entry.path()).collect();
    paths.sort();
    let mut scripts = Vec::new();
    for path in paths {
        let Ok(metadata) = fs::symlink_metadata(&path) else { continue };
        if metadata.is_dir() {
            scripts.extend(scripts_below(&path));
        } else if metadata.is_file() && metadata.len() < MAX_SCRIPT_BYTES {
            scripts.extend(script(&path).map(|script| (path, script)));
        }
    }
    scripts
}

/// Returns the content of a file if it is a shell script. It must end with a newline, because adding one can change the
/// meaning of its last line.
fn script(path: &Path) -> Option<String> {
    let text = String::from_utf8(fs::read(path).ok()?).ok()?;
    let line = text.lines().next()?.strip_prefix("#!")?;
    let shell = line
        .split_whitespace()
        .map(|word| word.rsplit('/').next().unwrap_or(word))
        .find(|word| *word != "env");
    let known = matches!(shell, Some("sh" | "bash" | "dash"));
    (known && text.ends_with('\n') && !text.contains('\0')).then_some(text)
}
