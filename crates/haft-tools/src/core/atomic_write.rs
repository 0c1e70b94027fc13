//! Replacing a file as a whole, so that nobody ever sees half of it.

use std::fs::{Metadata, Permissions};
use std::io::{self, Write as _};
use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _};
use std::path::{Path, PathBuf};

/// Gives a file new content; says whether there was none before. Its mode and owner stay; where there was none, the usual
/// mode is taken. A link stays a link.
///
/// The content is on its way to the disk when this returns, not there: whoever looks sees the new or the old file whole, and
/// what a power failure does to it, it does to every file that was just written.
pub(super) fn replace(path: &Path, content: &[u8]) -> io::Result<bool> {
    let old = path.symlink_metadata();
    if old.as_ref().is_ok_and(Metadata::is_symlink) {
        let target = behind(path)?;
        let old = target.metadata().ok();
        return put(&target, content, old.as_ref());
    }
    put(path, content, old.ok().as_ref())
}

/// Where a link leads, there or not.
fn behind(link: &Path) -> io::Result<PathBuf> {
    match link.canonicalize() {
        Ok(target) => Ok(target),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(parent(link).join(link.read_link()?)),
        Err(error) => Err(error),
    }
}

fn put(target: &Path, content: &[u8], old: Option<&Metadata>) -> io::Result<bool> {
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
        keep(file.as_file(), old)?;
    }
    file.persist(target)?;
    Ok(old.is_none())
}

/// Makes a new file what the old one was to everybody. To whom it belongs only the superuser can say.
fn keep(file: &std::fs::File, old: &Metadata) -> io::Result<()> {
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
