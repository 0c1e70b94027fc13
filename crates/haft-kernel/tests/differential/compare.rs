//! A readable report of the difference between two results.

use std::fmt::Write as _;

use crate::case::Case;
use crate::outcome::Outcome;
use crate::snapshot::{Kind, Tree};

/// How many bytes of a line are shown.
const MAX_SHOWN_LINE_BYTES: usize = 200;

/// How many lines of a stream are shown.
const MAX_SHOWN_LINES: usize = 40;

/// Reports the difference between the results of bash and haft, or `None` if they are equal.
pub(crate) fn difference(case: &Case, bash: &Outcome, haft: &Outcome) -> Option<String> {
    let mut text = String::new();
    if bash.status != haft.status || bash.status.parse::<i32>().is_err() {
        let _ = writeln!(text, "status: bash {}, haft {}", bash.status, haft.status);
    }
    if bash.stdout != haft.stdout {
        let _ = write!(text, "stdout:\n{}", lines(&bash.stdout, &haft.stdout));
    }
    if case.words && bash.stderr != haft.stderr {
        let _ = write!(text, "stderr:\n{}", lines(&bash.stderr, &haft.stderr));
    } else if bash.stderr.is_empty() != haft.stderr.is_empty() {
        let _ = writeln!(text, "stderr: one of them is empty");
    }
    text.push_str(&trees(&bash.tree, &haft.tree));
    if text.is_empty() {
        return None;
    }
    let mut report = format!("=== {}\n{}", case.name, case.script);
    let _ = write!(report, "--- difference (-bash +haft)\n{text}");
    for (name, bytes) in [("bash", &bash.stderr), ("haft", &haft.stderr)] {
        for line in bytes.split(|byte| *byte == b'\n').filter(|line| !line.is_empty()).take(5) {
            let _ = writeln!(report, "{name} says: {}", shown(line));
        }
    }
    Some(report)
}

/// Returns the lines of both, without common lines at the start and at the end.
fn lines(bash: &[u8], haft: &[u8]) -> String {
    let split = |bytes: &[u8]| bytes.split_inclusive(|byte| *byte == b'\n').map(shown).collect::<Vec<_>>();
    let (bash, haft) = (split(bash), split(haft));
    let shorter = bash.len().min(haft.len());
    let start = (0..shorter).take_while(|index| bash[*index] == haft[*index]).count();
    let end = (0..shorter - start)
        .take_while(|index| bash[bash.len() - 1 - index] == haft[haft.len() - 1 - index])
        .count();
    let mut text = String::new();
    for (sign, lines) in [('-', &bash), ('+', &haft)] {
        let differing = &lines[start..lines.len() - end];
        for line in differing.iter().take(MAX_SHOWN_LINES) {
            let _ = writeln!(text, "{sign}{}: {line}", start + 1);
        }
        if differing.len() > MAX_SHOWN_LINES {
            let _ = writeln!(text, "{sign} … {} more lines", differing.len() - MAX_SHOWN_LINES);
        }
    }
    text
}

/// Returns a line with control characters escaped.
fn shown(line: &[u8]) -> String {
    let text = line.escape_ascii().to_string().replace("\\\"", "\"").replace("\\'", "'");
    let cut: String = text.chars().take(MAX_SHOWN_LINE_BYTES).collect();
    if cut.len() < text.len() { format!("{cut}… ({} bytes)", line.len()) } else { cut }
}

fn trees(bash: &Tree, haft: &Tree) -> String {
    let mut text = String::new();
    for path in bash.keys().chain(haft.keys().filter(|path| !bash.contains_key(*path))) {
        match (bash.get(path), haft.get(path)) {
            (Some(left), Some(right)) if left.kind != right.kind => {
                let _ =
                    writeln!(text, "'{}' differs:\n{}", path.display(), contents(&left.kind, &right.kind));
            }
            (Some(left), Some(right)) if left.mode != right.mode => {
                let _ =
                    writeln!(text, "'{}': mode: bash {:o}, haft {:o}", path.display(), left.mode, right.mode);
            }
            (Some(_), None) => {
                let _ = writeln!(text, "'{}': only bash leaves it behind", path.display());
            }
            (None, Some(_)) => {
                let _ = writeln!(text, "'{}': only haft leaves it behind", path.display());
            }
            _ => {}
        }
    }
    text
}

fn contents(bash: &Kind, haft: &Kind) -> String {
    match (bash, haft) {
        (Kind::File(left), Kind::File(right)) => lines(left, right),
        _ => format!("-{bash:?}\n+{haft:?}\n"),
    }
}
