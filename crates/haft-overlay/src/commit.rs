//! Commit and undo: what moves between an overlay and the real directories, and how a crash is repaired.

use std::collections::HashSet;
use std::ffi::OsStr;
use std::io;
use std::path::Path;

use crate::base::Base;
use crate::changes;
use crate::conflict::{Conflict, ConflictKind};
use crate::copy::{is_ordered, remove_tree};
use crate::engine::{Attempt, Engine, kept_name, needs_staging};
use crate::error::Error;
use crate::node::{Folder, Node};
use crate::overlay::{OnConflict, Overlay};
use crate::record::{
    CommitRecord, Direction, JOURNAL, Journal, Phase, RECORD, Record, create_json, read_journal,
    replace_json, write_json,
};
use crate::selection::Selection;
use crate::store::seconds_now;
use crate::swap::{self, Action, Planner, Step};

/// The paths that steps replace.
struct TouchedPaths<'a> {
    whole: HashSet<(usize, &'a Path)>,
    attributes: HashSet<(usize, &'a Path)>,
}

impl TouchedPaths<'_> {
    fn new(steps: &[Step]) -> TouchedPaths<'_> {
        let mut touched = TouchedPaths { whole: HashSet::new(), attributes: HashSet::new() };
        for step in steps {
            let set = match step.action {
                Action::Swap { .. } => &mut touched.whole,
                _ => &mut touched.attributes,
            };
            set.insert((step.tree, step.path.as_path()));
        }
        touched
    }

    /// Whether a step replaces this path, or a directory that contains it.
    fn contain(&self, tree: usize, path: &Path) -> bool {
        self.attributes.contains(&(tree, path))
            || path.ancestors().any(|ancestor| self.whole.contains(&(tree, ancestor)))
    }
}

/// How many paths steps replace, add or remove.
fn count_paths(steps: &[Step]) -> usize {
    steps.iter().filter(|step| !matches!(step.action, Action::Attributes { .. })).count()
}

impl Overlay {
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
        let mut result = self.record.clone();
        self.keep_conflicts(&mut result, selection)?;
        self.unmount()?;
        let count = count_paths(&steps);
        let number = self.record.next_commit;
        result.next_commit += 1;
        result.is_committed = selection.is_all();
        self.carry_out(Direction::Commit, number, steps, result)?;
        Ok(count)
    }

    fn plan(&self, selection: &Selection) -> Result<(Vec<Step>, Vec<Conflict>), Error> {
        let (mut steps, mut conflicts) = (Vec::new(), Vec::new());
        for (index, (tree, record)) in self.trees.iter().zip(&self.record.trees).enumerate() {
            let base = Base::read(&record.data);
            let mut planner = Planner {
                tree: index,
                root: &record.path,
                selection,
                known: self.known(index, &base),
                steps: Vec::new(),
                conflicts: Vec::new(),
            };
            let planned = planner.plan(&tree.upper, &tree.root);
            planned.map_err(Error::file("read the changes of", &record.path))?;
            steps.append(&mut planner.steps);
            conflicts.append(&mut planner.conflicts);
        }
        let touched = TouchedPaths::new(&steps);
        for conflict in &self.record.conflicts {
            let is_touched =
                self.relative(&conflict.path).is_some_and(|(tree, path)| touched.contain(tree, path));
            if is_touched && !conflicts.iter().any(|known| known.path == conflict.path) {
                conflicts.push(conflict.clone());
            }
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
        let mut steps = swap::inverse(&commit.steps);
        match on_conflict {
            OnConflict::Refuse => {
                let conflicts = self.changed_since(&commit)?;
                if !conflicts.is_empty() {
                    return Err(Error::Conflicts(conflicts));
                }
            }
            OnConflict::Overwrite => self.adapt(&mut steps)?,
        }
        self.keep_conflicts(&mut result, &Selection::none())?;
        self.unmount()?;
        result.is_committed = false;
        let count = count_paths(&steps);
        self.carry_out(Direction::Undo, commit.number, steps, result)?;
        Ok(count)
    }

    /// Remembers the present conflicts in what is not `committed` now, and in earlier commits. Afterwards their times say nothing
    /// any more, because this commit or undo changes times too.
    fn keep_conflicts(&self, result: &mut Record, committed: &Selection) -> Result<(), Error> {
        result.conflicts = match committed.is_all() {
            true => Vec::new(),
            false => self.plan(&Selection::all())?.1,
        };
        result.conflicts.retain(|conflict| !self.is_selected(committed, conflict));
        for commit in &mut result.commits {
            commit.conflicts = self.changed_since(commit)?;
        }
        Ok(())
    }

    fn is_selected(&self, selection: &Selection, conflict: &Conflict) -> bool {
        self.relative(&conflict.path)
            .is_some_and(|(tree, path)| selection.includes(&self.record.trees[tree].path, path))
    }

    /// Lets steps of an undo replace what is in the tree now, whatever it is.
    fn adapt(&self, steps: &mut [Step]) -> Result<(), Error> {
        for step in steps {
            let present = self.present(step)?;
            if let Action::Swap { outgoing, was_opaque, .. } = &mut step.action {
                *outgoing = present.map(|node| node.inode);
                *was_opaque &= present.is_some_and(|node| node.is_dir());
            }
        }
        Ok(())
    }

    /// Returns the object in the tree at the path of a step.
    fn present(&self, step: &Step) -> Result<Option<Node>, Error> {
        let tree = &self.trees[step.tree];
        let Ok((folder, name)) = tree.root.parent_of_or_self(&step.path) else { return Ok(None) };
        let path = self.record.trees[step.tree].path.join(&step.path);
        folder.node(name).map_err(Error::file("read", &path))
    }

    /// Committed paths that are no longer what the commit made of them.
    fn changed_since(&self, commit: &CommitRecord) -> Result<Vec<Conflict>, Error> {
        let mut conflicts = commit.conflicts.clone();
        for step in &commit.steps {
            let path = self.record.trees[step.tree].path.join(&step.path);
            if conflicts.iter().any(|known| known.path == path) {
                continue;
            }
            let kind = self.step_conflict(step).map_err(Error::file("read", &path))?;
            conflicts.extend(kind.map(|kind| Conflict { path, kind }));
        }
        Ok(conflicts)
    }

    /// How the path of a committed step has changed since.
    fn step_conflict(&self, step: &Step) -> io::Result<Option<ConflictKind>> {
        let Ok((folder, name)) = self.trees[step.tree].root.parent_of_or_self(&step.path) else {
            return Ok(Some(ConflictKind::Removed));
        };
        let node = folder.node(name)?;
        let expected = match &step.action {
            Action::Swap { incoming, moves_in, .. } => incoming.filter(|_| *moves_in),
            Action::Attributes { after, .. } => {
                let Some(node) = node else { return Ok(Some(ConflictKind::Removed)) };
                let differs = !folder.attributes(name, &node)?.are_equal_but_for_time(after);
                return Ok(differs.then_some(ConflictKind::Changed));
            }
            Action::CreateFolder { .. } | Action::RemoveFolder { .. } => return Ok(None),
        };
        Ok(match (node, expected) {
            (None, None) => None,
            (None, Some(_)) => Some(ConflictKind::Removed),
            (Some(_), None) => Some(ConflictKind::Created),
            (Some(node), Some(inode)) if node.inode == inode => {
                let opened = self.record.trees[step.tree].opened;
                changes::has_changed_since(&folder, name, &node, opened)?.then_some(ConflictKind::Changed)
            }
            (Some(_), Some(_)) => Some(ConflictKind::Changed),
        })
    }

    fn carry_out(
        &mut self,
        direction: Direction,
        number: u32,
        steps: Vec<Step>,
        result: Record,
    ) -> Result<(), Error> {
        let mut journal = Journal { direction, number, phase: Phase::Staging, steps, result };
        let stages = needs_staging(&self.trees, direction, &journal.steps);
        if stages {
            create_json(&self.directory, JOURNAL, &journal)?;
        }
        let engine = match self.engine(&journal) {
            Ok(engine) => engine,
            // Nothing was moved yet.
            Err(error) => return self.remove_journal().and(Err(error)),
        };
        if let Err(error) = engine.stage(&mut journal.steps) {
            self.roll_back(&engine, &journal)?;
            return Err(self.step_error("stage the changes of", error));
        }
        journal.phase = Phase::Applying;
        let write = if stages { write_json } else { create_json };
        if let Err(error) = write(&self.directory, JOURNAL, &journal) {
            self.roll_back(&engine, &Journal { phase: Phase::Staging, ..journal })?;
            return Err(error);
        }
        if let Err((step, error)) = engine.apply(&journal.steps, Attempt::First) {
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
        // A commit that only renames leaves everything where applying looks for it.
        if journal.direction == Direction::Undo || self.trees.iter().any(|tree| !tree.same_device) {
            journal.phase = Phase::Settling;
            write_json(&self.directory, JOURNAL, &journal)?;
        }
        engine.settle(&journal.steps).map_err(|error| self.step_error("complete the changes of", error))?;
        self.forget_base(&journal.steps);
        let mut record = journal.result;
        if journal.direction == Direction::Commit {
            let (number, steps) = (journal.number, journal.steps);
            record.commits.push(CommitRecord { number, time: seconds_now(), steps, conflicts: Vec::new() });
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
        // If the machine crashes, the journal is still there unless the record is.
        let write = if self.is_ordered() { replace_json } else { write_json };
        write(&self.directory, RECORD, &record)?;
        self.remove_journal()?;
        Ok(record)
    }

    /// Completes or rolls back what a crash interrupted.
    pub(crate) fn repair(&mut self) -> Result<(), Error> {
        let Some(journal) = read_journal(&self.directory)? else { return self.remove_journal() };
        let engine = self.engine(&journal)?;
        if journal.phase == Phase::Staging {
            return self.roll_back(&engine, &journal);
        }
        // Once objects are settled, they are no longer where applying looks for them.
        if journal.phase == Phase::Applying
            && let Err((step, error)) = engine.apply(&journal.steps, Attempt::Repeated)
        {
            let path = self.record.trees[step.tree].path.join(&step.path);
            return Err(Error::file("change", &path)(error));
        }
        let record = self.finish(&engine, journal)?;
        drop(engine);
        self.record = record;
        Ok(())
    }

    /// Forgets what the tree had at the paths that have just changed.
    fn forget_base(&self, steps: &[Step]) {
        let touched = TouchedPaths::new(steps);
        for (index, tree) in self.record.trees.iter().enumerate() {
            let mut base = Base::read(&tree.data);
            base.retain(|path| !touched.contain(index, path));
            base.write(&tree.data);
        }
    }

    /// Whether the overlay's directory is on a file system that makes changes permanent in their order.
    fn is_ordered(&self) -> bool {
        self.trees.first().is_some_and(|tree| is_ordered(&tree.data))
    }

    fn remove_journal(&self) -> Result<(), Error> {
        let path = self.directory.join(JOURNAL);
        match std::fs::remove_file(&path) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => Err(Error::file("remove", &path)(error)),
            _ => Ok(()),
        }
    }

    fn step_error(&self, doing: &'static str, error: std::io::Error) -> Error {
        let path = self.record.trees.first().map(|tree| tree.path.clone()).unwrap_or_default();
        Error::File { doing, path, source: error }
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
