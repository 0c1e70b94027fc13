//! Files shown to the person who is asked about them.

use haft_config::trust::ContentHash;
use haft_config::{FileRules, MAX_PROGRAM_BYTES, printable, printable_text};

use super::candidate::TrustCandidate;

/// So much of a file is shown.
const SHOWN_BYTES: usize = 64 << 10;

/// Shows the files, with everything that a terminal would act on made visible.
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
    let shown = String::from_utf8_lossy(&bytes[..bytes.len().min(SHOWN_BYTES)]).into_owned();
    let mut text: String = shown.lines().map(line).collect();
    if bytes.len() > SHOWN_BYTES {
        text.push_str(&format!("… {} more bytes\n", bytes.len() - SHOWN_BYTES));
    }
    text
}

fn line(text: &str) -> String {
    let parts: Vec<String> = text.split('\t').map(printable_text).collect();
    parts.join("\t") + "\n"
}
