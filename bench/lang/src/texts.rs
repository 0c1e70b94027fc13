//! The texts.

use std::fs;
use std::path::Path;

use crate::parsers::{brush_words, haft};

/// What an agent writes in one go.
pub const AGENT: &str = include_str!("agent.sh");

/// How much text is enough.
const ENOUGH: usize = 4 << 20;

/// The shell scripts of this machine that all parsers take, each as the body of a function, over and over.
pub fn corpus() -> String {
    let mut scripts = Vec::new();
    collect(Path::new("/usr"), &mut scripts);
    scripts.retain(|script| haft(script) && brush_words(script));
    scripts.push(AGENT.to_owned());
    let mut corpus = String::new();
    for (number, script) in scripts.iter().cycle().enumerate() {
        corpus.push_str(&format!("script_{number}() {{\n{script}\n}}\n"));
        if corpus.len() > ENOUGH {
            break;
        }
    }
    assert!(haft(&corpus), "the scripts are right together too");
    corpus
}

fn collect(directory: &Path, scripts: &mut Vec<String>) {
    let Ok(entries) = fs::read_dir(directory) else { return };
    let mut paths: Vec<_> = entries.flatten().map(|entry| entry.path()).collect();
    paths.sort();
    for path in paths {
        let Ok(metadata) = fs::symlink_metadata(&path) else { continue };
        if metadata.is_dir() {
            collect(&path, scripts);
        } else if metadata.is_file() && metadata.len() < 200_000 {
            scripts.extend(script(&path));
        }
    }
}

/// The file, if it is a script. What does not end in a newline may end in something that a newline would change.
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
