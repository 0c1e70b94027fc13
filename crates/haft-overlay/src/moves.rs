//! Moves of single objects, from which the engine builds its steps.

use std::ffi::OsStr;
use std::io;

use rustix::fs::{AtFlags, Mode, RenameFlags};
use rustix::io::Errno;

use crate::copy::{copy_tree, remove_tree, rename};
use crate::node::{Attributes, Folder, Node};

/// Opens a directory; creates it if necessary.
pub(crate) fn create_folder(parent: &Folder, name: &OsStr) -> io::Result<Folder> {
    match rustix::fs::mkdirat(parent, name, Mode::from_raw_mode(0o700)) {
        Ok(()) | Err(Errno::EXIST) => parent.open(name.as_ref()),
        Err(error) => Err(error.into()),
    }
}

pub(crate) fn create_with(folder: &Folder, name: &OsStr, attributes: &Attributes) -> io::Result<()> {
    create_folder(folder, name)?;
    folder.apply(name, attributes, false)
}

pub(crate) fn remove_empty(folder: &Folder, name: &OsStr) -> io::Result<()> {
    match rustix::fs::unlinkat(folder, name, AtFlags::REMOVEDIR) {
        Ok(()) | Err(Errno::NOENT | Errno::NOTEMPTY) => Ok(()),
        Err(error) => Err(error.into()),
    }
}

/// Moves an object into the upper layer. An object that the overlay has there already was made after the commit and stays.
pub(crate) fn put_back(from: (&Folder, &OsStr), to: (&Folder, &OsStr)) -> io::Result<()> {
    let Some(later) = to.0.node(to.1)? else { return move_across(from, to) };
    let is_folder = from.0.node(from.1)?.is_some_and(|node| node.is_dir());
    if is_folder && later.is_dir() && !to.0.is_opaque(to.1) {
        let (inner, outer) = (from.0.open(from.1.as_ref())?, to.0.open(to.1.as_ref())?);
        for name in inner.names()? {
            put_back((&inner, &name), (&outer, &name))?;
        }
    }
    remove_tree(from.0, from.1)
}

/// Moves an object, by copying if it goes to another file system. An incomplete earlier copy is replaced.
pub(crate) fn move_across(from: (&Folder, &OsStr), to: (&Folder, &OsStr)) -> io::Result<()> {
    match rename(from, to, RenameFlags::NOREPLACE) {
        Err(error) if error.raw_os_error() == Some(Errno::XDEV.raw_os_error()) => {}
        result => return result,
    }
    let mut temporary = to.1.to_owned();
    temporary.push(".haft-new");
    remove_tree(to.0, &temporary)?;
    copy_tree(from, (to.0, &temporary))?;
    remove_tree(to.0, to.1)?;
    rename((to.0, &temporary), to, RenameFlags::NOREPLACE)?;
    remove_tree(from.0, from.1)
}

/// Removes the attributes of overlayfs from an entry and everything below it.
pub(crate) fn strip_tree(folder: &Folder, name: &OsStr, node: &Node) -> io::Result<()> {
    match folder.strip(name) {
        // Without write permission the owner cannot change attributes either.
        Err(error) if error.kind() == io::ErrorKind::PermissionDenied => {
            rustix::fs::chmodat(folder, name, Mode::from_raw_mode(node.mode | 0o200), AtFlags::empty())?;
            folder.strip(name)?;
            rustix::fs::chmodat(folder, name, Mode::from_raw_mode(node.mode), AtFlags::empty())?;
        }
        result => result?,
    }
    if node.is_dir() {
        let inner = folder.open(name.as_ref())?;
        for name in inner.names()? {
            if let Some(node) = inner.node(&name)? {
                strip_tree(&inner, &name, &node)?;
            }
        }
    }
    Ok(())
}
