//! Replacing a file as a whole, so that nobody ever sees half of it.

use std::fs::{Metadata, Permissions};
use std::io::{self, Write as _};
use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _};
use std::path::{Path, PathBuf};

/// Gives a file new content. Its mode and owner stay; where there was none, the usual mode is taken. A link stays a link.
pub(super) fn replace(path: &Path, content: &[u8]) -> io::Result<()> {
    let target = path.canonicalize().unwrap_or_else(|_| path.to_path_buf());
    let old = target.metadata().ok();
    if old.as_ref().is_some_and(|old| !old.is_file()) {
        return Err(io::Error::other("not a regular file"));
    }
    let directory = parent(&target);
    let mode = old.as_ref().map_or(0o666, |old| old.permissions().mode() & 0o7777);
    let mut file = tempfile::Builder::new()
        .prefix(".haft-")
        .permissions(Permissions::from_mode(mode & 0o777))
        .tempfile_in(directory)?;
    file.write_all(content)?;
    if let Some(old) = &old {
        keep(file.as_file(), old)?;
    }
    file.persist(&target)?;
    Ok(())
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

fn parent(path: &Path) -> PathBuf {
    match path.parent() {
        Some(parent) if !parent.as_os_str().is_empty() => parent.to_path_buf(),
        _ => PathBuf::from("."),
    }
}
