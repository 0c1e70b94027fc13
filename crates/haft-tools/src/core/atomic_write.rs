//! Atomic replacement of files.

use std::fs::{Metadata, Permissions};
use std::io::{self, Write as _};
use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _};
use std::path::{Path, PathBuf};

/// Replaces the content of a file atomically. Returns true if the file did not exist. An existing file keeps
/// its mode and owner, a new one gets the default mode, and a symbolic link stays a link.
///
/// The content is not flushed to the disk. Readers see the old or the new file, never a part of it.
pub(super) fn write_atomically(path: &Path, content: &[u8]) -> io::Result<bool> {
    let old = path.symlink_metadata();
    if old.as_ref().is_ok_and(Metadata::is_symlink) {
        let target = link_target(path)?;
        let old = target.metadata().ok();
        return replace_file(&target, content, old.as_ref());
    }
    replace_file(path, content, old.ok().as_ref())
}

/// The target of a symbolic link, whether it exists or not.
fn link_target(link: &Path) -> io::Result<PathBuf> {
    match link.canonicalize() {
        Ok(target) => Ok(target),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(parent(link).join(link.read_link()?)),
        Err(error) => Err(error),
    }
}

fn replace_file(target: &Path, content: &[u8], old: Option<&Metadata>) -> io::Result<bool> {
    if old.is_some_and(|old| !old.is_file()) {
        return Err(io::Error::new(io::ErrorKind::InvalidInput, "not a regular file"));
    }
    let mode = old.map_or(0o666, |old| old.permissions().mode() & 0o7777);
    let mut file = tempfile::Builder::new()
        .prefix(".haft-")
        .permissions(Permissions::from_mode(mode & 0o777))
        .tempfile_in(parent(target))?;
    file.write_all(content)?;
    if let Some(old) = old {
        copy_ownership(file.as_file(), old)?;
    }
    file.persist(target)?;
    Ok(old.is_none())
}

/// Copies mode and owner of the old file. Only root can change the owner.
fn copy_ownership(file: &std::fs::File, old: &Metadata) -> io::Result<()> {
    let new = file.metadata()?;
    if (new.uid(), new.gid()) != (old.uid(), old.gid()) {
        let _ = std::os::unix::fs::fchown(file, Some(old.uid()), Some(old.gid()));
    }
    if new.mode() != old.mode() {
        file.set_permissions(Permissions::from_mode(old.mode() & 0o7777))?;
    }
    Ok(())
}

fn parent(path: &Path) -> &Path {
    path.parent().filter(|parent| !parent.as_os_str().is_empty()).unwrap_or(Path::new("."))
}
