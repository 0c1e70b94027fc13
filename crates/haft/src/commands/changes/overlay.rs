//! Overlays for scripts and agents: which directories, and what becomes of the changes afterwards.

use std::ffi::OsString;
use std::io::IsTerminal as _;
use std::path::{Path, PathBuf};

use clap::Args;
use haft_overlay::{Change, OnConflict, Overlay, Selection};
use haft_process::{DiskMeter, reason};

use super::report::{self, RunOverlayReport};
use super::{ask, prune_expired, repair, report_commit, store};
use crate::failure::{Failure, print_hint, print_message};
use crate::process_context::ProcessContext;
use crate::units;

const OVERLAY: &str = "Overlay";

/// Options of commands that can work on a copy-on-write view.
#[derive(Args, Clone, Debug, Default)]
pub(crate) struct OverlayOptions {
    /// Work on a copy-on-write view of DIR; the real files stay as they are until 'haft changes commit'; can be repeated
    /// [default: the git repository, else the working directory]
    #[arg(
        long,
        value_name = "DIR",
        num_args = 0..=1,
        require_equals = true,
        default_missing_value = "",
        help_heading = OVERLAY
    )]
    pub(crate) overlay: Vec<OsString>,
    /// Give the overlay a name
    #[arg(long, alias = "name", value_name = "NAME", requires = "overlay", help_heading = OVERLAY)]
    pub(crate) overlay_name: Option<String>,
    /// Space of the changed files; when it is exceeded, everything ends, and the changes stay in the overlay
    #[arg(long, value_name = "SIZE", value_parser = units::size, help_heading = OVERLAY)]
    pub(crate) limit_disk: Option<u64>,
}

/// A limit on the space of an overlay.
#[derive(Clone, Debug)]
pub(crate) struct DiskLimit {
    pub(crate) bytes: u64,
    pub(crate) meter: DiskMeter,
}

impl OverlayOptions {
    /// Whether an overlay is wanted.
    pub(crate) fn is_wanted(&self) -> bool {
        !self.overlay.is_empty()
    }

    /// These, and where they say nothing the others.
    pub(crate) fn or(self, others: OverlayOptions) -> OverlayOptions {
        let overlay = if self.is_wanted() { self.overlay } else { others.overlay };
        OverlayOptions {
            overlay,
            overlay_name: self.overlay_name.or(others.overlay_name),
            limit_disk: self.limit_disk.or(others.limit_disk),
        }
    }

    /// Watches the overlay in threads. Returns the limit on its space, and what it is compared with. Called after signals are
    /// handled, because threads inherit which signals are blocked.
    ///
    /// # Errors
    /// If there is a limit but no overlay, or it cannot be measured.
    pub(crate) fn watch(&self, mut overlay: Option<&mut Overlay>) -> Result<Option<DiskLimit>, Failure> {
        if let Some(overlay) = &mut overlay {
            overlay.watch();
        }
        match (self.limit_disk, overlay) {
            (None, _) => Ok(None),
            (Some(bytes), Some(overlay)) => Ok(Some(DiskLimit { bytes, meter: overlay.meter()? })),
            (Some(_), None) => Err(Failure::usage("'--limit-disk' limits the changed files of an overlay")
                .with_hint("add '--overlay'")),
        }
    }

    /// Creates the overlay, if one is wanted, and moves this process into it. There must be no other thread yet.
    ///
    /// # Errors
    /// If a directory cannot be overlaid.
    pub(crate) fn enter(
        &self,
        process: &ProcessContext,
        cwd: Option<&Path>,
    ) -> Result<Option<Overlay>, Failure> {
        match self.is_wanted() {
            true => self.enter_always(process, cwd).map(Some),
            false => Ok(None),
        }
    }

    /// Creates an overlay of the wanted directories, or of the default one, and moves this process into it. There must be no
    /// other thread yet.
    ///
    /// # Errors
    /// If a directory cannot be overlaid.
    pub(crate) fn enter_always(
        &self,
        process: &ProcessContext,
        cwd: Option<&Path>,
    ) -> Result<Overlay, Failure> {
        let mut overlay = self.create(process, cwd)?;
        let directory = process.working_directory.as_deref().unwrap_or(Path::new("/"));
        if let Err(error) = overlay.namespaces()?.enter(directory) {
            overlay.discard()?;
            return Err(Failure::new(format_args!("cannot enter the overlay: {}", reason(&error)), 1));
        }
        Ok(overlay)
    }

    /// Creates an overlay of the wanted directories, or of the default one.
    ///
    /// # Errors
    /// If a directory cannot be overlaid.
    pub(crate) fn create(&self, process: &ProcessContext, cwd: Option<&Path>) -> Result<Overlay, Failure> {
        let base = process.working_directory.clone().unwrap_or_else(|| PathBuf::from("/"));
        let base = cwd.map_or(base.clone(), |cwd| base.join(cwd));
        let mut trees = Vec::new();
        for wanted in &self.overlay {
            // The directory is the same for 'always', which says that the agent of a server has no choice.
            trees.push(match wanted.is_empty() || wanted == "always" {
                true => default_tree(&base, process)?,
                false => base.join(wanted),
            });
        }
        if trees.is_empty() {
            trees.push(default_tree(&base, process)?);
        }
        let store = store(process);
        repair(&store);
        prune_expired(&store);
        let overlay = store.create(&trees, self.overlay_name.as_deref())?;
        warn_of_mounts(&overlay);
        Ok(overlay)
    }
}

fn default_tree(base: &Path, process: &ProcessContext) -> Result<PathBuf, Failure> {
    let home = process.variable("HOME").map(Path::new);
    haft_overlay::default_tree(base, home).map_err(|error| match &error {
        haft_overlay::Error::TooBroad(tree) => Failure::usage(&error)
            .with_hint(format_args!("change to a project, or type '--overlay={}'", tree.display())),
        _ => error.into(),
    })
}

/// Names file systems that are mounted in a tree, because the overlay does not show them.
fn warn_of_mounts(overlay: &Overlay) {
    let Ok(mounts) = std::fs::read_to_string("/proc/self/mounts") else { return };
    for tree in overlay.trees() {
        let inner = mounts.lines().filter_map(|line| line.split(' ').nth(1)).map(Path::new);
        for mount in inner.filter(|mount| mount.starts_with(tree) && *mount != tree) {
            print_message(format_args!("'{}' is a mount point and empty in the overlay", mount.display()));
        }
    }
}

/// The fate of an overlay at the end of a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum AtEnd {
    /// Shows a summary and asks what to do, on a terminal.
    Ask,
    /// Reports the overlay in the JSON result.
    Report,
    /// Shows the patch and throws the changes away.
    ShowAndDiscard,
}

/// Ends the use of an overlay. Returns what the JSON result says about it.
///
/// # Errors
/// If the changes cannot be read, committed or discarded.
pub(crate) fn finish(
    overlay: Overlay,
    at_end: AtEnd,
    process: &ProcessContext,
) -> Result<RunOverlayReport, Failure> {
    let changes = overlay.changes()?;
    let discards = at_end == AtEnd::ShowAndDiscard || changes.is_empty();
    let result = RunOverlayReport::new(&overlay, &changes, discards);
    match at_end {
        AtEnd::Report if discards => overlay.discard()?,
        AtEnd::Report => {}
        AtEnd::ShowAndDiscard => {
            let mut patch = Vec::new();
            overlay.write_diff(&changes, &mut patch)?;
            let is_terminal = std::io::stderr().is_terminal();
            let shown = if is_terminal { report::colored(&patch) } else { patch };
            crate::failure::print_stderr(&String::from_utf8_lossy(&shown));
            print_message(format_args!("dry run: {}; nothing was kept", report::summary_line(&changes)));
            overlay.discard()?;
        }
        AtEnd::Ask => decide(overlay, &changes, process)?,
    }
    Ok(result)
}

/// Shows a summary, and asks on a terminal what to do.
///
/// # Errors
/// If the changes cannot be read, committed or discarded.
pub(crate) fn conclude(overlay: Overlay, process: &ProcessContext) -> Result<(), Failure> {
    finish(overlay, AtEnd::Ask, process).map(drop)
}

fn decide(mut overlay: Overlay, changes: &[Change], process: &ProcessContext) -> Result<(), Failure> {
    if changes.is_empty() {
        print_message("the overlay has no changes");
        return Ok(overlay.discard()?);
    }
    let id = overlay.id().to_owned();
    print_message(format_args!("overlay '{id}': {}", report::summary_line(changes)));
    let is_terminal = process.open[0] && std::io::stdin().is_terminal() && std::io::stderr().is_terminal();
    loop {
        let answer = if is_terminal { ask("Keep the changes? [y]es, [n]o, [d]iff, [l]ater:") } else { None };
        match answer {
            Some('y') => {
                let count = overlay.commit(&Selection::all(), OnConflict::Refuse)?;
                report_commit(&overlay, count, false);
                return Ok(());
            }
            Some('n') => {
                overlay.discard()?;
                print_message("the changes were thrown away");
                return Ok(());
            }
            Some('d') => {
                let mut patch = Vec::new();
                overlay.write_diff(changes, &mut patch)?;
                crate::failure::print_stderr(&String::from_utf8_lossy(&report::colored(&patch)));
            }
            Some('l') | None => {
                print_hint(format_args!(
                    "'haft changes show {id}', 'commit {id}' or 'discard {id}' go on from here"
                ));
                return Ok(());
            }
            Some(_) => {}
        }
    }
}
