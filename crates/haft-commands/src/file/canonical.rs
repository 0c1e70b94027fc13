//! Canonical paths, for `readlink -f`, `realpath` and `ln -r`.

use std::collections::VecDeque;
use std::ffi::OsString;
use std::io;
use std::os::unix::ffi::{OsStrExt as _, OsStringExt as _};
use std::path::{Component, Path, PathBuf};

use crate::text::streams::TextRun;

/// Maximum number of symbolic links in a path, as in the kernel.
const MAX_LINKS: usize = 40;

/// Which components may be missing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Missing {
    None,
    Last,
    Any,
}

/// Resolves the symbolic links, `.` and `..` of a name.
pub(crate) fn canonical(run: &TextRun<'_, '_>, name: &[u8], missing: Missing) -> io::Result<PathBuf> {
    if name.is_empty() {
        return Err(rustix::io::Errno::NOENT.into());
    }
    let path = run.path(name);
    let mut rest = components(&path);
    let mut resolved = PathBuf::from("/");
    let mut links = 0;
    let must_be_directory = name.ends_with(b"/") || name.ends_with(b"/.");
    while let Some(component) = rest.pop_front() {
        if component == ".." {
            resolved.pop();
            continue;
        }
        let next = resolved.join(&component);
        let metadata = match run.files().symlink_metadata(&next) {
            Ok(metadata) => metadata,
            Err(_) if missing == Missing::Any => {
                resolved = next;
                continue;
            }
            Err(error) if missing == Missing::Last && rest.is_empty() && is_absent(&error) => {
                resolved = next;
                continue;
            }
            Err(error) => return Err(error),
        };
        if metadata.is_symlink() {
            links += 1;
            if links > MAX_LINKS {
                if missing == Missing::Any {
                    resolved = next;
                    continue;
                }
                return Err(rustix::io::Errno::LOOP.into());
            }
            let target = run.files().read_link(&next)?;
            if target.is_absolute() {
                resolved = PathBuf::from("/");
            }
            for component in components(&target).into_iter().rev() {
                rest.push_front(component);
            }
            continue;
        }
        let needs_directory = !rest.is_empty() || must_be_directory;
        if needs_directory && !metadata.is_dir() && missing != Missing::Any {
            return Err(rustix::io::Errno::NOTDIR.into());
        }
        resolved = next;
    }
    Ok(resolved)
}

fn is_absent(error: &io::Error) -> bool {
    error.kind() == io::ErrorKind::NotFound
}

/// The names in a path, with `..`.
fn components(path: &Path) -> VecDeque<OsString> {
    path.components()
        .filter_map(|component| match component {
            Component::Normal(name) => Some(OsString::from_vec(name.as_bytes().to_vec())),
            Component::ParentDir => Some("..".into()),
            _ => None,
        })
        .collect()
}

/// Resolves `.` and `..` in a name without looking at files.
pub(crate) fn lexical(run: &TextRun<'_, '_>, name: &[u8]) -> PathBuf {
    let mut resolved = PathBuf::from("/");
    for component in components(&run.path(name)) {
        match component == ".." {
            true => drop(resolved.pop()),
            false => resolved.push(component),
        }
    }
    resolved
}

/// A path as seen from a directory. Both are absolute and canonical.
pub(crate) fn relative(path: &Path, directory: &Path) -> PathBuf {
    let (mut to, mut from) = (path.components().peekable(), directory.components().peekable());
    while let (Some(one), Some(other)) = (to.peek(), from.peek())
        && one == other
    {
        to.next();
        from.next();
    }
    let mut found = PathBuf::new();
    from.for_each(|_| found.push(".."));
    found.extend(to);
    if found.as_os_str().is_empty() { PathBuf::from(".") } else { found }
}
