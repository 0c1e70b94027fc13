//! Checks that decide whether GNU's program must run instead of a command.

use std::ffi::OsStr;
use std::io::Read as _;
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Path, PathBuf};

use haft_fs::OpenOptions;
use haft_kernel::{Bytes, Session};

/// The largest file that is read to decide.
const MAX_FILE_BYTES: u64 = 64 << 10;

/// The content of a small regular file, which can be read again. `None` if it is anything else.
pub(crate) fn small_file(session: &Session, name: &[u8]) -> Option<Vec<u8>> {
    let path = absolute(session, name)?;
    let metadata = session.files().metadata(&path).ok()?;
    if name == b"-" || !metadata.is_file() || metadata.size > MAX_FILE_BYTES {
        return None;
    }
    let mut file = session.files().open(&path, &OpenOptions::new().read(true)).ok()?;
    let mut content = Vec::new();
    file.read_to_end(&mut content).ok()?;
    Some(content)
}

/// Whether one of the directories, or the working directory if there are none, is the root. It has files that belong to the process
/// that opens them.
pub(crate) fn walks_root(session: &Session, names: &[Bytes]) -> bool {
    let is_root = |name: &[u8]| {
        let path = absolute(session, name).unwrap_or_default();
        session.files().canonicalize(&path).is_ok_and(|path| path == Path::new("/"))
    };
    match names {
        [] => is_root(b"."),
        names => names.iter().any(|name| is_root(name)),
    }
}

/// Whether a file has extended attributes, such as an access control list. `true` if that is not known.
pub(crate) fn has_attributes(session: &Session, name: &[u8]) -> bool {
    let real = absolute(session, name).and_then(|path| session.files().real_path(&path));
    let Some(real) = real else { return true };
    let none: &mut [u8] = &mut [];
    match rustix::fs::llistxattr(&real, none) {
        Ok(length) => length > 0,
        Err(rustix::io::Errno::NOTSUP) => false,
        Err(_) => true,
    }
}

/// Whether an access control list gives new files in the directory of a name their permissions. `true` if that is not known.
pub(crate) fn has_default_acl(session: &Session, name: &[u8]) -> bool {
    const DEFAULT_ACL: &str = "system.posix_acl_default";
    let Some(path) = absolute(session, name) else { return true };
    let exists = |path: &&Path| session.files().exists(path);
    let directory = path.ancestors().skip(1).find(exists).and_then(|path| session.files().real_path(path));
    let Some(directory) = directory else { return true };
    let none: &mut [u8] = &mut [];
    match rustix::fs::getxattr(&directory, DEFAULT_ACL, none) {
        Err(rustix::io::Errno::NODATA | rustix::io::Errno::NOTSUP) => false,
        Ok(_) | Err(_) => true,
    }
}

/// Whether a variable is not set, or programs see it too.
pub(crate) fn is_same_in_programs(session: &mut Session, name: &str) -> bool {
    let Some(value) = session.value(name.as_bytes()) else { return true };
    let environment = session.environment();
    environment.iter().any(|(known, exported)| *known == *name && exported.as_bytes() == &*value)
}

/// Whether names of users or groups come from `/etc/passwd` and `/etc/group` before any other source. `database` is the name in
/// `/etc/nsswitch.conf`.
pub(crate) fn names_come_from_files(session: &Session, database: &str) -> bool {
    let Some(content) = small_file(session, b"/etc/nsswitch.conf") else {
        return !session.files().exists(Path::new("/etc/nsswitch.conf"));
    };
    let content = String::from_utf8_lossy(&content);
    let line = content.lines().find_map(|line| line.trim_start().strip_prefix(database)?.strip_prefix(':'));
    line.is_none_or(|sources| sources.split_whitespace().next() == Some("files"))
}

/// The absolute path of a name. `None` if the name is empty.
pub(crate) fn absolute(session: &Session, name: &[u8]) -> Option<PathBuf> {
    (!name.is_empty()).then(|| PathBuf::from(OsStr::from_bytes(&session.resolve(name))))
}
