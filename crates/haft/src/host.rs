//! The process layer, set up for a program that owns its process.

use std::path::PathBuf;

use haft_process::{CancelToken, Command, Host, Signals, clean_stale, ignore_signal, on_signals};

use crate::failure::Failure;
use crate::surroundings::Surroundings;

/// Cleans up after crashed runs and sets up a host of our own.
pub(crate) fn set_up(surroundings: &Surroundings) -> Host {
    let base = run_base(surroundings);
    let _ = clean_stale(&base);
    // What is written to a process that has gone is lost, and that is all there is to it.
    ignore_signal(Signals::PIPE, true);
    Host::builder().run_directory(base).cgroups().subreaper().watcher(watcher()).build()
}

/// Where the directories of runs are: private to the user, on a disk rather than in memory.
fn run_base(surroundings: &Surroundings) -> PathBuf {
    let temporary = surroundings.variable("TMPDIR").map_or_else(|| PathBuf::from("/tmp"), PathBuf::from);
    temporary.join(format!("haft-{}", rustix::process::getuid().as_raw()))
}

/// Ourselves, as the watcher.
fn watcher() -> Command {
    let mut command = Command::new("/proc/self/exe");
    command.argument("__watch");
    command
}

/// A token that is cancelled when haft is asked to end: by Ctrl-C, a closed terminal, or `kill`.
pub(crate) fn cancelled_by_signals(surroundings: &Surroundings) -> Result<CancelToken, Failure> {
    let token = CancelToken::new()?;
    let wanted = [Signals::INTERRUPT, Signals::HANGUP, Signals::TERMINATE, Signals::QUIT];
    let heard = wanted.into_iter().filter(|&signal| !surroundings.ignored.contains(signal));
    let cancel = token.clone();
    on_signals(heard.fold(Signals::none(), Signals::with), move |_| cancel.cancel())?;
    Ok(token)
}
