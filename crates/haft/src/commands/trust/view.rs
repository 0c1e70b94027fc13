//! Shows the content of files, or what changed in them, before the user trusts them.

use haft_config::trust::{ContentHash, TrustStatus, TrustStore};
use haft_config::{FileRules, MAX_TEXT_BYTES, printable, printable_text};
use haft_process::{Command, Environment, ProcessGroup, StartPermission};
use rustix::stdio::stderr;

use super::candidate::TrustCandidate;
use super::diff;
use crate::commands::launch::as_file;

const MAX_SHOWN_BYTES: usize = 64 << 10;
/// The rows of a terminal whose size is unknown.
const DEFAULT_ROWS: usize = 24;
/// Options of `less`, unless the user has set some: end if everything fits on the screen, and leave it there.
const LESS_OPTIONS: &str = "FX";

/// The files, with control characters made visible. Of a file that was trusted before, only the changes are shown.
pub(super) fn content(open: &[&TrustCandidate], trust: &TrustStore) -> String {
    open.iter().map(|candidate| one(candidate, trust)).collect()
}

fn one(candidate: &TrustCandidate, trust: &TrustStore) -> String {
    let path = printable(&candidate.path);
    let text = match read(candidate) {
        Ok(bytes) if bytes.contains(&0) => "(not text)\n".to_owned(),
        Ok(bytes) => {
            let old =
                trust.trusted_content(&candidate.path).filter(|_| candidate.standing == TrustStatus::Changed);
            let new = String::from_utf8_lossy(&bytes);
            match old.and_then(|old| diff::unified(&String::from_utf8_lossy(&old), &new)) {
                Some(changes) => {
                    return format!("--- {path} (changed since you trusted it)\n{}", lines(&changes));
                }
                None => beginning(&bytes),
            }
        }
        Err(reason) => format!("({reason})\n"),
    };
    format!("--- {path}\n{text}")
}

/// The content that was listed, or the reason why it cannot be shown.
pub(super) fn read(candidate: &TrustCandidate) -> Result<Vec<u8>, String> {
    if candidate.size > MAX_TEXT_BYTES {
        return Err("too large to show".to_owned());
    }
    let read = FileRules::up_to(candidate.size).read(&candidate.path);
    let bytes = read.map_err(|error| error.reason().to_owned())?;
    match ContentHash::of(&bytes) == candidate.hash {
        true => Ok(bytes),
        false => Err("it has changed since it was listed".to_owned()),
    }
}

fn beginning(bytes: &[u8]) -> String {
    let mut text = lines(&String::from_utf8_lossy(&bytes[..bytes.len().min(MAX_SHOWN_BYTES)]));
    if bytes.len() > MAX_SHOWN_BYTES {
        text.push_str(&format!("… {} more bytes\n", bytes.len() - MAX_SHOWN_BYTES));
    }
    text
}

fn lines(text: &str) -> String {
    let line = |line: &str| line.split('\t').map(printable_text).collect::<Vec<_>>().join("\t") + "\n";
    text.lines().map(line).collect()
}

/// Shows a text on the terminal: with the user's pager if it is longer than the screen.
pub(super) fn page(text: &str, environment: &Environment) {
    let rows = rustix::termios::tcgetwinsize(stderr()).map_or(DEFAULT_ROWS, |size| usize::from(size.ws_row));
    if text.lines().count() < rows.max(2) || !has_paged(text, environment) {
        crate::failure::print_stderr(text);
    }
}

/// Runs the pager. Returns false if there is none.
fn has_paged(text: &str, environment: &Environment) -> bool {
    let pager = environment.get("PAGER").map(|pager| pager.to_string_lossy().into_owned());
    let pager = pager.filter(|pager| !pager.trim().is_empty()).unwrap_or_else(|| "less".to_owned());
    let mut words = pager.split_whitespace();
    let (Some(program), Ok(input)) = (words.next(), as_file(text.as_bytes())) else { return false };
    let mut environment = environment.clone();
    if environment.get("LESS").is_none() {
        let _ = environment.set("LESS", LESS_OPTIONS);
    }
    let mut command = Command::new(program);
    command.arguments(words).environment(environment).group(ProcessGroup::Inherit).descriptor(0, input);
    command.spawn(&StartPermission::all()).and_then(|mut child| child.wait()).is_ok()
}
