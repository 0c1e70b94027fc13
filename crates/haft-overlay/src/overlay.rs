//! One overlay: what changed in it, and what becomes of the changes.

use std::ffi::OsStr;
use std::fs::File;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use haft_process::Namespaces;
use rustix::fs::FlockOperation;
use schemars::JsonSchema;
use serde::Serialize;

use crate::changes::{self, Change};
use crate::conflict::{Conflict, ConflictKind};
use crate::copy::{remove_tree, tree_size};
use crate::engine::{Engine, TreeFolders, kept_name};
use crate::error::Error;
use crate::node::Folder;
use crate::record::{
    CommitRecord, Direction, Journal, OverlayLevel, Phase, Record, TreeRecord, read_json, write_json,
};
use crate::selection::Selection;
use crate::store::{mounts, seconds_now};
use crate::swap::{self, Action, Planner, Step};

pub(crate) const RECORD: &str = "record.json";
pub(crate) const JOURNAL: &str = "journal.json";

/// A copy-on-write view of directories.
///
/// Programs that run in its [namespaces](Overlay::namespaces) see and change the directories as usual, but their changes go
/// to the overlay. Afterwards they can be [listed](Overlay::changes), [committed](Overlay::commit) to the real directories
/// or [discarded](Overlay::discard); a commit can be [taken back](Overlay::undo).
///
/// An overlay works on directories that it opened before, so it can be used by a process that has entered it.
#[derive(Debug)]
pub struct Overlay {
    directory: PathBuf,
    record: Record,
    trees: Vec<TreeFolders>,
    namespaces: Option<Arc<Namespaces>>,
    /// Held while this process uses the overlay.
    lock: File,
}

/// The state of an overlay.
#[derive(Clone, Copy, Debug, JsonSchema, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum OverlayState {
    /// It may contain changes.
    Open,
    /// All changes were committed; the last commit can be taken back.
    Committed,
}

impl Record {
    fn state(&self) -> OverlayState {
        if self.is_committed { OverlayState::Committed } else { OverlayState::Open }
    }
}

/// An overlay in a list.
#[derive(Clone, Debug, JsonSchema, Serialize)]
pub struct OverlaySummary {
    /// The id.
    pub id: String,
    /// The name that the user gave it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// Its state.
    pub state: OverlayState,
    /// When it was created, in seconds since the epoch.
    pub created: u64,
    /// The directories.
    pub trees: Vec<PathBuf>,
    /// How it is separated from the machine.
    pub level: OverlayLevel,
    /// How many commits can be taken back.
    pub commits: usize,
    /// Size of the changes and of the previous versions of committed files.
    pub bytes: u64,
}

impl OverlaySummary {
    pub(crate) fn new(directory: &Path, record: &Record) -> OverlaySummary {
        let size = Folder::open_absolute(directory).and_then(|folder| tree_size(&folder, OsStr::new("")));
        OverlaySummary {
            id: record.id.clone(),
            name: record.name.clone(),
            state: record.state(),
            created: record.created,
            trees: record.trees.iter().map(|tree| tree.path.clone()).collect(),
            level: record.level,
            commits: record.commits.len(),
            bytes: size.unwrap_or(0),
        }
    }
}

/// How a commit or undo treats files that changed outside of the overlay.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum OnConflict {
    /// Nothing is changed, and the conflicts are reported.
    #[default]
    Refuse,
    /// They are overwritten. An undo can bring them back.
    Overwrite,
}

impl Overlay {
    /// Opens an overlay for use by this process.
    pub(crate) fn open(directory: PathBuf, id: &str) -> Result<Overlay, Error> {
        let lock = lock(&directory, id)?;
        // Another process may have changed the record before it released the lock.
        let record = read_json(&directory.join(RECORD))?.ok_or_else(|| Error::Unknown(id.to_owned()))?;
        let trees = open_trees(&record)?;
        Ok(Overlay { directory, record, trees, namespaces: None, lock })
    }

    pub(crate) fn opened(
        directory: PathBuf,
        record: Record,
        namespaces: Namespaces,
    ) -> Result<Overlay, Error> {
        let lock = lock(&directory, &record.id)?;
        let trees = open_trees(&record)?;
        let mut overlay = Overlay { directory, record, trees, namespaces: None, lock };
        overlay.namespaces = Some(overlay.guard(namespaces)?);
        Ok(overlay)
    }

    /// The id.
    pub fn id(&self) -> &str {
        &self.record.id
    }

    /// How the overlay is separated from the machine.
    pub fn level(&self) -> OverlayLevel {
        self.record.level
    }

    /// Its state.
    pub fn state(&self) -> OverlayState {
        self.record.state()
    }

    /// The directories.
    pub fn trees(&self) -> impl Iterator<Item = &Path> {
        self.record.trees.iter().map(|tree| tree.path.as_path())
    }

    /// The overlay as it appears in a list.
    pub fn summary(&self) -> OverlaySummary {
        OverlaySummary::new(&self.directory, &self.record)
    }

    /// The namespaces in which programs see the overlay. They are created when they are first needed.
    ///
    /// # Errors
    /// If the overlay was committed, or the system does not allow namespaces.
    pub fn namespaces(&mut self) -> Result<Arc<Namespaces>, Error> {
        if self.record.is_committed {
            return Err(self.state_error("is already committed"));
        }
        let namespaces = match self.namespaces.take() {
            Some(namespaces) => namespaces,
            None => self.guard(Namespaces::with_overlays(&mounts(&self.record))?)?,
        };
        Ok(self.namespaces.insert(namespaces).clone())
    }

    /// Namespaces that keep the overlay locked, also without this value.
    fn guard(&self, namespaces: Namespaces) -> Result<Arc<Namespaces>, Error> {
        let lock = self.lock.try_clone().map_err(Error::file("lock", &self.directory))?;
        Ok(Arc::new(namespaces.guarded_by(lock.into())))
    }

    /// Whether something else holds the namespaces, such as a session.
    pub fn is_shared(&self) -> bool {
        self.namespaces.as_ref().is_some_and(|namespaces| Arc::strong_count(namespaces) > 1)
    }

    /// Drops the namespaces, because a mounted overlay must not see its layers change.
    fn unmount(&mut self) -> Result<(), Error> {
        if self.is_shared() {
            return Err(Error::InUse(self.record.id.clone()));
        }
        self.namespaces = None;
        Ok(())
    }

    /// All changes, in the order of paths. A file that was moved without being changed is one change.
    ///
    /// # Errors
    /// If a directory cannot be read.
    pub fn changes(&self) -> Result<Vec<Change>, Error> {
        let mut found = Vec::new();
        for (tree, record) in self.trees.iter().zip(&self.record.trees) {
            let scanned = changes::scan(&tree.upper, &tree.root, &record.path);
            found.extend(scanned.map_err(Error::file("read the changes of", &record.path))?);
        }
        Ok(self.with_renames(found))
    }

    /// The contents of a regular file before the changes. `None` if there is no such file.
    pub(crate) fn before(&self, path: &Path) -> Option<Vec<u8>> {
        self.contents(path, |tree| &tree.root)
    }

    /// The contents of a changed or added regular file.
    pub(crate) fn after(&self, path: &Path) -> Option<Vec<u8>> {
        self.contents(path, |tree| &tree.upper)
    }

    fn contents(&self, path: &Path, layer: impl Fn(&TreeFolders) -> &Folder) -> Option<Vec<u8>> {
        let (index, relative) = self.relative(path)?;
        let (folder, name) = layer(&self.trees[index]).parent_of(relative).ok()?;
        let mut bytes = Vec::new();
        std::io::Read::read_to_end(&mut folder.read(name).ok()?, &mut bytes).ok()?;
        Some(bytes)
    }

    /// The target of a symbolic link, before or after the changes.
    pub(crate) fn link(&self, path: &Path, is_after: bool) -> Option<std::ffi::OsString> {
        let (index, relative) = self.relative(path)?;
        let tree = &self.trees[index];
        let layer = if is_after { &tree.upper } else { &tree.root };
        let (folder, name) = layer.parent_of(relative).ok()?;
        folder.link_target(name).ok()
    }

    /// The tree that contains an absolute path, and the path relative to it.
    pub(crate) fn relative<'p>(&self, path: &'p Path) -> Option<(usize, &'p Path)> {
        let trees = self.record.trees.iter().enumerate();
        trees.filter_map(|(index, tree)| Some((index, path.strip_prefix(&tree.path).ok()?))).next()
    }

    /// Writes the selected changes to the real directories. Returns how many paths were moved or changed.
    ///
    /// Either all of them are written or none: if a step fails, the others are taken back; if the process is killed, the next
    /// use of the store completes the commit.
    ///
    /// # Errors
    /// If something uses the overlay, such as a session or a command in its namespaces, or a file changed outside of it
    /// meanwhile, or cannot be written.
    pub fn commit(&mut self, selection: &Selection, on_conflict: OnConflict) -> Result<usize, Error> {
        if self.record.is_committed {
            return Err(self.state_error("is already committed"));
        }
        let (steps, conflicts) = self.plan(selection)?;
        if on_conflict == OnConflict::Refuse && !conflicts.is_empty() {
            return Err(Error::Conflicts(conflicts));
        }
        let count = steps.iter().filter(|step| !matches!(step.action, Action::Attributes { .. })).count();
        self.unmount()?;
        let number = self.record.next_commit;
        let mut result = self.record.clone();
        result.next_commit += 1;
        result.is_committed = selection.is_all();
        self.carry_out(Direction::Commit, number, steps, result)?;
        Ok(count)
    }

    fn plan(&self, selection: &Selection) -> Result<(Vec<Step>, Vec<Conflict>), Error> {
        let (mut steps, mut conflicts) = (Vec::new(), Vec::new());
        for (index, (tree, record)) in self.trees.iter().zip(&self.record.trees).enumerate() {
            let mut planner = Planner {
                tree: index,
                root: &record.path,
                selection,
                opened: record.opened,
                steps: Vec::new(),
                conflicts: Vec::new(),
            };
            let planned = planner.plan(&tree.upper, &tree.root);
            planned.map_err(Error::file("read the changes of", &record.path))?;
            steps.append(&mut planner.steps);
            conflicts.append(&mut planner.conflicts);
        }
        for (slot, step) in steps.iter_mut().enumerate() {
            step.slot = slot;
        }
        Ok((steps, conflicts))
    }

    /// Takes the last commit back: the real directories are as before, and the overlay contains the changes again.
    ///
    /// # Errors
    /// If nothing was committed, or a committed file has changed since.
    pub fn undo(&mut self, on_conflict: OnConflict) -> Result<usize, Error> {
        let mut result = self.record.clone();
        let Some(commit) = result.commits.pop() else {
            return Err(self.state_error("has no commit to take back"));
        };
        if on_conflict == OnConflict::Refuse {
            let conflicts = self.changed_since(&commit)?;
            if !conflicts.is_empty() {
                return Err(Error::Conflicts(conflicts));
            }
        }
        self.unmount()?;
        result.is_committed = false;
        let steps = swap::inverse(&commit.steps);
        let count = steps.iter().filter(|step| !matches!(step.action, Action::Attributes { .. })).count();
        self.carry_out(Direction::Undo, commit.number, steps, result)?;
        Ok(count)
    }

    /// Committed paths that are no longer what the commit made of them.
    fn changed_since(&self, commit: &CommitRecord) -> Result<Vec<Conflict>, Error> {
        let mut conflicts = Vec::new();
        for step in &commit.steps {
            let Action::Swap { incoming, moves_in, .. } = &step.action else { continue };
            let record = &self.record.trees[step.tree];
            let path = record.path.join(&step.path);
            let target = self.trees[step.tree].root.parent_of(&step.path);
            let node = match &target {
                Ok((folder, name)) => folder.node(name).map_err(Error::file("read", &path))?,
                Err(_) => None,
            };
            let kind = match (node, incoming.filter(|_| *moves_in)) {
                (None, None) => None,
                (None, Some(_)) => Some(ConflictKind::Removed),
                (Some(node), Some(inode)) if node.inode == inode => {
                    let (folder, name) = target.map_err(Error::file("read", &path))?;
                    let later = changes::has_changed_since(&folder, name, &node, record.opened);
                    later.map_err(Error::file("read", &path))?.then_some(ConflictKind::Changed)
                }
                (Some(_), _) => Some(ConflictKind::Changed),
            };
            conflicts.extend(kind.map(|kind| Conflict { path, kind }));
        }
        Ok(conflicts)
    }

    /// Removes the overlay and all changes that were not committed. A commit cannot be taken back afterwards.
    ///
    /// # Errors
    /// If a file cannot be removed.
    pub fn discard(mut self) -> Result<(), Error> {
        self.unmount()?;
        let name = self.directory.file_name().unwrap_or_default().to_owned();
        let parent = self.directory.parent().unwrap_or(Path::new("/"));
        let removed = Folder::open_absolute(parent).and_then(|parent| {
            // The record goes first: without it the rest is not an overlay.
            let directory = parent.open(Path::new(&name))?;
            remove_tree(&directory, OsStr::new(RECORD))?;
            remove_tree(&parent, &name)
        });
        removed.map_err(Error::file("remove", &self.directory))
    }

    fn carry_out(
        &mut self,
        direction: Direction,
        number: u32,
        steps: Vec<Step>,
        result: Record,
    ) -> Result<(), Error> {
        let mut journal = Journal { direction, number, phase: Phase::Staging, steps, result };
        write_json(&self.directory, JOURNAL, &journal)?;
        let engine = self.engine(&journal)?;
        if let Err(error) = engine.stage(&mut journal.steps) {
            self.roll_back(&engine, &journal)?;
            return Err(self.step_error("stage the changes of", error));
        }
        journal.phase = Phase::Applying;
        write_json(&self.directory, JOURNAL, &journal)?;
        if let Err((step, error)) = engine.apply(&journal.steps) {
            let path = self.record.trees[step.tree].path.join(&step.path);
            self.roll_back(&engine, &journal)?;
            return Err(Error::file("change", &path)(error));
        }
        let result = self.finish(&engine, journal)?;
        drop(engine);
        self.record = result;
        Ok(())
    }

    fn engine(&self, journal: &Journal) -> Result<Engine<'_>, Error> {
        Engine::new(&self.trees, journal.direction, &self.record.id, journal.number)
            .map_err(|error| self.step_error("prepare", error))
    }

    fn roll_back(&self, engine: &Engine<'_>, journal: &Journal) -> Result<(), Error> {
        let reverted = match journal.phase {
            Phase::Staging => Ok(()),
            Phase::Applying | Phase::Settling => engine.revert(&journal.steps),
        };
        let done = reverted.and_then(|()| engine.unstage(&journal.steps));
        done.map_err(|error| self.step_error("take back the changes of", error))?;
        self.remove_journal()
    }

    /// Settles what was applied, and writes the new record.
    fn finish(&self, engine: &Engine<'_>, mut journal: Journal) -> Result<Record, Error> {
        journal.phase = Phase::Settling;
        write_json(&self.directory, JOURNAL, &journal)?;
        engine.settle(&journal.steps).map_err(|error| self.step_error("complete the changes of", error))?;
        let mut record = journal.result;
        if journal.direction == Direction::Commit {
            let commit = CommitRecord { number: journal.number, time: seconds_now(), steps: journal.steps };
            record.commits.push(commit);
        } else {
            for tree in &self.trees {
                let removed = remove_tree(&tree.data, &kept_name(journal.number));
                removed.map_err(|error| self.step_error("complete the changes of", error))?;
            }
        }
        // The moves changed files of the trees, which must not look like changes of others.
        for (tree, folders) in record.trees.iter_mut().zip(&self.trees) {
            tree.opened = touch(&folders.data).map_err(Error::file("write", &tree.data))?;
        }
        write_json(&self.directory, RECORD, &record)?;
        self.remove_journal()?;
        Ok(record)
    }

    /// Completes or rolls back what a crash interrupted.
    pub(crate) fn repair(&mut self) -> Result<(), Error> {
        let Some(journal) = read_json::<Journal>(&self.directory.join(JOURNAL))? else { return Ok(()) };
        let engine = self.engine(&journal)?;
        if journal.phase == Phase::Staging {
            return self.roll_back(&engine, &journal);
        }
        // Once objects are settled, they are no longer where applying looks for them.
        if journal.phase == Phase::Applying
            && let Err((step, error)) = engine.apply(&journal.steps)
        {
            let path = self.record.trees[step.tree].path.join(&step.path);
            return Err(Error::file("change", &path)(error));
        }
        let record = self.finish(&engine, journal)?;
        drop(engine);
        self.record = record;
        Ok(())
    }

    fn remove_journal(&self) -> Result<(), Error> {
        let path = self.directory.join(JOURNAL);
        std::fs::remove_file(&path).map_err(Error::file("remove", &path))
    }

    fn step_error(&self, doing: &'static str, error: std::io::Error) -> Error {
        let path = self.record.trees.first().map(|tree| tree.path.clone()).unwrap_or_default();
        Error::File { doing, path, source: error }
    }

    fn state_error(&self, why: &'static str) -> Error {
        Error::State { id: self.record.id.clone(), why }
    }
}

/// The present time, as the file system of a directory stores it.
fn touch(folder: &Folder) -> std::io::Result<crate::node::FileTime> {
    let name = OsStr::new("now");
    remove_tree(folder, name)?;
    let mode = rustix::fs::Mode::from_raw_mode(0o700);
    rustix::fs::mkdirat(folder, name, mode)?;
    let node = folder.node(name)?.ok_or(std::io::ErrorKind::NotFound)?;
    remove_tree(folder, name)?;
    Ok(node.changed)
}

fn lock(directory: &Path, id: &str) -> Result<File, Error> {
    let path = directory.join("lock");
    let file = File::options().create(true).append(true).open(&path).map_err(Error::file("open", &path))?;
    match rustix::fs::flock(&file, FlockOperation::NonBlockingLockExclusive) {
        Ok(()) => Ok(file),
        Err(rustix::io::Errno::WOULDBLOCK) => Err(Error::InUse(id.to_owned())),
        Err(error) => Err(Error::file("lock", &path)(error)),
    }
}

fn open_trees(record: &Record) -> Result<Vec<TreeFolders>, Error> {
    record.trees.iter().map(open_tree).collect()
}

/// Opens the directories of a tree.
fn open_tree(record: &TreeRecord) -> Result<TreeFolders, Error> {
    let open = |path: &Path| Folder::open_absolute(path).map_err(Error::file("open", path));
    let (root, data) = (open(&record.path)?, open(&record.data)?);
    let (node, data_node) = (
        root.own_node().map_err(Error::file("open", &record.path))?,
        data.own_node().map_err(Error::file("open", &record.data))?,
    );
    if (node.device, node.inode) != (record.device, record.inode) {
        return Err(Error::Unsuitable {
            tree: record.path.clone(),
            why: "it is not the directory that the overlay was opened for".to_owned(),
        });
    }
    let upper = open(&record.data.join("upper"))?;
    Ok(TreeFolders { root, upper, data, same_device: node.device == data_node.device })
}
