//! Prints the results of `haft trust`.

use std::path::PathBuf;

use haft_config::printable;
use haft_config::trust::{TrustEntry, TrustStatus};
use schemars::JsonSchema;
use serde::Serialize;

use super::TrustArguments;
use super::candidate::{SkippedFile, TrustCandidate, TrustCandidates};
use crate::commands::print::{print_json, print_text};
use crate::failure::print_message;

/// Everything that is trusted.
#[derive(JsonSchema, Serialize)]
pub(crate) struct TrustListReport<'a> {
    /// The trusted files.
    trusted: &'a [TrustEntry],
    /// Directories whose files are read regardless of their owner.
    owners: &'a [PathBuf],
}

/// Files that are no longer trusted.
#[derive(JsonSchema, Serialize)]
pub(crate) struct RevokedReport<'a> {
    revoked: &'a [TrustEntry],
}

/// Directories whose files are read regardless of their owner.
#[derive(JsonSchema, Serialize)]
pub(crate) struct OwnersReport<'a> {
    /// Directories that were added.
    #[serde(skip_serializing_if = "<[PathBuf]>::is_empty")]
    owners: &'a [PathBuf],
    /// Directories that were removed.
    #[serde(skip_serializing_if = "<[PathBuf]>::is_empty")]
    revoked: &'a [PathBuf],
}

/// The files that were to be trusted.
#[derive(JsonSchema, Serialize)]
pub(crate) struct TrustReport<'a> {
    /// Whether all of them are trusted now.
    trusted: bool,
    files: &'a [TrustCandidate],
    /// Files that cannot be trusted.
    skipped: &'a [SkippedFile],
}

/// Prints everything that is trusted.
pub(super) fn list(entries: &[TrustEntry], owners: &[PathBuf], json: bool) -> i32 {
    if json {
        return print_json(&TrustListReport { trusted: entries, owners }, 0);
    }
    print_text(&(lines(entries) + &owner_lines(owners)), 0)
}

/// Prints the directories whose owner and mode are no longer checked, or are checked again.
pub(super) fn owners(directories: &[PathBuf], arguments: &TrustArguments) -> i32 {
    if arguments.json {
        let (owners, revoked) =
            if arguments.revoke { (&[][..], directories) } else { (directories, &[][..]) };
        return print_json(&OwnersReport { owners, revoked }, 0);
    }
    print_text(&owner_lines(directories), 0)
}

fn owner_lines(directories: &[PathBuf]) -> String {
    directories.iter().map(|directory| format!("{:12}  {}\n", "any owner", printable(directory))).collect()
}

/// Prints the files that are no longer trusted.
pub(super) fn revoked(entries: &[TrustEntry], wanted: &[PathBuf], json: bool) -> i32 {
    if json {
        return print_json(&RevokedReport { revoked: entries }, 0);
    }
    if entries.is_empty() {
        for path in wanted {
            print_message(format_args!("nothing to revoke: '{}' was not trusted", printable(path)));
        }
    }
    let line = |entry: &TrustEntry| format!("no longer trusted: {}\n", printable(&entry.path));
    print_text(&entries.iter().map(line).collect::<String>(), 0)
}

fn lines(entries: &[TrustEntry]) -> String {
    entries.iter().map(|entry| format!("{}  {}\n", entry.hash.short(), printable(&entry.path))).collect()
}

/// Lists the files to trust on standard error.
pub(super) fn candidates(found: &TrustCandidates, open: usize) {
    let mut text: String = found
        .candidates
        .iter()
        .map(|candidate| {
            let standing = match candidate.standing {
                TrustStatus::New => "new",
                TrustStatus::Changed => "CHANGED",
                TrustStatus::Trusted => "trusted",
            };
            let (kind, hash) = (candidate.kind.as_str(), candidate.hash.short());
            let changed = match candidate.standing {
                TrustStatus::Changed => "  (changed since you trusted it)",
                TrustStatus::New | TrustStatus::Trusted => "",
            };
            let path = printable(&candidate.path);
            format!("{standing:8} {kind:13} {hash}  {:>8}  {path}{changed}\n", candidate.size)
        })
        .collect();
    for skipped in &found.skipped {
        text.push_str(&format!("skipped  {}: {}\n", printable(&skipped.path), skipped.reason));
    }
    if open == 0 {
        text.push_str("nothing left to trust\n");
    }
    crate::failure::print_stderr(&text);
}

/// Prints the files and whether they are trusted now as JSON.
pub(super) fn grant(found: &TrustCandidates, trusted: bool) -> i32 {
    let report = TrustReport { trusted, files: &found.candidates, skipped: &found.skipped };
    print_json(&report, i32::from(!trusted))
}
