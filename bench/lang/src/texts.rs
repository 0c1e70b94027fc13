//! The texts to parse.

use std::fs;
use std::io::{BufRead as _, BufReader};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use tempfile::TempDir;

use crate::acceptance::refusal;

/// A script that an agent might write.
pub const AGENT: &str = include_str!("agent.sh");

/// Minimum size of the text to parse in one turn.
const TURN_BYTES: usize = 2 << 20;

/// Maximum size of a script.
const MAX_SCRIPT_BYTES: u64 = 200_000;

/// Maximum time to select scripts. The remaining scripts are left out.
const SELECTION_TIMEOUT: Duration = Duration::from_secs(60);

/// Shell scripts under `/usr`, each as the body of a function. They are parsed one by one: a parser whose time grows faster than
/// its text would need hours for all of them at once.
pub struct Corpus {
    /// The scripts, which every parser accepts.
    pub scripts: Vec<String>,
    /// How often to parse them per turn.
    pub copies: u32,
    /// Scripts that were left out, each with the reason.
    pub left_out: Vec<(PathBuf, &'static str)>,
}

impl Corpus {
    /// Selects the scripts that every parser accepts. Takes a bounded time.
    pub fn new() -> Self {
        let directory = TempDir::new().expect("a temporary directory");
        let deadline = Instant::now() + SELECTION_TIMEOUT;
        let (mut scripts, mut left_out) = (vec![function(0, AGENT)], Vec::new());
        for (path, script) in scripts_below(Path::new("/usr")) {
            let script = function(scripts.len(), &script);
            let reason = if Instant::now() > deadline {
                Some("no time was left to test it")
            } else {
                let file = directory.path().join("script");
                fs::write(&file, &script).expect("the script is written");
                refusal(&file)
            };
            match reason {
                Some(reason) => left_out.push((path, reason)),
                None => scripts.push(script),
            }
        }
        let copies = TURN_BYTES.div_ceil(scripts.iter().map(String::len).sum());
        Self { scripts, copies: u32::try_from(copies).unwrap_or(1), left_out }
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
    // Most files are not scripts, so only their first line is read.
    let mut line = Vec::new();
    let mut file = BufReader::with_capacity(128, fs::File::open(path).ok()?);
    if !file.fill_buf().ok()?.starts_with(b"#!") {
        return None;
    }
    file.read_until(b'\n', &mut line).ok()?;
    let line = String::from_utf8(line).ok()?;
    let text = String::from_utf8(fs::read(path).ok()?).ok()?;
    let shell = line[2..]
        .split_whitespace()
        .map(|word| word.rsplit('/').next().unwrap_or(word))
        .find(|word| *word != "env");
    let known = matches!(shell, Some("sh" | "bash" | "dash"));
    (known && text.ends_with('\n') && !text.contains('\0')).then_some(text)
}
