//! `haft trust`: allow a project's tools and configuration to run.
//!
//! The files are listed before they are trusted. Only a user at a terminal is asked.

pub(crate) mod candidate;
mod diff;
pub(crate) mod show;
mod view;

use std::io::{BufRead as _, Write as _};
use std::path::{Path, PathBuf};

use clap::Args;
use haft_config::trust::TrustStore;
use haft_process::Environment;

use self::candidate::{TrustCandidate, TrustCandidates, TrustCollector};
use crate::failure::Failure;
use crate::places;
use crate::process_context::ProcessContext;

const EXAMPLES: &str = "Examples:
  haft trust                 # show the project's files, or what changed in them, then ask
  haft trust --list          # everything that is trusted
  haft trust --revoke        # trust nothing of this project any more

Trust covers the content of each file and ends when it changes.";

#[derive(Args, Debug)]
#[command(after_help = EXAMPLES)]
pub(crate) struct TrustArguments {
    /// Files, or directories with everything below them [default: the project's '.haft']
    #[arg(value_name = "PATH")]
    pub(crate) paths: Vec<PathBuf>,
    /// List everything that is trusted
    #[arg(long, conflicts_with_all = ["revoke", "paths"], help_heading = ACTION)]
    pub(crate) list: bool,
    /// Revoke trust
    #[arg(long, help_heading = ACTION)]
    pub(crate) revoke: bool,
    /// Read files below these directories even if other users own or can write them; with --revoke, no longer
    #[arg(long, requires = "paths", conflicts_with_all = ["yes", "list"], help_heading = ACTION)]
    pub(crate) owner: bool,
    /// Trust without asking
    #[arg(long, conflicts_with_all = ["revoke", "list"], help_heading = ACTION)]
    pub(crate) yes: bool,
    /// Print one JSON object; without --yes it only lists what would be trusted
    #[arg(long, help_heading = ACTION)]
    pub(crate) json: bool,
}

const ACTION: &str = "Options";

/// Trusts, lists or revokes.
pub(crate) fn run(arguments: &TrustArguments, process: &ProcessContext) -> Result<i32, Failure> {
    let trust = TrustStore::open(places::unchecked(process).state.as_deref());
    if arguments.list {
        return Ok(show::list(&trust.list()?, &trust.allowed_owners()?, arguments.json));
    }
    if arguments.owner {
        return owner(arguments, &trust);
    }
    let wanted = wanted(arguments, process)?;
    if arguments.revoke {
        let mut revoked = Vec::new();
        for path in &wanted {
            revoked.extend(trust.revoke(path)?);
        }
        return Ok(show::revoked(&revoked, &wanted, arguments.json));
    }
    grant(arguments, &trust, &wanted, &process.environment)
}

/// The paths to trust: those given, or the project of the working directory.
fn wanted(arguments: &TrustArguments, process: &ProcessContext) -> Result<Vec<PathBuf>, Failure> {
    let paths = &arguments.paths;
    if paths.is_empty() {
        let project = places::find(process).project;
        let missing = || Failure {
            message: "no project here: no '.haft' directory in the working directory or above it".to_owned(),
            hint: Some("name the files to trust: `haft trust PATH…`".to_owned()),
            status: 1,
        };
        return Ok(vec![project.ok_or_else(missing)?]);
    }
    Ok(paths.iter().map(|path| project_in(path)).collect())
}

/// The project directory in a directory, or the path itself.
fn project_in(path: &Path) -> PathBuf {
    let project = path.join(haft_config::PROJECT_DIRECTORY);
    if project.is_dir() { project } else { path.to_path_buf() }
}

/// Allows or forbids files of other owners below directories.
fn owner(arguments: &TrustArguments, trust: &TrustStore) -> Result<i32, Failure> {
    let mut changed = Vec::new();
    for path in &arguments.paths {
        if arguments.revoke {
            changed.extend(trust.revoke_owner(path)?);
        } else {
            changed.push(trust.allow_owner(path)?);
        }
    }
    Ok(show::owners(&changed, arguments))
}

/// Lists the files of a project and asks the user. Returns whether they are trusted now.
pub(crate) fn ask_about(
    project: &Path,
    trust: &TrustStore,
    environment: &Environment,
) -> Result<bool, Failure> {
    let found = TrustCollector::collect(project, trust, TrustCandidates::default())?;
    let open: Vec<&TrustCandidate> = found.open();
    show::candidates(&found, open.len());
    let agreed = !open.is_empty() && ask(&open, trust, environment)?;
    if agreed {
        remember(&open, trust)?;
    }
    Ok(agreed)
}

/// Lists the files, asks, and trusts them.
fn grant(
    arguments: &TrustArguments,
    trust: &TrustStore,
    wanted: &[PathBuf],
    environment: &Environment,
) -> Result<i32, Failure> {
    trust.list()?;
    let mut found = TrustCandidates::default();
    for path in wanted {
        found = TrustCollector::collect(path, trust, found)?;
    }
    let open: Vec<&TrustCandidate> = found.open();
    if !arguments.json {
        show::candidates(&found, open.len());
    }
    let agreed = !open.is_empty() && (arguments.yes || (!arguments.json && ask(&open, trust, environment)?));
    if agreed {
        remember(&open, trust)?;
    }
    let trusted = agreed || open.is_empty();
    if arguments.json {
        return Ok(show::grant(&found, trusted));
    }
    Ok(i32::from(!trusted))
}

/// Trusts the files, and keeps their content, so that a later change can be shown.
fn remember(open: &[&TrustCandidate], trust: &TrustStore) -> Result<(), Failure> {
    trust.trust(open.iter().map(|candidate| (candidate.path.as_path(), candidate.hash.clone())))?;
    open.iter().filter_map(|candidate| view::read(candidate).ok()).for_each(|text| trust.keep_content(&text));
    Ok(())
}

/// Whether a user can be asked.
pub(crate) fn on_terminal() -> bool {
    use rustix::stdio::{stderr, stdin};
    use rustix::termios::isatty;
    isatty(stdin()) && isatty(stderr())
}

/// Asks a question at the terminal.
///
/// # Errors
/// Fails if there is no terminal: says that nothing was done, and which option does it without asking.
pub(crate) fn confirm(question: &str, nothing_done: &str, hint: &str) -> Result<bool, Failure> {
    if !on_terminal() {
        let message = format!("{nothing_done}: no terminal to ask at");
        return Err(Failure { message, hint: Some(hint.to_owned()), status: 1 });
    }
    let mut stderr = std::io::stderr();
    let _ = write!(stderr, "{question} [y/N] ");
    let _ = stderr.flush();
    let mut answer = String::new();
    let _ = std::io::stdin().lock().read_line(&mut answer);
    Ok(matches!(answer.trim(), "y" | "Y" | "yes"))
}

/// Shows the files to the user at the terminal, and asks.
fn ask(open: &[&TrustCandidate], trust: &TrustStore, environment: &Environment) -> Result<bool, Failure> {
    if !on_terminal() {
        return Err(Failure {
            message: "nothing was trusted: no terminal to ask at".to_owned(),
            hint: Some(
                "run `haft trust` in a terminal, or `haft trust --yes` if you know the files".to_owned(),
            ),
            status: 1,
        });
    }
    let files = if open.len() == 1 { "this file".to_owned() } else { format!("these {} files", open.len()) };
    let mut stderr = std::io::stderr();
    let content = view::content(open, trust);
    view::page(&content, environment);
    loop {
        let _ = write!(stderr, "trust {files}? [y/N/v to view again] ");
        let _ = stderr.flush();
        let mut answer = String::new();
        let _ = std::io::stdin().lock().read_line(&mut answer);
        match answer.trim() {
            "y" | "Y" | "yes" => return Ok(true),
            "v" | "V" | "view" => view::page(&content, environment),
            _ => return Ok(false),
        }
    }
}
