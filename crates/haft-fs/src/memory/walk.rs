//! Resolving a path to a node.

use std::ffi::OsString;
use std::io;
use std::path::Path;

use rustix::io::Errno;

use super::state::{MemoryTree, NodeContent, ROOT_INODE};
use crate::AccessMode;
use crate::error::{fail, system};
use crate::path::{MAX_SYMLINKS, PathStep, push_target, requires_directory, steps};

/// Whether to follow a symbolic link at the end of a path.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum LastLink {
    Follow,
    Keep,
}

/// A resolved path: an existing directory, a name in it, and the node of that name, if it exists.
#[derive(Debug)]
pub(super) struct ResolvedPath {
    pub(super) parent: u64,
    /// Empty if the path is the root, or ends in `..`.
    pub(super) name: OsString,
    pub(super) node: Option<u64>,
    /// The parent directories, root first.
    pub(super) ancestors: Vec<u64>,
    /// The names of all components.
    pub(super) names: Vec<OsString>,
}

/// Returns the node at a path.
pub(super) fn find(state: &MemoryTree, path: &Path, last: LastLink) -> io::Result<u64> {
    walk(state, path, last)?.node.ok_or_else(|| system(Errno::NOENT))
}

/// Resolves a path. All components except the last must exist.
pub(super) fn walk(state: &MemoryTree, path: &Path, last: LastLink) -> io::Result<ResolvedPath> {
    let follow = last == LastLink::Follow || requires_directory(path);
    let mut rest = steps(path);
    let mut nodes = vec![ROOT_INODE];
    let mut names: Vec<OsString> = Vec::new();
    let mut links = 0;
    let mut named = false;
    while let Some(step) = rest.pop_front() {
        let current = nodes.last().copied().unwrap_or(ROOT_INODE);
        let children = state.children(current)?;
        state.require(current, AccessMode::EXECUTE)?;
        let PathStep::Name(name) = step else {
            nodes.truncate(nodes.len().saturating_sub(1).max(1));
            names.pop();
            named = false;
            continue;
        };
        let child = children.get(&name).copied();
        let Some(child) = child else {
            return if rest.is_empty() { Ok(missing(nodes, names, name)) } else { fail(Errno::NOENT) };
        };
        if let NodeContent::Symlink(target) = state.content(child)?
            && (follow || !rest.is_empty())
        {
            links += 1;
            if links > MAX_SYMLINKS {
                return fail(Errno::LOOP);
            }
            if Path::new(target).is_absolute() {
                nodes.truncate(1);
                names.clear();
            }
            push_target(&mut rest, Path::new(target));
            named = false;
            continue;
        }
        nodes.push(child);
        names.push(name);
        named = true;
    }
    found(state, path, nodes, names, named)
}

fn missing(nodes: Vec<u64>, mut names: Vec<OsString>, name: OsString) -> ResolvedPath {
    let parent = nodes.last().copied().unwrap_or(ROOT_INODE);
    names.push(name.clone());
    ResolvedPath { parent, name, node: None, ancestors: nodes, names }
}

fn found(
    state: &MemoryTree,
    path: &Path,
    mut nodes: Vec<u64>,
    names: Vec<OsString>,
    named: bool,
) -> io::Result<ResolvedPath> {
    let node = if nodes.len() > 1 { nodes.pop().unwrap_or(ROOT_INODE) } else { ROOT_INODE };
    if requires_directory(path) {
        state.children(node)?;
    }
    let parent = nodes.last().copied().unwrap_or(ROOT_INODE);
    let name = if named { names.last().cloned().unwrap_or_default() } else { OsString::new() };
    Ok(ResolvedPath { parent, name, node: Some(node), ancestors: nodes, names })
}
