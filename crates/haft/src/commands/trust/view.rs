//! Shows the content of files before the user trusts them.

use haft_config::trust::ContentHash;
use haft_config::{FileRules, MAX_PROGRAM_BYTES, printable, printable_text};

use super::candidate::TrustCandidate;

const MAX_SHOWN_BYTES: usize = 64 << 10;

/// Prints the files, with control characters made visible.
pub(super) fn show(open: &[&TrustCandidate]) {
    for candidate in open {
        crate::failure::print_stderr(&format!("--- {}\n{}", printable(&candidate.path), content(candidate)));
    }
}

fn content(candidate: &TrustCandidate) -> String {
    if candidate.size > MAX_PROGRAM_BYTES.min(16 << 20) {
        return "(too large to show)\n".to_owned();
    }
    let bytes = match FileRules::up_to(candidate.size).read(&candidate.path) {
        Ok(bytes) => bytes,
        Err(error) => return format!("({})\n", error.reason()),
    };
    if ContentHash::of(&bytes) != candidate.hash {
        return "(it has changed since it was listed)\n".to_owned();
    }
    if bytes.contains(&0) {
        return "(not text)\n".to_owned();
    }
    let shown = String::from_utf8_lossy(&bytes[..bytes.len().min(MAX_SHOWN_BYTES)]).into_owned();
    let mut text: String = shown.lines().map(line).collect();
    if bytes.len() > MAX_SHOWN_BYTES {
        text.push_str(&format!("… {} more bytes\n", bytes.len() - MAX_SHOWN_BYTES));
    }
    text
}

fn line(text: &str) -> String {
    let parts: Vec<String> = text.split('\t').map(printable_text).collect();
    parts.join("\t") + "\n"
}
