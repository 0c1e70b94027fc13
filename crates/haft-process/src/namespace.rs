//! Mount namespaces in which directories are overlaid.

use std::ffi::CString;
use std::io;
use std::os::fd::{AsFd as _, AsRawFd as _, BorrowedFd, OwnedFd, RawFd};
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Component, Path, PathBuf};

use crate::error::{Error, ErrorKind, reason};
use crate::network::PrivateNetwork;
use crate::sys::{
    self, IdMaps, MountPlan, NamespaceDescriptors, NamespaceFailure, NamespaceOwner, NamespaceStep,
    OverlayPaths,
};

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

/// Files and directories that stay as they are in directories that may change.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ProtectedPaths {
    /// Directories that can neither be renamed nor removed: those around the protected paths, the outer ones first.
    pub pinned: Vec<PathBuf>,
    /// Files and directories that cannot change at all.
    pub read_only: Vec<PathBuf>,
}

/// A mount namespace, and the user namespace that owns it if this process may not mount file systems.
///
/// In the namespace, overlayfs is mounted over some directories: programs see and change them as usual, and the directories
/// of the machine stay as they are. The namespace exists as long as this value or a process in it; no helper process stays
/// behind.
#[derive(Debug)]
pub struct Namespaces {
    descriptors: NamespaceDescriptors,
    /// The paths that are read-only.
    read_only: Vec<PathBuf>,
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
        let plan = MountPlan { overlays, ..MountPlan::default() };
        Namespaces::create(&plan, None).map_err(|failure| explain(failure, mounts))
    }

    /// Creates namespaces in which some paths are read-only, although programs may change the directories around them. Nothing
    /// changes in these directories. The paths must be absolute, without symbolic links. Programs can also join the `network`.
    ///
    /// # Errors
    /// If the system does not allow namespaces, or a path does not exist.
    pub fn with_protected_paths(
        paths: &ProtectedPaths,
        network: Option<&PrivateNetwork>,
    ) -> Result<Namespaces, Error> {
        let all = |paths: &[PathBuf]| paths.iter().map(|path| c_path(path)).collect::<Result<_, _>>();
        let (pinned, read_only) = (all(&paths.pinned)?, all(&paths.read_only)?);
        let plan = MountPlan { pinned, read_only, ..MountPlan::default() };
        let owner = network.and_then(PrivateNetwork::owner);
        let created = Namespaces::create(&plan, owner).map_err(|failure| explain(failure, &[]))?;
        Ok(Namespaces { read_only: paths.read_only.clone(), ..created })
    }

    /// Whether a path leads to a [protected path](Namespaces::with_protected_paths), or would lead there once it exists.
    pub(crate) fn protects(&self, path: &Path) -> bool {
        const MAX_LINKS: usize = 40;
        let mut path = path.to_owned();
        for _ in 0..MAX_LINKS {
            let Ok(target) = path.read_link() else { break };
            path = path.parent().unwrap_or(Path::new("/")).join(target);
        }
        let resolved = |ancestor: &Path| {
            let real = ancestor.canonicalize().ok()?;
            Some(path.strip_prefix(ancestor).ok()?.components().fold(real, followed))
        };
        let real = path.ancestors().find_map(resolved).unwrap_or_default();
        self.read_only.iter().any(|protected| real.starts_with(protected))
    }

    /// Moves the calling thread into the mount namespace, where that is possible: a process with several threads cannot join a
    /// user namespace.
    ///
    /// # Errors
    /// If the system refuses it.
    pub(crate) fn enter_in_thread(&self) -> io::Result<()> {
        match self.has_user_namespace() {
            true => Ok(()),
            false => sys::join_in_thread(self.descriptors.mount.as_raw_fd()),
        }
    }

    /// Creates namespaces. The mount namespace belongs to an existing user namespace, or that of this process, or a new one.
    fn create(plan: &MountPlan, owner: Option<RawFd>) -> Result<Namespaces, NamespaceFailure> {
        let owner = owner.map_or(NamespaceOwner::Own, NamespaceOwner::Existing);
        let descriptors = match sys::create_namespaces(plan, owner) {
            Err((NamespaceStep::Create, error)) if error.raw_os_error() == Some(libc::EPERM) => {
                sys::create_namespaces(plan, NamespaceOwner::New(&own_ids()))
            }
            created => created,
        };
        Ok(Namespaces { descriptors: descriptors?, read_only: Vec::new(), _guard: None })
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
    Ok(OverlayPaths { tree: c_path(&mount.tree)?, upper: c_path(&mount.upper)?, work: c_path(&mount.work)? })
}

/// A path after one more component.
fn followed(mut path: PathBuf, component: Component<'_>) -> PathBuf {
    match component {
        Component::ParentDir => drop(path.pop()),
        component => path.push(component),
    }
    path
}

fn c_path(path: &Path) -> Result<CString, Error> {
    CString::new(path.as_os_str().as_bytes())
        .map_err(|_| Error::new(ErrorKind::NulByte, "the path of a mount contains a NUL byte"))
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
        NamespaceStep::Protect => format!("cannot make a path read-only: {why}"),
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
