//! What `haft trust` prints.

use haft_config::trust::{Entry, Standing};
use serde::Serialize;

use super::candidate::Candidate;
use crate::commands::output::{print_json, print_text};

/// Everything that is trusted.
pub(super) fn list(entries: &[Entry], json: bool) -> i32 {
    #[derive(Serialize)]
    struct Report<'a> {
        trusted: &'a [Entry],
    }
    if json { print_json(&Report { trusted: entries }, 0) } else { print_text(&lines(entries), 0) }
}

/// What is no longer trusted.
pub(super) fn revoked(entries: &[Entry], json: bool) -> i32 {
    #[derive(Serialize)]
    struct Report<'a> {
        revoked: &'a [Entry],
    }
    if json {
        return print_json(&Report { revoked: entries }, 0);
    }
    print_text(&lines(entries), 0)
}

fn lines(entries: &[Entry]) -> String {
    entries.iter().map(|entry| format!("{}  {}\n", entry.hash.short(), entry.path.display())).collect()
}

/// What would be trusted, for a person to look at.
pub(super) fn candidates(candidates: &[Candidate], open: usize) {
    let mut text: String = candidates
        .iter()
        .map(|candidate| {
            let standing = match candidate.standing {
                Standing::New => "new",
                Standing::Changed => "CHANGED",
                Standing::Trusted => "trusted",
            };
            let (kind, hash) = (candidate.kind.as_str(), candidate.hash.short());
            format!("{standing:8} {kind:13} {hash}  {:>8}  {}\n", candidate.size, candidate.path.display())
        })
        .collect();
    if open == 0 {
        text.push_str("there is nothing left to trust\n");
    }
    crate::failure::write(&text);
}

/// What was asked for, and whether it is trusted now.
pub(super) fn grant(candidates: &[Candidate], trusted: bool) -> i32 {
    #[derive(Serialize)]
    struct Report<'a> {
        trusted: bool,
        files: &'a [Candidate],
    }
    print_json(&Report { trusted, files: candidates }, i32::from(!trusted))
}
