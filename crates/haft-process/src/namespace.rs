//! Mount namespaces in which directories are overlaid.

use std::ffi::CString;
use std::io;
use std::os::fd::{AsFd as _, AsRawFd as _, BorrowedFd, OwnedFd};
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Path, PathBuf};

use crate::error::{Error, ErrorKind, reason};
use crate::sys::{self, IdMaps, NamespaceDescriptors, NamespaceFailure, NamespaceStep, OverlayPaths};

/// A directory and where its changes go. All paths are absolute.
#[derive(Clone, Debug)]
pub struct OverlayMount {
    /// The directory, over which the overlay is mounted.
    pub tree: PathBuf,
    /// The directory that receives the changes. It is on a file system that has extended attributes, outside of the tree.
    pub upper: PathBuf,
    /// An empty directory on the same file system as `upper`. It must be new for every mount.
    pub work: PathBuf,
}

/// A mount namespace, and the user namespace that owns it if this process may not mount file systems.
///
/// In the namespace, overlayfs is mounted over some directories: programs see and change them as usual, and the directories
/// of the machine stay as they are. The namespace exists as long as this value or a process in it; no helper process stays
/// behind.
#[derive(Debug)]
pub struct Namespaces {
    descriptors: NamespaceDescriptors,
    /// Open as long as the namespaces exist.
    _guard: Option<OwnedFd>,
}

impl Namespaces {
    /// Creates namespaces with overlays.
    ///
    /// # Errors
    /// If the system does not allow namespaces, or refuses an overlay.
    pub fn with_overlays(mounts: &[OverlayMount]) -> Result<Namespaces, Error> {
        let overlays = mounts.iter().map(overlay_paths).collect::<Result<Vec<_>, _>>()?;
        let descriptors = match sys::create_namespaces(&overlays, None) {
            Err((NamespaceStep::Create, error)) if error.raw_os_error() == Some(libc::EPERM) => {
                sys::create_namespaces(&overlays, Some(&own_ids()))
            }
            created => created,
        };
        let descriptors = descriptors.map_err(|failure| explain(failure, mounts))?;
        Ok(Namespaces { descriptors, _guard: None })
    }

    /// Keeps a descriptor open as long as this value exists, such as a locked file.
    #[must_use]
    pub fn guarded_by(self, guard: OwnedFd) -> Namespaces {
        Namespaces { _guard: Some(guard), ..self }
    }

    /// Whether there is a user namespace, because this process may not mount file systems.
    pub fn has_user_namespace(&self) -> bool {
        self.descriptors.user.is_some()
    }

    /// The root directory of the mount namespace.
    pub fn root(&self) -> BorrowedFd<'_> {
        self.descriptors.root.as_fd()
    }

    /// Moves this process into the namespaces and to `directory`.
    ///
    /// # Errors
    /// If the process has several threads, or the directory does not exist in the namespace.
    pub fn enter(&self, directory: &Path) -> io::Result<()> {
        let join = self.join_plan();
        sys::join_namespaces(join.user, join.mount)?;
        Ok(rustix::process::chdir(directory)?)
    }

    pub(crate) fn join_plan(&self) -> sys::NamespaceJoin {
        sys::NamespaceJoin {
            user: self.descriptors.user.as_ref().map(|user| user.as_raw_fd()),
            mount: self.descriptors.mount.as_raw_fd(),
        }
    }
}

fn overlay_paths(mount: &OverlayMount) -> Result<OverlayPaths, Error> {
    let text = |path: &Path| {
        CString::new(path.as_os_str().as_bytes())
            .map_err(|_| Error::new(ErrorKind::NulByte, "the path of an overlay contains a NUL byte"))
    };
    Ok(OverlayPaths { tree: text(&mount.tree)?, upper: text(&mount.upper)?, work: text(&mount.work)? })
}

/// Maps the effective user and group to themselves.
pub(crate) fn own_ids() -> IdMaps {
    let user = rustix::process::geteuid().as_raw();
    let group = rustix::process::getegid().as_raw();
    IdMaps {
        users: format!("{user} {user} 1").into_bytes(),
        groups: format!("{group} {group} 1").into_bytes(),
    }
}

fn explain((step, error): NamespaceFailure, mounts: &[OverlayMount]) -> Error {
    let why = match (step, error.raw_os_error()) {
        (NamespaceStep::Create, Some(libc::ENOSPC)) => "no more namespaces are allowed".to_owned(),
        _ => reason(&error),
    };
    let message = match step {
        NamespaceStep::Create => format!("cannot create a mount namespace: {why}"),
        NamespaceStep::MapIds => format!("cannot map the user in a new user namespace: {why}"),
        NamespaceStep::Detach => format!("cannot make the mounts of the new namespace private: {why}"),
        NamespaceStep::Open => format!("cannot open the new namespace: {why}"),
        NamespaceStep::Mount(index) => match mounts.get(index) {
            Some(mount) => format!("cannot mount an overlay over '{}': {why}", mount.tree.display()),
            None => format!("cannot mount an overlay: {why}"),
        },
    };
    let hint = match step {
        NamespaceStep::Create | NamespaceStep::MapIds => {
            "unprivileged user namespaces may be disabled: see sysctl user.max_user_namespaces and kernel.apparmor_restrict_unprivileged_userns"
        }
        _ => {
            "overlayfs needs a directory with extended attributes for the changes, on a file system other than overlayfs"
        }
    };
    Error::new(ErrorKind::Namespace, message).with_hint(hint).with_source(error)
}
