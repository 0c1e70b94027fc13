//! `haft trust`: what of a project may run.
//!
//! What would be trusted is shown before it is, and only a person at a terminal is asked.

mod candidate;
mod show;

use std::io::{BufRead as _, Write as _};
use std::path::{Path, PathBuf};

use haft_config::trust::{Standing, Trust};

use self::candidate::Candidate;
use crate::arguments;
use crate::failure::Failure;
use crate::places;
use crate::surroundings::Surroundings;

/// Shows, asks and trusts; or lists, or revokes.
pub(crate) fn run(arguments: &arguments::Trust, surroundings: &Surroundings) -> Result<i32, Failure> {
    let places = places::find(surroundings);
    let trust = Trust::open(places.state.as_deref());
    if arguments.list {
        return Ok(show::list(&trust.list()?, arguments.json));
    }
    let wanted = wanted(&arguments.paths, places.project)?;
    if arguments.revoke {
        let mut revoked = Vec::new();
        for path in &wanted {
            revoked.extend(trust.revoke(path)?);
        }
        return Ok(show::revoked(&revoked, arguments.json));
    }
    grant(arguments, &trust, &wanted)
}

/// What is asked for: the paths given, or the project of the working directory.
fn wanted(paths: &[PathBuf], project: Option<PathBuf>) -> Result<Vec<PathBuf>, Failure> {
    if paths.is_empty() {
        let missing = || Failure {
            message: "there is no project here: no directory '.haft' at or above the working directory"
                .to_owned(),
            hint: Some("name the files to be trusted: `haft trust PATH…`".to_owned()),
            status: 1,
        };
        return Ok(vec![project.ok_or_else(missing)?]);
    }
    Ok(paths.iter().map(|path| project_in(path)).collect())
}

/// A directory with a project stands for the project.
fn project_in(path: &Path) -> PathBuf {
    let project = path.join(haft_config::PROJECT_DIRECTORY);
    if project.is_dir() { project } else { path.to_path_buf() }
}

/// Shows what would be trusted, asks, and trusts it.
fn grant(arguments: &arguments::Trust, trust: &Trust, wanted: &[PathBuf]) -> Result<i32, Failure> {
    trust.list()?;
    let mut candidates = Vec::new();
    for path in wanted {
        candidate::collect(path, trust, &mut candidates)?;
    }
    let open: Vec<&Candidate> =
        candidates.iter().filter(|candidate| candidate.standing != Standing::Trusted).collect();
    if !arguments.json {
        show::candidates(&candidates, open.len());
    }
    let agreed = !open.is_empty() && (arguments.yes || (!arguments.json && ask(open.len())?));
    if agreed {
        trust.trust(open.iter().map(|candidate| (candidate.path.as_path(), candidate.hash.clone())))?;
    }
    let trusted = agreed || open.is_empty();
    if arguments.json {
        return Ok(show::grant(&candidates, trusted));
    }
    Ok(i32::from(!trusted))
}

/// Asks the person at the terminal.
fn ask(count: usize) -> Result<bool, Failure> {
    if !rustix::termios::isatty(rustix::stdio::stdin()) || !rustix::termios::isatty(rustix::stdio::stderr()) {
        return Err(Failure {
            message: "nothing was trusted: there is no terminal to ask at".to_owned(),
            hint: Some(
                "run `haft trust` in a terminal, or say `haft trust --yes` if you know the files".to_owned(),
            ),
            status: 1,
        });
    }
    let files = if count == 1 { "this file".to_owned() } else { format!("these {count} files") };
    let mut stderr = std::io::stderr();
    let _ = write!(stderr, "trust {files}? [y/N] ");
    let _ = stderr.flush();
    let mut answer = String::new();
    let _ = std::io::stdin().lock().read_line(&mut answer);
    Ok(matches!(answer.trim(), "y" | "Y" | "yes"))
}
