//! Steps of a commit: what moves into the real tree, and what moves out of it.

use std::ffi::OsStr;
use std::io;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use crate::base::BaseView;
use crate::changes::{EntryDifference, below, compare, has_other_attributes};
use crate::conflict::{Conflict, ConflictKind};
use crate::node::{Attributes, Folder, Node};
use crate::selection::{Coverage, Selection};

/// One step. Paths are relative to the tree.
#[derive(Clone, Debug, Deserialize, Serialize)]
pub(crate) struct Step {
    /// Index of the tree.
    pub(crate) tree: usize,
    /// Number of the step in its commit. Names the moved objects.
    pub(crate) slot: usize,
    #[serde(with = "crate::record::path_bytes")]
    pub(crate) path: PathBuf,
    pub(crate) action: Action,
}

/// The action of a step.
#[derive(Clone, Debug, Deserialize, Serialize)]
pub(crate) enum Action {
    /// Moves an object in, out, or both.
    Swap {
        /// Inode of the object that moves in. Known once it is staged.
        incoming: Option<u64>,
        /// Whether an object moves in.
        moves_in: bool,
        /// Inode of the object that moves out.
        outgoing: Option<u64>,
        /// Whether the overlay keeps its own copy, because a directory above is opaque and would hide the tree's.
        keeps_copy: bool,
        /// Whether the incoming directory replaced one of the tree. Its mark is removed in the tree.
        was_opaque: bool,
    },
    /// Creates a directory of which only a part is committed.
    CreateFolder { attributes: Attributes },
    /// Removes a directory that [`Action::CreateFolder`] created, if it is empty.
    RemoveFolder { attributes: Attributes },
    /// Changes the attributes of a directory.
    Attributes { before: Attributes, after: Attributes },
}

/// Plans the commit of one tree.
pub(crate) struct Planner<'a> {
    pub(crate) tree: usize,
    pub(crate) root: &'a Path,
    pub(crate) selection: &'a Selection,
    /// The expected object of the tree. Any other object is a conflict.
    pub(crate) known: BaseView<'a>,
    pub(crate) steps: Vec<Step>,
    pub(crate) conflicts: Vec<Conflict>,
}

impl Planner<'_> {
    /// Plans all steps. Attributes of directories come last, because moves change their times.
    pub(crate) fn plan(&mut self, upper: &Folder, lower: &Folder) -> io::Result<()> {
        let mut attributes = Vec::new();
        self.merged(upper, lower, Path::new(""), &mut attributes)?;
        // Inner directories first.
        self.steps.extend(attributes.into_iter().rev());
        Ok(())
    }

    /// Plans a directory that exists in both layers, and the change of its attributes.
    fn merged(
        &mut self,
        upper: &Folder,
        lower: &Folder,
        path: &Path,
        attributes: &mut Vec<Step>,
    ) -> io::Result<()> {
        let here = OsStr::new("");
        let (after, before) = (upper.own_node()?, lower.own_node()?);
        let position = attributes.len();
        let planned = self.steps.len();
        for name in upper.names()? {
            self.entry(upper, Some(lower), path, &name, false, attributes)?;
        }
        let is_selected = self.selection.includes(self.root, path);
        let differs = is_selected && has_other_attributes(upper, &after, lower, &before, here)?;
        // Both have changed it, or the overlay has only a copy from the time before the other change.
        if differs && before.changed > self.known.opened {
            self.conflict(path, ConflictKind::Changed);
        }
        if differs || self.steps.len() > planned {
            let mut wanted =
                if differs { upper.attributes(here, &after)? } else { lower.attributes(here, &before)? };
            wanted.modified = after.modified;
            let before = lower.attributes(here, &before)?;
            let action = Action::Attributes { before, after: wanted };
            attributes.insert(position, self.step(path, action));
        }
        Ok(())
    }

    fn entry(
        &mut self,
        upper: &Folder,
        lower: Option<&Folder>,
        path: &Path,
        name: &OsStr,
        keeps_copy: bool,
        attributes: &mut Vec<Step>,
    ) -> io::Result<()> {
        let whole = path.join(name);
        let coverage = self.selection.coverage(self.root, &whole);
        if coverage == Coverage::None {
            return Ok(());
        }
        let below = below(lower, name)?;
        let above = upper.node(name)?.filter(|node| !upper.is_whiteout(name, node));
        let part = coverage == Coverage::Part && !self.is_whole(above, below, upper, lower, &whole)?;
        match (above, below, lower) {
            (None, None, _) | (None, Some(_), None) => Ok(()),
            (None, Some(before), Some(lower)) if part && before.is_dir() => {
                self.remove_part(lower, &whole, name, attributes)
            }
            (None, Some(before), Some(lower)) => {
                if self.is_chosen(&whole, part) {
                    self.check_tree(lower, &whole, name, &before)?;
                    self.swap(&whole, None, Some(&before), false);
                }
                Ok(())
            }
            (Some(after), Some(before), Some(lower))
                if after.is_dir() && before.is_dir() && !upper.is_opaque(name) =>
            {
                let was_other =
                    self.known.entry(&whole, &lower.own_node()?, Some(&before)).was_other(&before);
                let (upper, lower) = (upper.open(name.as_ref())?, lower.open(name.as_ref())?);
                let planned = self.steps.len() + attributes.len();
                self.merged(&upper, &lower, &whole, attributes)?;
                if was_other && self.steps.len() + attributes.len() > planned {
                    self.conflict(&whole, ConflictKind::Changed);
                }
                Ok(())
            }
            (Some(after), Some(before), Some(lower)) if part && after.is_dir() && before.is_dir() => {
                let (upper, lower) = (upper.open(name.as_ref())?, lower.open(name.as_ref())?);
                self.opaque_part(&upper, &lower, &whole, attributes)
            }
            (Some(after), None, _) if part && after.is_dir() => {
                let planned = self.steps.len();
                self.new_part(upper, &whole, name, &after, attributes)?;
                if self.steps.len() > planned {
                    self.check_missing(lower, &whole)?;
                }
                Ok(())
            }
            (Some(_), _, _) if !self.is_chosen(&whole, part) => Ok(()),
            (Some(after), before, lower) => {
                if before.is_none() {
                    self.check_missing(lower, &whole)?;
                }
                self.replacement((upper, &after), lower.zip(before.as_ref()), &whole, name, keeps_copy)
            }
        }
    }

    /// Finds out whether the tree had an entry that is now missing.
    fn check_missing(&mut self, lower: Option<&Folder>, path: &Path) -> io::Result<()> {
        if let Some(lower) = lower
            && self.known.entry(path, &lower.own_node()?, None).existed()
        {
            self.conflict(path, ConflictKind::Removed);
        }
        Ok(())
    }

    /// Plans the selected part of a new directory.
    fn new_part(
        &mut self,
        upper: &Folder,
        path: &Path,
        name: &OsStr,
        node: &Node,
        attributes: &mut Vec<Step>,
    ) -> io::Result<()> {
        let created = upper.attributes(name, node)?;
        let inner = upper.open(name.as_ref())?;
        let position = self.steps.len();
        for name in inner.names()? {
            self.entry(&inner, None, path, &name, true, attributes)?;
        }
        if self.steps.len() > position {
            let step = self.step(path, Action::CreateFolder { attributes: created });
            self.steps.insert(position, step);
        }
        Ok(())
    }

    /// Plans a new entry, or one that replaces an entry of the tree, as a whole.
    fn replacement(
        &mut self,
        (upper, after): (&Folder, &Node),
        below: Option<(&Folder, &Node)>,
        path: &Path,
        name: &OsStr,
        keeps_copy: bool,
    ) -> io::Result<()> {
        let is_opaque = after.is_dir() && upper.is_opaque(name);
        if let Some((lower, before)) = below {
            // A file with a second name is committed, so that both names stay one file.
            let same_kind = before.kind == after.kind && !after.is_dir() && !after.is_linked;
            if same_kind && compare(upper, after, lower, before, name)? == EntryDifference::None {
                return Ok(());
            }
            match self.known.entry(path, &lower.own_node()?, Some(before)).existed() {
                true => self.check_tree(lower, path, name, before)?,
                false => self.conflict(path, ConflictKind::Created),
            }
        }
        self.swap(path, Some(is_opaque), below.map(|(_, before)| before), keeps_copy);
        Ok(())
    }

    /// Whether a path that cannot be divided is selected.
    fn is_chosen(&self, path: &Path, part: bool) -> bool {
        !part || self.selection.includes(self.root, path)
    }

    /// Plans the selected part of a directory that replaced another one.
    fn opaque_part(
        &mut self,
        upper: &Folder,
        lower: &Folder,
        path: &Path,
        attributes: &mut Vec<Step>,
    ) -> io::Result<()> {
        let names = upper.names()?;
        let planned = self.steps.len();
        let here = OsStr::new("");
        for name in &names {
            self.entry(upper, Some(lower), path, name, true, attributes)?;
        }
        for name in lower.names()?.into_iter().filter(|name| !names.contains(name)) {
            self.remove_selected(lower, &path.join(&name), &name, attributes)?;
        }
        if self.steps.len() > planned {
            let before = lower.attributes(here, &lower.own_node()?)?;
            let after = Attributes { modified: upper.own_node()?.modified, ..before.clone() };
            let action = Action::Attributes { before, after };
            attributes.push(self.step(path, action));
        }
        Ok(())
    }

    /// Whether a directory is selected with everything in it, in both layers.
    fn is_whole(
        &self,
        above: Option<Node>,
        below: Option<Node>,
        upper: &Folder,
        lower: Option<&Folder>,
        path: &Path,
    ) -> io::Result<bool> {
        let name = path.file_name().unwrap_or_default();
        let is_dir = |node: Option<Node>| node.is_some_and(|node| node.is_dir());
        if is_dir(above) && !self.selects_tree(upper, name, path)? {
            return Ok(false);
        }
        match lower {
            Some(lower) if is_dir(below) => self.selects_tree(lower, name, path),
            _ => Ok(self.selection.includes(self.root, path)),
        }
    }

    /// Whether a path and everything below it is selected.
    fn selects_tree(&self, folder: &Folder, name: &OsStr, path: &Path) -> io::Result<bool> {
        if !self.selection.includes(self.root, path) {
            return Ok(false);
        }
        if !folder.node(name)?.is_some_and(|node| node.is_dir()) {
            return Ok(true);
        }
        let inner = folder.open(name.as_ref())?;
        for name in inner.names()? {
            if !self.selects_tree(&inner, &name, &path.join(&name))? {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// Plans the removal of the selected part of a directory. The directory keeps its attributes.
    fn remove_part(
        &mut self,
        lower: &Folder,
        path: &Path,
        name: &OsStr,
        attributes: &mut Vec<Step>,
    ) -> io::Result<()> {
        let inner = lower.open(name.as_ref())?;
        let planned = self.steps.len();
        let position = attributes.len();
        for name in inner.names()? {
            self.remove_selected(&inner, &path.join(&name), &name, attributes)?;
        }
        if self.steps.len() > planned {
            let before = inner.attributes(OsStr::new(""), &inner.own_node()?)?;
            let action = Action::Attributes { before: before.clone(), after: before };
            attributes.insert(position, self.step(path, action));
        }
        Ok(())
    }

    fn remove_selected(
        &mut self,
        lower: &Folder,
        path: &Path,
        name: &OsStr,
        attributes: &mut Vec<Step>,
    ) -> io::Result<()> {
        let Some(node) = lower.node(name)? else { return Ok(()) };
        match self.selection.coverage(self.root, path) {
            Coverage::None => Ok(()),
            Coverage::Part if node.is_dir() && !self.selects_tree(lower, name, path)? => {
                self.remove_part(lower, path, name, attributes)
            }
            Coverage::Part if !self.selection.includes(self.root, path) => Ok(()),
            Coverage::Part | Coverage::All => {
                self.check_tree(lower, path, name, &node)?;
                self.swap(path, None, Some(&node), false);
                Ok(())
            }
        }
    }

    /// A step without a number; numbers are given once all steps are known.
    fn step(&self, path: &Path, action: Action) -> Step {
        Step { tree: self.tree, slot: 0, path: path.to_owned(), action }
    }

    /// Adds a swap. `incoming` says that an object moves in, and whether it is an opaque directory.
    fn swap(&mut self, path: &Path, incoming: Option<bool>, outgoing: Option<&Node>, keeps_copy: bool) {
        let action = Action::Swap {
            incoming: None,
            moves_in: incoming.is_some(),
            outgoing: outgoing.map(|node| node.inode),
            keeps_copy,
            was_opaque: incoming == Some(true),
        };
        let step = self.step(path, action);
        self.steps.push(step);
    }

    /// Finds what has changed at and below a path of the real tree.
    fn check_tree(&mut self, lower: &Folder, path: &Path, name: &OsStr, node: &Node) -> io::Result<()> {
        if node.changed > self.known.opened {
            self.conflict(path, ConflictKind::Changed);
        }
        if node.is_dir() {
            let inner = match lower.open(name.as_ref()) {
                Ok(inner) => inner,
                Err(error) if error.kind() == io::ErrorKind::PermissionDenied => return Ok(()),
                Err(error) => return Err(error),
            };
            for name in inner.names()? {
                if let Some(node) = inner.node(&name)? {
                    self.check_tree(&inner, &path.join(&name), &name, &node)?;
                }
            }
        }
        Ok(())
    }

    fn conflict(&mut self, path: &Path, kind: ConflictKind) {
        self.conflicts.push(Conflict { path: self.root.join(path), kind });
    }
}

/// Steps in the order in which they are taken back: attributes of directories come last again.
pub(crate) fn backwards(steps: &[Step]) -> impl Iterator<Item = &Step> {
    let is_attributes = |step: &&Step| matches!(step.action, Action::Attributes { .. });
    let moves = steps.iter().rev().filter(move |step| !is_attributes(step));
    moves.chain(steps.iter().filter(is_attributes))
}

/// The steps that take a commit back.
pub(crate) fn inverse(steps: &[Step]) -> Vec<Step> {
    backwards(steps).map(inverse_step).collect()
}

fn inverse_step(step: &Step) -> Step {
    let action = match &step.action {
        Action::Swap { incoming, moves_in, outgoing, keeps_copy, was_opaque } => Action::Swap {
            incoming: *outgoing,
            moves_in: outgoing.is_some(),
            outgoing: incoming.filter(|_| *moves_in),
            keeps_copy: *keeps_copy,
            was_opaque: *was_opaque,
        },
        Action::CreateFolder { attributes } => Action::RemoveFolder { attributes: attributes.clone() },
        Action::RemoveFolder { attributes } => Action::CreateFolder { attributes: attributes.clone() },
        Action::Attributes { before, after } => {
            Action::Attributes { before: after.clone(), after: before.clone() }
        }
    };
    Step { tree: step.tree, slot: step.slot, path: step.path.clone(), action }
}
