//! Carries out the steps of a commit or undo.
//!
//! Objects are first *staged*: what cannot be renamed is copied to a directory on the file system of the tree. Then each step
//! is *applied* by renaming, which is atomic for every path and needs no space. Then what left the tree is *settled* where it
//! is kept. Every step recognises by inode numbers whether it was done before, so after a crash the same code completes the
//! work.

use std::cell::RefCell;
use std::ffi::{OsStr, OsString};
use std::io;
use std::path::{Path, PathBuf};
use std::rc::Rc;

use rustix::fs::RenameFlags;

use crate::copy::{copy_tree, exchange, is_ordered, remove_tree, rename, start_writing};
use crate::moves::{create_folder, create_with, move_across, put_back, remove_empty, strip_tree};
use crate::node::{FileTime, Folder};
use crate::record::Direction;
use crate::swap::{Action, Step, backwards};

/// The directories of one tree.
#[derive(Debug)]
pub(crate) struct TreeFolders {
    /// The real tree.
    pub(crate) root: Folder,
    /// The changes.
    pub(crate) upper: Folder,
    /// The overlay's own directory, which contains `upper`.
    pub(crate) data: Folder,
    /// Whether `root` and `data` are on one file system.
    pub(crate) same_device: bool,
}

/// Whether steps may have been applied before.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Attempt {
    First,
    Repeated,
}

/// The directory that was opened last, because consecutive steps are often in the same one.
#[derive(Default)]
struct LastFolder(RefCell<Option<(usize, PathBuf, Rc<Folder>)>>);

impl LastFolder {
    /// Opens the directory that contains the path of a step in a layer, and returns it with the last component.
    fn parent<'s>(&self, layer: &Folder, step: &'s Step) -> io::Result<(Rc<Folder>, &'s OsStr)> {
        let parent = step.path.parent().unwrap_or(Path::new(""));
        if let Some((tree, path, folder)) = &*self.0.borrow()
            && *tree == step.tree
            && path == parent
            && !step.path.as_os_str().is_empty()
        {
            return Ok((folder.clone(), step.path.file_name().unwrap_or_default()));
        }
        let (folder, name) = layer.parent_of_or_self(&step.path)?;
        let folder = Rc::new(folder);
        if !name.is_empty() {
            *self.0.borrow_mut() = Some((step.tree, parent.to_owned(), folder.clone()));
        }
        Ok((folder, name))
    }
}

/// A commit or undo that is carried out.
pub(crate) struct Engine<'a> {
    trees: &'a [TreeFolders],
    direction: Direction,
    /// For each tree: directories on its file system, and the directory with what the commit took out of it.
    parks: Vec<Park>,
    last_source: LastFolder,
    last_target: LastFolder,
}

/// The directories of one commit or undo for one tree.
struct Park {
    /// The directory that contains `incoming` and `outgoing`, as a parent and a name.
    parent: Folder,
    name: OsString,
    /// Copies that are about to move into the tree.
    incoming: Rc<Folder>,
    /// Objects that left the tree.
    outgoing: Folder,
    /// Objects that the commit took out of the tree.
    kept: Rc<Folder>,
    /// The time of the tree's root, which changes if the directories are in it.
    root_modified: FileTime,
}

impl<'a> Engine<'a> {
    /// Creates the directories for a commit or undo, or opens those of one that was interrupted.
    pub(crate) fn new(
        trees: &'a [TreeFolders],
        direction: Direction,
        id: &str,
        number: u32,
    ) -> io::Result<Engine<'a>> {
        let verb = match direction {
            Direction::Commit => "commit",
            Direction::Undo => "undo",
        };
        let mut parks = Vec::new();
        for tree in trees {
            let kept = create_folder(&tree.data, &kept_name(number))?;
            let kept = Rc::new(create_folder(&kept, OsStr::new("out"))?);
            let (place, name) = if tree.same_device {
                (&tree.data, format!("{verb}-{number}"))
            } else {
                (&tree.root, format!(".haft-{id}-{verb}-{number}"))
            };
            let root_modified = tree.root.own_node()?.modified;
            let folder = create_folder(place, OsStr::new(&name))?;
            parks.push(Park {
                parent: place.open(Path::new(""))?,
                name: name.into(),
                incoming: Rc::new(create_folder(&folder, OsStr::new("in"))?),
                outgoing: create_folder(&folder, OsStr::new("out"))?,
                kept,
                root_modified,
            });
        }
        let (last_source, last_target) = (LastFolder::default(), LastFolder::default());
        Ok(Engine { trees, direction, parks, last_source, last_target })
    }

    /// Copies what cannot be renamed into the trees, and notes the inodes of everything that goes there. Nothing else changes.
    pub(crate) fn stage(&self, steps: &mut [Step]) -> io::Result<()> {
        let is_ordered = self.parks.iter().map(|park| is_ordered(&*park.incoming)).collect::<Vec<_>>();
        for step in steps {
            if !moves_in(step) {
                continue;
            }
            let (folder, name) = self.incoming(step)?;
            if self.copies(step) {
                let (from, source) = self.source(step)?;
                remove_tree(&folder, &name)?;
                copy_tree((&from, &source), (&folder, &name))?;
            }
            let node = folder.node(&name)?;
            if let (Some(node), true) = (&node, is_ordered[step.tree]) {
                start_writing(&folder, &name, node)?;
            }
            if let Action::Swap { incoming, .. } = &mut step.action {
                *incoming = node.map(|node| node.inode);
            }
        }
        let unordered = self.parks.iter().zip(is_ordered).filter(|(_, is_ordered)| !is_ordered);
        unordered.into_iter().try_for_each(|(park, _)| park.incoming.sync_file_system())
    }

    /// Takes staging back.
    pub(crate) fn unstage(&self, steps: &[Step]) -> io::Result<()> {
        for step in steps.iter().rev() {
            let Action::Swap { moves_in: true, was_opaque, .. } = step.action else { continue };
            if self.copies(step) {
                let (park, name) = self.incoming(step)?;
                remove_tree(&park, &name)?;
            } else if was_opaque && self.direction == Direction::Commit {
                let (folder, source) = self.source(step)?;
                folder.set_opaque(&source)?;
            }
        }
        self.remove_parks(steps, false)
    }

    /// Applies all steps, also those that were applied before.
    ///
    /// # Errors
    /// Returns the step that failed.
    pub(crate) fn apply<'s>(&self, steps: &'s [Step], attempt: Attempt) -> Result<(), (&'s Step, io::Error)> {
        steps.iter().try_for_each(|step| self.apply_step(step, attempt).map_err(|error| (step, error)))
    }

    /// Takes all applied steps back.
    pub(crate) fn revert(&self, steps: &[Step]) -> io::Result<()> {
        backwards(steps).try_for_each(|step| self.revert_step(step))
    }

    fn apply_step(&self, step: &Step, attempt: Attempt) -> io::Result<()> {
        let (folder, name) = self.target(step)?;
        match &step.action {
            Action::Swap { incoming, moves_in, outgoing, .. } => {
                let park = &self.parks[step.tree];
                let slot = slot_name(step.slot);
                let incoming = incoming.filter(|_| *moves_in);
                let (present, is_out) = match attempt {
                    Attempt::First => (None, false),
                    Attempt::Repeated => {
                        let present = folder.node(name)?.map(|node| node.inode);
                        (present, park.outgoing.node(&slot)?.is_some())
                    }
                };
                match (incoming, outgoing) {
                    (Some(new), Some(_)) if !is_out => {
                        let (from, source) = self.incoming(step)?;
                        if present != Some(new) {
                            self.strip((&from, &source))?;
                            exchange((&from, &source), (&folder, name))?;
                        }
                        rename((&from, &source), (&park.outgoing, &slot), RenameFlags::NOREPLACE)
                    }
                    (Some(new), None) if present != Some(new) => {
                        let (from, source) = self.incoming(step)?;
                        self.strip((&from, &source))?;
                        rename((&from, &source), (&folder, name), RenameFlags::NOREPLACE)
                    }
                    (None, Some(_)) if !is_out => {
                        rename((&folder, name), (&park.outgoing, &slot), RenameFlags::NOREPLACE)
                    }
                    _ => Ok(()),
                }
            }
            Action::CreateFolder { attributes } => create_with(&folder, name, attributes),
            Action::RemoveFolder { .. } => remove_empty(&folder, name),
            Action::Attributes { after, .. } => folder.apply(name, after, false),
        }
    }

    fn revert_step(&self, step: &Step) -> io::Result<()> {
        let (folder, name) = self.target(step)?;
        match &step.action {
            Action::Swap { incoming, moves_in, outgoing, .. } => {
                let park = &self.parks[step.tree];
                let slot = slot_name(step.slot);
                let present = folder.node(name)?.map(|node| node.inode);
                let incoming = incoming.filter(|_| *moves_in);
                let is_out = park.outgoing.node(&slot)?.is_some();
                match (incoming, outgoing) {
                    (Some(_), Some(_)) if is_out => {
                        let (from, source) = self.incoming(step)?;
                        exchange((&park.outgoing, &slot), (&folder, name))?;
                        rename((&park.outgoing, &slot), (&from, &source), RenameFlags::NOREPLACE)
                    }
                    (Some(new), Some(_)) if present == Some(new) => {
                        let (from, source) = self.incoming(step)?;
                        exchange((&from, &source), (&folder, name))
                    }
                    (Some(new), None) if present == Some(new) => {
                        let (from, source) = self.incoming(step)?;
                        rename((&folder, name), (&from, &source), RenameFlags::NOREPLACE)
                    }
                    (None, Some(_)) if is_out => {
                        rename((&park.outgoing, &slot), (&folder, name), RenameFlags::NOREPLACE)
                    }
                    _ => Ok(()),
                }
            }
            Action::CreateFolder { .. } => remove_empty(&folder, name),
            Action::RemoveFolder { attributes } => create_with(&folder, name, attributes),
            Action::Attributes { before, .. } => folder.apply(name, before, false),
        }
    }

    /// Moves what left the trees to where it is kept, and removes what is no longer needed.
    pub(crate) fn settle(&self, steps: &[Step]) -> io::Result<()> {
        for step in steps {
            let Action::Swap { moves_in, was_opaque, keeps_copy, .. } = step.action else { continue };
            let (park, slot) = (&self.parks[step.tree], slot_name(step.slot));
            if self.direction == Direction::Commit && self.trees[step.tree].same_device {
                // It was moved, and what left the tree is where it is kept.
                continue;
            }
            let is_out = park.outgoing.node(&slot)?.is_some();
            match self.direction {
                Direction::Commit => {
                    if is_out {
                        move_across((&park.outgoing, &slot), (&park.kept, &slot))?;
                    }
                    if moves_in && !keeps_copy {
                        let (folder, source) = self.source(step)?;
                        remove_tree(&folder, &source)?;
                    }
                }
                Direction::Undo => {
                    remove_tree(&park.kept, &slot)?;
                    if keeps_copy {
                        remove_tree(&park.outgoing, &slot)?;
                        continue;
                    }
                    // An earlier attempt may have moved the object and not have marked it.
                    if is_out || was_opaque {
                        let (folder, name) = self.trees[step.tree].upper.parent_of(&step.path)?;
                        if is_out {
                            put_back((&park.outgoing, &slot), (&folder, name))?;
                        }
                        if was_opaque && folder.node(name)?.is_some_and(|node| node.is_dir()) {
                            folder.set_opaque(name)?;
                        }
                    }
                }
            }
        }
        self.remove_parks(steps, true)
    }

    /// Whether the object that moves in is copied instead of moved.
    fn copies(&self, step: &Step) -> bool {
        let keeps = matches!(step.action, Action::Swap { keeps_copy: true, .. });
        !self.trees[step.tree].same_device || (keeps && self.direction == Direction::Commit)
    }

    /// The object that moves in, as it is when the steps are applied: a copy, or the source itself.
    fn incoming(&self, step: &Step) -> io::Result<(Rc<Folder>, OsString)> {
        match self.copies(step) {
            true => Ok((self.parks[step.tree].incoming.clone(), slot_name(step.slot))),
            false => self.source(step),
        }
    }

    /// Removes the attributes of overlayfs from what a commit moves into the tree.
    fn strip(&self, (folder, name): (&Folder, &OsStr)) -> io::Result<()> {
        match (self.direction, folder.node(name)?) {
            (Direction::Commit, Some(node)) => strip_tree(folder, name, &node),
            _ => Ok(()),
        }
    }

    /// The source of the object that moves in.
    fn source(&self, step: &Step) -> io::Result<(Rc<Folder>, OsString)> {
        match self.direction {
            Direction::Commit => {
                let (folder, name) = self.last_source.parent(&self.trees[step.tree].upper, step)?;
                Ok((folder, name.to_owned()))
            }
            Direction::Undo => Ok((self.parks[step.tree].kept.clone(), slot_name(step.slot))),
        }
    }

    /// The directory and name of a step's path in the tree.
    fn target<'s>(&self, step: &'s Step) -> io::Result<(Rc<Folder>, &'s OsStr)> {
        self.last_target.parent(&self.trees[step.tree].root, step)
    }

    /// Removes the directories for moving. Keeps the objects that a commit took out of the tree.
    fn remove_parks(&self, steps: &[Step], is_applied: bool) -> io::Result<()> {
        for (index, (park, tree)) in self.parks.iter().zip(self.trees).enumerate() {
            let folder = park.parent.open(Path::new(&park.name))?;
            remove_tree(&folder, OsStr::new("in"))?;
            if !tree.same_device || self.direction == Direction::Undo {
                remove_tree(&park.parent, &park.name)?;
            }
            if !tree.same_device {
                let planned = steps.iter().find_map(|step| match &step.action {
                    Action::Attributes { before, after }
                        if step.tree == index && step.path == Path::new("") =>
                    {
                        Some(if is_applied { after.modified } else { before.modified })
                    }
                    _ => None,
                });
                tree.root.set_modified(OsStr::new(""), planned.unwrap_or(park.root_modified))?;
            }
        }
        Ok(())
    }
}

/// Whether files outside of the overlay's directory are made, or files are copied, before the steps can be applied.
pub(crate) fn needs_staging(trees: &[TreeFolders], direction: Direction, steps: &[Step]) -> bool {
    let is_copied =
        |step: &Step| matches!(step.action, Action::Swap { moves_in: true, keeps_copy: true, .. });
    trees.iter().any(|tree| !tree.same_device)
        || (direction == Direction::Commit && steps.iter().any(is_copied))
}

fn moves_in(step: &Step) -> bool {
    matches!(step.action, Action::Swap { moves_in: true, .. })
}

/// Name of the directory, in the overlay's data, with what a commit took out of the tree.
pub(crate) fn kept_name(number: u32) -> OsString {
    format!("commit-{number}").into()
}

fn slot_name(slot: usize) -> OsString {
    slot.to_string().into()
}
