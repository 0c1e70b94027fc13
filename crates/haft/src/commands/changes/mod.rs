//! `haft changes`: look at the changes in overlays, keep them, throw them away, or take them back.

pub(crate) mod arguments;
pub(crate) mod overlay;
pub(crate) mod report;

use std::ffi::OsString;
use std::io::{IsTerminal as _, Write as _};
use std::path::{Path, PathBuf};
use std::time::Duration;

use haft_fs::ByteSize;
use haft_overlay::{OnConflict, Overlay, OverlayStore, Retention, Selection};
use haft_process::{Child, Command, Disposition, ProcessGroup, Signals, StartPermission, set_disposition};

use self::arguments::{ChangesAction, ChangesArguments, CommitArguments, ShowArguments};
use self::report::{ChangesReport, CommittedReport, OverlayListReport, RemovedReport};
use crate::commands::print::{print_bytes, print_json, print_text};
use crate::failure::{Failure, print_message};
use crate::process_context::ProcessContext;
use crate::units::count;
use crate::{host, places};

/// 'haft changes prune' removes overlays that were not used for longer, unless the user says otherwise.
const DEFAULT_AGE: Duration = Duration::from_secs(14 * 24 * 60 * 60);
/// Overlays that are kept without being asked for.
const RETENTION: Retention =
    Retention { age: Some(Duration::from_secs(30 * 24 * 60 * 60)), bytes: Some(20 << 30) };
const SECONDS_PER_DAY: u64 = 24 * 60 * 60;
/// How long a command waits for the removal of files before another process takes it over.
const SWEEP_TIME: Duration = Duration::from_millis(20);

/// Runs an action of `haft changes`.
pub(crate) fn run(arguments: ChangesArguments, process: &ProcessContext) -> Result<i32, Failure> {
    let store = store(process);
    repair(&store);
    match arguments.action {
        None => list(&store, arguments.json),
        Some(ChangesAction::Show(arguments)) => show(&store, &arguments, process),
        Some(ChangesAction::Commit(arguments)) => commit(&store, &arguments, process),
        Some(ChangesAction::Discard { ids, json }) => discard(&store, &ids, json),
        Some(ChangesAction::Undo { id, force, json }) => undo(&store, &id, force, json),
        Some(ChangesAction::Run { id, program }) => run_program(&store, &id, program, process),
        Some(ChangesAction::Prune { older_than, max_size, json }) => {
            prune(&store, older_than, max_size, json)
        }
    }
}

/// The overlays of this user: in the state directory, or near the tree that they cover.
pub(crate) fn store(process: &ProcessContext) -> OverlayStore {
    let directories = places::unchecked(process);
    let near = host::run_bases(process).into_iter().chain(directories.cache);
    let all = directories.state.into_iter().chain(near);
    OverlayStore::new(all.map(|place| place.join("overlays")).collect())
}

/// Completes or rolls back what a killed haft left.
pub(crate) fn repair(store: &OverlayStore) {
    for (id, repaired) in store.repair() {
        match repaired {
            Ok(()) => print_message(format_args!("completed an interrupted commit of overlay '{id}'")),
            Err(error) => {
                print_message(format_args!("cannot complete a commit of overlay '{id}': {error}"));
            }
        }
    }
}

/// Removes overlays that nobody has used for a long time, or the oldest of too many, and says so.
pub(crate) fn prune_expired(store: &OverlayStore) {
    match store.prune_quickly(RETENTION) {
        Ok(removed) => report_expired(&removed),
        Err(error) => print_message(format_args!("cannot remove an old overlay: {error}")),
    }
    sweep(store);
}

fn report_expired(removed: &[String]) {
    let days = RETENTION.age.unwrap_or_default().as_secs() / SECONDS_PER_DAY;
    let size = ByteSize(RETENTION.bytes.unwrap_or_default());
    for id in removed {
        print_message(format_args!(
            "removed overlay '{id}': not used for {days} days, or the oldest of more than {size}"
        ));
    }
}

/// Removes the files of removed overlays. If there are many, a process of its own goes on with that; if it is killed, the next
/// command does.
fn sweep(store: &OverlayStore) {
    if store.sweep_for(SWEEP_TIME) {
        return;
    }
    let work = |_| {
        let _ = rustix::process::setsid();
        store.sweep();
        0
    };
    match Child::fork(ProcessGroup::Inherit, &[], work) {
        Ok(Some(child)) => drop(child.detach()),
        // There are other threads, which a forked process would not have.
        _ => store.sweep(),
    }
}

fn list(store: &OverlayStore, json: bool) -> Result<i32, Failure> {
    let mut overlays = store.list();
    let removed = store.prune_listed(RETENTION, &overlays)?;
    overlays.retain(|overlay| !removed.contains(&overlay.id));
    report_expired(&removed);
    let status = if json {
        print_json(&OverlayListReport { overlays: &overlays, removed: &removed }, 0)
    } else if overlays.is_empty() {
        print_message("no overlays; 'haft run --overlay' creates one");
        0
    } else {
        let status = print_text(&report::overlay_table(&overlays), 0);
        print_message(report::overlay_totals(&overlays, DEFAULT_AGE, RETENTION));
        status
    };
    sweep(store);
    Ok(status)
}

fn show(store: &OverlayStore, arguments: &ShowArguments, process: &ProcessContext) -> Result<i32, Failure> {
    let overlay = store.find(&arguments.id)?;
    let chosen = absolute(&arguments.paths, process);
    let mut changes = overlay.changes()?;
    let summary = arguments.json.then(|| overlay.summary_of(&changes));
    changes.retain(|change| chosen.is_empty() || chosen.iter().any(|path| change.path.starts_with(path)));
    if let Some(summary) = summary {
        return Ok(print_json(&ChangesReport::new(summary, &changes), 0));
    }
    if arguments.diff {
        let mut patch = Vec::new();
        overlay.write_diff(&changes, &mut patch)?;
        let is_terminal = std::io::stdout().is_terminal();
        return Ok(print_bytes(&if is_terminal { report::colored(&patch) } else { patch }, 0));
    }
    if arguments.stat {
        return Ok(print_text(&format!("{}\n", report::summary_line(&changes)), 0));
    }
    let list = overlay.describe(&changes) + &report::summary_line(&changes) + "\n";
    Ok(print_text(&list, 0))
}

fn commit(
    store: &OverlayStore,
    arguments: &CommitArguments,
    process: &ProcessContext,
) -> Result<i32, Failure> {
    let mut overlay = store.find(&arguments.id)?;
    let selection = Selection::new(absolute(&arguments.paths, process), &arguments.except)?;
    let count = overlay.commit(&selection, on_conflict(arguments.force))?;
    Ok(report_commit(&overlay, count, arguments.json))
}

fn report_commit(overlay: &Overlay, paths: usize, json: bool) -> i32 {
    if json {
        return print_json(&CommittedReport { id: overlay.id(), paths }, 0);
    }
    let paths = count(paths, "path");
    let id = overlay.id();
    print_message(format_args!("committed {paths}; 'haft changes undo {id}' takes it back"));
    0
}

fn discard(store: &OverlayStore, ids: &[String], json: bool) -> Result<i32, Failure> {
    let removed: Result<Vec<String>, _> = ids.iter().map(|id| store.set_aside(id)).collect();
    let status = removed.map(|removed| report_removed(&removed, json));
    sweep(store);
    Ok(status?)
}

fn report_removed(ids: &[String], json: bool) -> i32 {
    if json {
        return print_json(&RemovedReport { removed: ids }, 0);
    }
    print_message(format_args!("removed {}", count(ids.len(), "overlay")));
    0
}

fn undo(store: &OverlayStore, id: &str, force: bool, json: bool) -> Result<i32, Failure> {
    let mut overlay = store.find(id)?;
    let paths = overlay.undo(on_conflict(force))?;
    if json {
        return Ok(print_json(&CommittedReport { id: overlay.id(), paths }, 0));
    }
    let id = overlay.id();
    let paths = count(paths, "path");
    print_message(format_args!("took {paths} back; the changes are in overlay '{id}' again"));
    Ok(0)
}

fn prune(
    store: &OverlayStore,
    older_than: Option<Duration>,
    max_size: Option<u64>,
    json: bool,
) -> Result<i32, Failure> {
    let age = older_than.or(max_size.is_none().then_some(DEFAULT_AGE));
    let removed = store.prune(Retention { age, bytes: max_size })?;
    let status = report_removed(&removed, json);
    sweep(store);
    Ok(status)
}

/// Runs a program in an overlay, on the same terminal, and waits for it.
fn run_program(
    store: &OverlayStore,
    id: &str,
    program: Vec<OsString>,
    process: &ProcessContext,
) -> Result<i32, Failure> {
    let mut overlay = store.find(id)?;
    let mut words = program.into_iter();
    let mut command = Command::new(words.next().unwrap_or_default());
    command.arguments(words).environment(process.environment.clone());
    if let Some(directory) = process.working_directory.clone() {
        command.working_directory(directory);
    }
    let status = run_inside(&mut overlay, command, &StartPermission::all())?;
    overlay::conclude(overlay, process)?;
    Ok(status)
}

/// Runs a command in an overlay, as a member of this process group. Keys that send a signal reach both; haft waits.
pub(crate) fn run_inside(
    overlay: &mut Overlay,
    mut command: Command,
    permission: &StartPermission,
) -> Result<i32, Failure> {
    command.group(ProcessGroup::Inherit).namespaces(overlay.namespaces()?);
    for signal in [Signals::INT, Signals::QUIT] {
        let _ = set_disposition(signal, Disposition::Ignore);
    }
    let mut child = command.spawn(permission)?;
    overlay.watch();
    let (exit, _) = child.wait()?;
    for signal in [Signals::INT, Signals::QUIT] {
        let _ = set_disposition(signal, Disposition::Default);
    }
    Ok(exit.code())
}

fn on_conflict(force: bool) -> OnConflict {
    if force { OnConflict::Overwrite } else { OnConflict::Refuse }
}

/// Absolute paths for what the user typed.
fn absolute(paths: &[PathBuf], process: &ProcessContext) -> Vec<PathBuf> {
    let base = process.working_directory.as_deref().unwrap_or(Path::new("/"));
    paths.iter().map(|path| normalize(&base.join(path))).collect()
}

/// Removes `.` and `..` without looking at the files, which may exist only in the overlay.
fn normalize(path: &Path) -> PathBuf {
    let mut clean = PathBuf::new();
    for component in path.components() {
        match component {
            std::path::Component::CurDir => {}
            std::path::Component::ParentDir => {
                clean.pop();
            }
            part => clean.push(part),
        }
    }
    clean
}

/// Asks a question on the terminal. Returns the first letter of the answer, or `None` at the end of input.
fn ask(question: &str) -> Option<char> {
    let mut stderr = std::io::stderr();
    let _ = write!(stderr, "{question} ").and_then(|()| stderr.flush());
    let mut line = String::new();
    match std::io::stdin().read_line(&mut line) {
        Ok(0) | Err(_) => None,
        Ok(_) => Some(line.trim().chars().next().unwrap_or(' ').to_ascii_lowercase()),
    }
}

impl From<haft_overlay::Error> for Failure {
    fn from(error: haft_overlay::Error) -> Failure {
        Failure { message: error.to_string(), hint: error.hint(), status: 1 }
    }
}
