//! One overlay: what changed in it, and what becomes of the changes.

use std::ffi::OsStr;
use std::fs::File;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use haft_process::{DiskMeter, Namespaces};
use rustix::fs::FlockOperation;
use schemars::JsonSchema;
use serde::Serialize;

use crate::base::{Base, BaseView};
use crate::changes::{self, Change};
use crate::copy::{remove_tree, tree_size};
use crate::engine::{TreeFolders, kept_name};
use crate::error::Error;
use crate::meter::UpperMeter;
use crate::names::NameReader;
use crate::node::Folder;
use crate::record::{JOURNAL, OverlayLevel, RECORD, Record, TreeRecord, read_json};
use crate::removal::{last_used, remove, rename_aside, write_size};
use crate::store::mounts;

/// A copy-on-write view of directories.
///
/// Programs that run in its [namespaces](Overlay::namespaces) see and change the directories as usual, but their changes go
/// to the overlay. Afterwards they can be [listed](Overlay::changes), [committed](Overlay::commit) to the real directories
/// or [discarded](Overlay::discard); a commit can be [taken back](Overlay::undo).
///
/// An overlay works on directories that it opened before, so it can be used by a process that has entered it.
#[derive(Debug)]
pub struct Overlay {
    pub(crate) directory: PathBuf,
    pub(crate) record: Record,
    pub(crate) trees: Vec<TreeFolders>,
    /// For each tree, while programs run in the overlay.
    names: Vec<Option<NameReader>>,
    meter: Option<UpperMeter>,
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
    /// When it was last used, in seconds since the epoch.
    pub used: u64,
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
        OverlaySummary::with_bytes(directory, record, size.unwrap_or(0))
    }

    fn with_bytes(directory: &Path, record: &Record, bytes: u64) -> OverlaySummary {
        write_size(directory, bytes);
        OverlaySummary {
            id: record.id.clone(),
            name: record.name.clone(),
            state: record.state(),
            created: record.created,
            used: last_used(directory, record),
            trees: record.trees.iter().map(|tree| tree.path.clone()).collect(),
            level: record.level,
            commits: record.commits.len(),
            bytes,
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
        let mut overlay =
            Overlay { directory, record, trees, names: Vec::new(), meter: None, namespaces: None, lock };
        overlay.repair()?;
        Ok(overlay)
    }

    pub(crate) fn opened(
        directory: PathBuf,
        record: Record,
        namespaces: Namespaces,
    ) -> Result<Overlay, Error> {
        let lock = lock(&directory, &record.id)?;
        let trees = open_trees(&record)?;
        let mut overlay =
            Overlay { directory, record, trees, names: Vec::new(), meter: None, namespaces: None, lock };
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

    /// The same, if these are all its changes. This takes less time, because they say how much space they need.
    pub fn summary_of(&self, changes: &[Change]) -> OverlaySummary {
        OverlaySummary::with_bytes(&self.directory, &self.record, self.size_with(changes))
    }

    /// The size of changes, and of the previous versions of committed files.
    fn size_with(&self, changes: &[Change]) -> u64 {
        let changed = changes.iter().filter_map(|change| change.file.after).map(|state| state.size);
        let commits = self.record.commits.iter().map(|commit| kept_name(commit.number));
        let kept = commits.flat_map(|name| self.trees.iter().map(move |tree| tree_size(&tree.data, &name)));
        changed.sum::<u64>() + kept.filter_map(Result::ok).sum::<u64>()
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
            None => {
                self.renew_work()?;
                self.guard(Namespaces::with_overlays(&mounts(&self.record))?)?
            }
        };
        Ok(self.namespaces.insert(namespaces).clone())
    }

    /// Replaces the work directories. A volatile overlayfs refuses one that was used.
    fn renew_work(&self) -> Result<(), Error> {
        let (name, mode) = (OsStr::new("work"), rustix::fs::Mode::from_raw_mode(0o700));
        for (tree, record) in self.trees.iter().zip(&self.record.trees) {
            let renewed =
                remove_tree(&tree.data, name).and_then(|()| Ok(rustix::fs::mkdirat(&tree.data, name, mode)?));
            renewed.map_err(Error::file("create", &record.data.join(name)))?;
        }
        Ok(())
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

    /// Reads the names of the directories in the background, while a program runs in the overlay. Later this tells apart
    /// what the program added and what someone else removed. Starts a thread.
    pub fn watch(&mut self) {
        let start = |(tree, record): (&TreeFolders, &TreeRecord)| {
            NameReader::start(tree.root.open(Path::new("")).ok()?, record.opened)
        };
        self.names = self.trees.iter().zip(&self.record.trees).map(start).collect();
    }

    /// Measures the bytes that the changes occupy on disk, as long as this value exists. Starts a thread.
    ///
    /// # Errors
    /// If the thread cannot be started.
    pub fn meter(&mut self) -> Result<DiskMeter, Error> {
        if self.meter.is_none() {
            let start = || {
                let here = Path::new("");
                let uppers = self.trees.iter().map(|tree| tree.upper.open(here)).collect::<Result<_, _>>()?;
                UpperMeter::start(uppers)
            };
            self.meter = Some(start().map_err(Error::file("measure", &self.directory))?);
        }
        Ok(self.meter.as_ref().map(|measured| measured.meter.clone()).unwrap_or_default())
    }

    /// Drops the namespaces, because a mounted overlay must not see its layers change.
    pub(crate) fn unmount(&mut self) -> Result<(), Error> {
        if self.is_shared() {
            return Err(Error::InUse(self.record.id.clone()));
        }
        self.names.clear();
        self.meter = None;
        self.namespaces = None;
        Ok(())
    }

    /// All changes, in the order of paths. A file that was moved without being changed is one change.
    ///
    /// # Errors
    /// If a directory cannot be read.
    pub fn changes(&self) -> Result<Vec<Change>, Error> {
        let mut found = Vec::new();
        for (index, (tree, record)) in self.trees.iter().zip(&self.record.trees).enumerate() {
            let mut base = Base::read(&record.data);
            let scanned = changes::scan(&tree.upper, &tree.root, &record.path, self.known(index, &base));
            let scanned = scanned.map_err(Error::file("read the changes of", &record.path))?;
            base.add_all(scanned.base);
            base.write(&record.data);
            found.extend(scanned.changes);
        }
        write_size(&self.directory, self.size_with(&found));
        Ok(self.with_renames(found))
    }

    /// The record of a tree.
    pub(crate) fn known<'a>(&'a self, index: usize, base: &'a Base) -> BaseView<'a> {
        let names = self.names.get(index).and_then(Option::as_ref);
        BaseView { base, names, opened: self.record.trees[index].opened }
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

    /// Removes the overlay and all changes that were not committed. A commit cannot be taken back afterwards.
    ///
    /// # Errors
    /// If a file cannot be removed.
    pub fn discard(mut self) -> Result<(), Error> {
        self.unmount()?;
        remove(&self.directory)
    }

    /// Sets an overlay aside without its directories, which may be gone or be others now.
    pub(crate) fn discard_record(directory: &Path, id: &str) -> Result<(), Error> {
        let _lock = lock(directory, id)?;
        if directory.join(JOURNAL).exists() {
            return Err(Error::State { id: id.to_owned(), why: "has an interrupted commit" });
        }
        rename_aside(directory).map(drop)
    }

    pub(crate) fn state_error(&self, why: &'static str) -> Error {
        Error::State { id: self.record.id.clone(), why }
    }
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
