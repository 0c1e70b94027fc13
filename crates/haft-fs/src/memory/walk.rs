//! From a path to a node.

use std::ffi::OsString;
use std::io;
use std::path::Path;

use rustix::io::Errno;

use super::state::{Content, ROOT, State};
use crate::Access;
use crate::error::{fail, system};
use crate::path::{LINK_LIMIT, Step, demands_directory, splice, steps};

/// What to do with a symbolic link at the end of a path.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Last {
    Follow,
    Keep,
}

/// Where a path leads: an existing directory, a name in it, and what has that name, if anything.
#[derive(Debug)]
pub(super) struct Place {
    pub(super) parent: u64,
    /// Empty if the path is the root, or ends in `..`.
    pub(super) name: OsString,
    pub(super) node: Option<u64>,
    /// The nodes on the way, the root first.
    pub(super) ancestors: Vec<u64>,
    /// Their names, without the root, and the last one's.
    pub(super) names: Vec<OsString>,
}

/// The node at a path.
pub(super) fn find(state: &State, path: &Path, last: Last) -> io::Result<u64> {
    walk(state, path, last)?.node.ok_or_else(|| system(Errno::NOENT))
}

/// Walks a path, of which everything but the last name must exist.
pub(super) fn walk(state: &State, path: &Path, last: Last) -> io::Result<Place> {
    let follow = last == Last::Follow || demands_directory(path);
    let mut rest = steps(path);
    let mut nodes = vec![ROOT];
    let mut names: Vec<OsString> = Vec::new();
    let mut links = 0;
    let mut named = false;
    while let Some(step) = rest.pop_front() {
        let current = nodes.last().copied().unwrap_or(ROOT);
        let children = state.children(current)?;
        state.require(current, Access::EXECUTE)?;
        let Step::Into(name) = step else {
            nodes.truncate(nodes.len().saturating_sub(1).max(1));
            names.pop();
            named = false;
            continue;
        };
        let child = children.get(&name).copied();
        let Some(child) = child else {
            return if rest.is_empty() { Ok(missing(nodes, names, name)) } else { fail(Errno::NOENT) };
        };
        if let Content::Symlink(target) = state.content(child)?
            && (follow || !rest.is_empty())
        {
            links += 1;
            if links > LINK_LIMIT {
                return fail(Errno::LOOP);
            }
            if Path::new(target).is_absolute() {
                nodes.truncate(1);
                names.clear();
            }
            splice(&mut rest, Path::new(target));
            named = false;
            continue;
        }
        nodes.push(child);
        names.push(name);
        named = true;
    }
    found(state, path, nodes, names, named)
}

fn missing(nodes: Vec<u64>, mut names: Vec<OsString>, name: OsString) -> Place {
    let parent = nodes.last().copied().unwrap_or(ROOT);
    names.push(name.clone());
    Place { parent, name, node: None, ancestors: nodes, names }
}

fn found(
    state: &State,
    path: &Path,
    mut nodes: Vec<u64>,
    names: Vec<OsString>,
    named: bool,
) -> io::Result<Place> {
    let node = if nodes.len() > 1 { nodes.pop().unwrap_or(ROOT) } else { ROOT };
    if demands_directory(path) {
        state.children(node)?;
    }
    let parent = nodes.last().copied().unwrap_or(ROOT);
    let name = if named { names.last().cloned().unwrap_or_default() } else { OsString::new() };
    Ok(Place { parent, name, node: Some(node), ancestors: nodes, names })
}
