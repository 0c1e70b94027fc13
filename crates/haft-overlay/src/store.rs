//! The directories that hold overlays.
//!
//! An overlay is a directory named after its id, in one of several places: the state directory, or another directory on the
//! file system of the tree. It contains `record.json`, a lock, a journal while a commit is under way, and per tree the
//! directories `upper`, `work` and `commit-N`.

use std::fs;
use std::os::unix::fs::{DirBuilderExt as _, MetadataExt as _};
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use haft_process::{Namespaces, OverlayMount};

use crate::error::Error;
use crate::node::{FileTime, Folder};
use crate::overlay::{Overlay, OverlaySummary};
use crate::record::{JOURNAL, OverlayLevel, RECORD, Record, TreeRecord, read_json, replace_json};
use crate::removal::REMOVED_PREFIX;

/// Letters of ids: without those that look alike.
const ID_LETTERS: &[u8; 32] = b"abcdefghijkmnpqrstuvwxyz23456789";
const ID_LENGTH: usize = 6;
/// The type that statfs(2) returns for overlayfs, which cannot hold the changes of another overlay.
const OVERLAYFS: u64 = 0x794c_7630;

/// The places where overlays are kept.
#[derive(Clone, Debug)]
pub struct OverlayStore {
    /// The first one on the file system of a tree holds its overlay.
    places: Vec<PathBuf>,
}

impl OverlayStore {
    /// Uses these directories, the preferred one first. They are created when they are needed.
    pub fn new(places: Vec<PathBuf>) -> OverlayStore {
        OverlayStore { places }
    }

    /// Opens a new overlay of directories. Nothing of them changes until the overlay is committed.
    ///
    /// # Errors
    /// If a directory cannot be overlaid, or the system does not allow it.
    pub fn create(&self, trees: &[PathBuf], name: Option<&str>) -> Result<Overlay, Error> {
        let trees = check_trees(trees)?;
        if let Some(name) = name
            && self.find(name).is_ok()
        {
            return Err(Error::Unsuitable {
                tree: trees[0].clone(),
                why: format!("there is already an overlay named '{name}'"),
            });
        }
        let mut last = None;
        for place in self.candidates(&trees[0], &trees) {
            match create_in(&place, &trees, name) {
                Ok(overlay) => return Ok(overlay),
                Err(error) => last = Some(error),
            }
        }
        Err(last.unwrap_or_else(|| Error::Unsuitable {
            tree: trees[0].clone(),
            why: "no directory outside of it can hold the changes".to_owned(),
        }))
    }

    /// Finds an overlay by its id, the beginning of its id, or its name.
    ///
    /// # Errors
    /// If there is none, or its record cannot be read.
    pub fn find(&self, word: &str) -> Result<Overlay, Error> {
        let (directory, record) = self.find_record(word)?;
        Overlay::open(directory, &record.id)
    }

    pub(crate) fn find_record(&self, word: &str) -> Result<(PathBuf, Record), Error> {
        let records = self.records();
        let by_id = records.iter().find(|(_, record)| record.id == word);
        let by_name = || records.iter().find(|(_, record)| record.name.as_deref() == Some(word));
        let by_start = || {
            let mut found =
                records.iter().filter(|(_, record)| !word.is_empty() && record.id.starts_with(word));
            found.next().filter(|_| found.next().is_none())
        };
        let found = by_id.or_else(by_name).or_else(by_start);
        found.ok_or_else(|| Error::Unknown(word.to_owned())).cloned()
    }

    /// Lists all overlays, oldest first.
    pub fn list(&self) -> Vec<OverlaySummary> {
        let records = self.records();
        records.iter().map(|(directory, record)| OverlaySummary::new(directory, record)).collect()
    }

    /// Completes or rolls back commits that a crash interrupted. Returns the ids of those overlays with the result. Opening
    /// an overlay does the same for that one.
    pub fn repair(&self) -> Vec<(String, Result<(), Error>)> {
        let mut repaired = Vec::new();
        for (directory, record) in self.records() {
            if directory.join(JOURNAL).exists() {
                match Overlay::open(directory, &record.id) {
                    Err(Error::InUse(_)) => {}
                    opened => repaired.push((record.id, opened.map(drop))),
                }
            }
        }
        repaired
    }

    pub(crate) fn places(&self) -> &[PathBuf] {
        &self.places
    }

    pub(crate) fn records(&self) -> Vec<(PathBuf, Record)> {
        let mut found: Vec<(PathBuf, Record)> = Vec::new();
        for place in &self.places {
            for entry in fs::read_dir(place).into_iter().flatten().flatten() {
                let directory = entry.path();
                let is_removed =
                    entry.file_name().to_str().is_some_and(|name| name.starts_with(REMOVED_PREFIX));
                if !is_removed && let Ok(Some(record)) = read_json(&directory.join(RECORD)) {
                    found.push((directory, record));
                }
            }
        }
        found.sort_by(|one, other| (one.1.created, &one.1.id).cmp(&(other.1.created, &other.1.id)));
        found.dedup_by(|one, other| one.1.id == other.1.id);
        found
    }

    /// Places that can hold an overlay of `tree`: those on its file system first.
    fn candidates(&self, tree: &Path, trees: &[PathBuf]) -> Vec<PathBuf> {
        let device = fs::metadata(tree).map(|found| found.dev()).ok();
        let usable = self.places.iter().filter(|place| !trees.iter().any(|tree| place.starts_with(tree)));
        let usable = usable.filter(|place| create_private(place).is_ok() && !is_overlayfs(place));
        let (near, far): (Vec<_>, Vec<_>) =
            usable.cloned().partition(|place| fs::metadata(place).map(|found| found.dev()).ok() == device);
        near.into_iter().chain(far).collect()
    }
}

/// The directory to overlay if none is named: the git repository that contains `base`, else `base` itself.
///
/// # Errors
/// If that is the home directory or the root, which are too much to be taken by default.
pub fn default_tree(base: &Path, home: Option<&Path>) -> Result<PathBuf, Error> {
    let tree = base.ancestors().find(|directory| directory.join(".git").exists()).unwrap_or(base);
    if home == Some(tree) || tree == Path::new("/") {
        return Err(Error::TooBroad(tree.to_owned()));
    }
    Ok(tree.to_owned())
}

/// Checks the directories and returns their real paths.
fn check_trees(trees: &[PathBuf]) -> Result<Vec<PathBuf>, Error> {
    let mut real: Vec<PathBuf> = Vec::new();
    for tree in trees {
        let path = fs::canonicalize(tree).map_err(Error::file("open", tree))?;
        let unsuitable = |why: &str| Error::Unsuitable { tree: path.clone(), why: why.to_owned() };
        if !path.is_dir() {
            return Err(unsuitable("it is not a directory"));
        }
        if let Some(other) = real.iter().find(|other| path.starts_with(other) || other.starts_with(&path)) {
            return Err(unsuitable(&format!("'{}' contains it or is part of it", other.display())));
        }
        real.push(path);
    }
    if real.is_empty() {
        return Err(Error::Unsuitable { tree: PathBuf::new(), why: "no directory was given".to_owned() });
    }
    Ok(real)
}

fn create_in(place: &Path, trees: &[PathBuf], name: Option<&str>) -> Result<Overlay, Error> {
    let id = new_id();
    let directory = place.join(&id);
    let created = fs::DirBuilder::new().mode(0o700).create(&directory);
    created.map_err(Error::file("create", &directory))?;
    let overlay = fill(&directory, trees, name, id);
    if overlay.is_err() {
        let _ = fs::remove_dir_all(&directory);
    }
    overlay
}

fn fill(directory: &Path, trees: &[PathBuf], name: Option<&str>, id: String) -> Result<Overlay, Error> {
    let mut records = Vec::new();
    for (index, tree) in trees.iter().enumerate() {
        let data = directory.join(index.to_string());
        for folder in [data.clone(), data.join("upper"), data.join("work")] {
            let created = fs::DirBuilder::new().mode(0o700).create(&folder);
            created.map_err(Error::file("create", &folder))?;
        }
        let node = Folder::open_absolute(tree).and_then(|tree| tree.own_node());
        let node = node.map_err(Error::file("open", tree))?;
        copy_root_attributes(tree, &data.join("upper"))?;
        let opened = fs::metadata(data.join("work")).map_err(Error::file("open", &data))?;
        let opened = FileTime { seconds: opened.ctime(), nanoseconds: opened.ctime_nsec() };
        records.push(TreeRecord { path: tree.clone(), device: node.device, inode: node.inode, data, opened });
    }
    let mut record = Record {
        id,
        name: name.map(str::to_owned),
        created: seconds_now(),
        level: OverlayLevel::MountNamespace,
        trees: records,
        commits: Vec::new(),
        is_committed: false,
        next_commit: 1,
        conflicts: Vec::new(),
    };
    let namespaces = Namespaces::with_overlays(&mounts(&record))?;
    if namespaces.has_user_namespace() {
        record.level = OverlayLevel::UserNamespace;
    }
    // Uncommitted changes need not survive a crash of the machine.
    replace_json(directory, RECORD, &record)?;
    Overlay::opened(directory.to_owned(), record, namespaces)
}

/// The overlays to mount for a record.
pub(crate) fn mounts(record: &Record) -> Vec<OverlayMount> {
    let mount = |tree: &TreeRecord| OverlayMount {
        tree: tree.path.clone(),
        upper: tree.data.join("upper"),
        work: tree.data.join("work"),
    };
    record.trees.iter().map(mount).collect()
}

/// Gives the root of the changes the attributes of the tree, because the overlay's root shows them.
fn copy_root_attributes(tree: &Path, upper: &Path) -> Result<(), Error> {
    let here = std::ffi::OsStr::new("");
    let copy = || {
        let tree = Folder::open_absolute(tree)?;
        let attributes = tree.attributes(here, &tree.own_node()?)?;
        let upper = Folder::open_absolute(upper)?;
        match upper.apply(here, &attributes, false) {
            // Another user's directory: the owner cannot be copied, and programs could not change the directory anyway.
            Err(error) if error.kind() == std::io::ErrorKind::PermissionDenied => Ok(()),
            applied => applied,
        }
    };
    copy().map_err(Error::file("copy the attributes of", tree))
}

/// Creates a directory that only its owner can read. Refuses one of another user.
fn create_private(place: &Path) -> std::io::Result<()> {
    fs::DirBuilder::new().recursive(true).mode(0o700).create(place)?;
    let found = fs::symlink_metadata(place)?;
    let is_own =
        found.is_dir() && found.uid() == rustix::process::geteuid().as_raw() && found.mode() & 0o022 == 0;
    if is_own { Ok(()) } else { Err(std::io::ErrorKind::PermissionDenied.into()) }
}

fn is_overlayfs(place: &Path) -> bool {
    rustix::fs::statfs(place).is_ok_and(|found| u64::try_from(found.f_type).unwrap_or(0) == OVERLAYFS)
}

fn new_id() -> String {
    let mut bytes = [0_u8; ID_LENGTH];
    let _ = rustix::rand::getrandom(&mut bytes, rustix::rand::GetRandomFlags::empty());
    bytes.iter().map(|byte| char::from(ID_LETTERS[usize::from(byte % 32)])).collect()
}

pub(crate) fn seconds_now() -> u64 {
    SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).map_or(0, |since| since.as_secs())
}
