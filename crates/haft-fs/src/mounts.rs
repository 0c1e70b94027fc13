//! Several file systems under one root.

use std::collections::BTreeSet;
use std::ffi::OsString;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use rustix::io::Errno;

use crate::error::fail;
use crate::metadata::BLOCK_SIZE;
use crate::path::{MAX_SYMLINKS, PathStep, push_target, require_absolute, requires_directory, steps};
use crate::{
    AccessMode, DirEntry, DirectoryEntries, File, FileSystem, FileTimes, FileType, Metadata, OpenOptions,
    Timestamp,
};

/// Several file systems under one root. The mount point with the longest prefix determines the file system.
///
/// The parent directories of a mount point always exist, even if the file system there does not have them. Symbolic links are
/// followed across mounts.
#[derive(Clone, Debug)]
pub struct Mounts {
    /// Longest mount point first, root last.
    mounts: Vec<MountEntry>,
}

#[derive(Clone, Debug)]
struct MountEntry {
    point: PathBuf,
    files: Arc<dyn FileSystem>,
    source: PathBuf,
    read_only: bool,
}

impl MountEntry {
    /// Fails with `EROFS` if nothing may be changed in this mount.
    fn require_writable(&self) -> io::Result<()> {
        if self.read_only { fail(Errno::ROFS) } else { Ok(()) }
    }
}

/// A path after all symbolic links were resolved.
struct MountTarget<'a> {
    /// The path in the namespace of the mounts.
    path: PathBuf,
    mount: &'a MountEntry,
    /// The path in the mounted file system. Ends in a slash if it must be a directory.
    inner: PathBuf,
}

impl Mounts {
    /// Makes a namespace with one file system at the root.
    #[must_use]
    pub fn new(root: Arc<dyn FileSystem>) -> Self {
        let root = MountEntry { point: "/".into(), files: root, source: "/".into(), read_only: false };
        Self { mounts: vec![root] }
    }

    /// Mounts the directory `source` of `files` at `point`, replacing an earlier mount at that point.
    #[must_use]
    pub fn mount(
        self,
        point: impl AsRef<Path>,
        files: Arc<dyn FileSystem>,
        source: impl AsRef<Path>,
    ) -> Self {
        self.add(point.as_ref(), files, source.as_ref(), false)
    }

    /// The same, and nothing can be changed there: writes fail with "Read-only file system".
    #[must_use]
    pub fn mount_read_only(
        self,
        point: impl AsRef<Path>,
        files: Arc<dyn FileSystem>,
        source: impl AsRef<Path>,
    ) -> Self {
        self.add(point.as_ref(), files, source.as_ref(), true)
    }

    fn add(mut self, point: &Path, files: Arc<dyn FileSystem>, source: &Path, read_only: bool) -> Self {
        let point = normalize(point);
        self.mounts.retain(|mount| mount.point != point);
        self.mounts.push(MountEntry { point, files, source: source.to_owned(), read_only });
        self.mounts.sort_by_key(|mount| std::cmp::Reverse(mount.point.components().count()));
        self
    }

    /// Returns the mount of a resolved path, and the path in it.
    fn owner(&self, path: &Path) -> io::Result<(&MountEntry, PathBuf)> {
        for mount in &self.mounts {
            if let Ok(rest) = path.strip_prefix(&mount.point) {
                let inner =
                    if rest.as_os_str().is_empty() { mount.source.clone() } else { mount.source.join(rest) };
                return Ok((mount, inner));
            }
        }
        fail(Errno::NOENT)
    }

    /// Resolves symbolic links. Follows one at the end of the path only if `follow` is set.
    fn resolve(&self, path: &Path, follow: bool) -> io::Result<MountTarget<'_>> {
        require_absolute(path)?;
        let directory = requires_directory(path);
        let mut rest = steps(path);
        let mut resolved = PathBuf::from("/");
        let mut links = 0;
        while let Some(step) = rest.pop_front() {
            let PathStep::Name(name) = step else {
                self.require_directory(&resolved)?;
                resolved.pop();
                continue;
            };
            let next = resolved.join(name);
            if (follow || directory || !rest.is_empty())
                && let Some(target) = self.link_target(&next)
            {
                links += 1;
                if links > MAX_SYMLINKS {
                    return fail(Errno::LOOP);
                }
                if target.is_absolute() {
                    resolved = PathBuf::from("/");
                }
                push_target(&mut rest, &target);
                continue;
            }
            resolved = next;
        }
        let (mount, mut inner) = self.owner(&resolved)?;
        if directory && resolved.as_os_str() != "/" {
            inner.push("");
        }
        Ok(MountTarget { path: resolved, mount, inner })
    }

    fn require_directory(&self, resolved: &Path) -> io::Result<()> {
        let (mount, inner) = self.owner(resolved)?;
        match mount.files.metadata(&inner) {
            Ok(metadata) if !metadata.is_dir() => fail(Errno::NOTDIR),
            Err(error) if !self.leads_to_mount(resolved) => Err(error),
            _ => Ok(()),
        }
    }

    /// Returns the target of a symbolic link. A mount point is never a link, whatever it covers.
    fn link_target(&self, path: &Path) -> Option<PathBuf> {
        let (mount, inner) = self.owner(path).ok()?;
        if mount.point == path {
            return None;
        }
        mount.files.read_link(&inner).ok()
    }

    /// Whether there is a mount point below this path.
    fn leads_to_mount(&self, path: &Path) -> bool {
        self.mounts.iter().any(|mount| mount.point != path && mount.point.starts_with(path))
    }

    fn is_busy(&self, path: &Path) -> bool {
        self.mounts.iter().any(|mount| mount.point.starts_with(path))
    }

    /// Resolves the path of a file that is created. Fails with `EEXIST` at a mount point and above.
    fn resolve_new(&self, path: &Path) -> io::Result<MountTarget<'_>> {
        let target = self.resolve(path, false)?;
        if self.is_busy(&target.path) {
            return fail(Errno::EXIST);
        }
        if target.mount.read_only && target.mount.files.symlink_metadata(&target.inner).is_ok() {
            return fail(Errno::EXIST);
        }
        target.mount.require_writable()?;
        Ok(target)
    }

    /// Resolves the path of a file that is removed or moved. Fails with `EBUSY` at a mount point and above.
    fn resolve_old(&self, path: &Path) -> io::Result<MountTarget<'_>> {
        let target = self.resolve(path, false)?;
        if self.is_busy(&target.path) {
            return fail(Errno::BUSY);
        }
        Ok(target)
    }

    /// Resolves the path of an existing file that is changed.
    fn resolve_changed(&self, path: &Path, follow: bool) -> io::Result<MountTarget<'_>> {
        let target = self.resolve(path, follow)?;
        if target.mount.read_only {
            self.metadata_of(&target, follow)?;
        }
        target.mount.require_writable()?;
        Ok(target)
    }

    /// Returns the metadata of a file, or of a directory that exists only because a mount point is below it.
    fn metadata_of(&self, target: &MountTarget<'_>, follow: bool) -> io::Result<Metadata> {
        let files = &target.mount.files;
        let metadata =
            if follow { files.metadata(&target.inner) } else { files.symlink_metadata(&target.inner) };
        match metadata {
            Err(error) if error.kind() == io::ErrorKind::NotFound && self.leads_to_mount(&target.path) => {
                Ok(mount_parent_metadata(&target.path))
            }
            other => other,
        }
    }

    /// Opens a file for writing where nothing may be changed. Devices may be written.
    fn open_read_only(&self, target: &MountTarget<'_>, options: &OpenOptions) -> io::Result<File> {
        match target.mount.files.metadata(&target.inner) {
            Ok(_) if options.create_new => fail(Errno::EXIST),
            Ok(metadata) if metadata.is_dir() && options.writes() => fail(Errno::ISDIR),
            Ok(_) if !options.writes() => {
                target.mount.files.open(&target.inner, &options.create(false).truncate(false))
            }
            Ok(metadata) if metadata.kind == FileType::CharacterDevice => {
                target.mount.files.open(&target.inner, options)
            }
            Err(error) if !options.creates() => Err(error),
            _ => fail(Errno::ROFS),
        }
    }

    /// Returns the names of mount points, and of their parent directories, in a directory.
    fn mounted_names(&self, path: &Path) -> BTreeSet<OsString> {
        self.mounts
            .iter()
            .filter_map(|mount| mount.point.strip_prefix(path).ok()?.components().next())
            .map(|component| component.as_os_str().to_owned())
            .collect()
    }
}

impl FileSystem for Mounts {
    fn open(&self, path: &Path, options: &OpenOptions) -> io::Result<File> {
        let target = self.resolve(path, !options.create_new)?;
        if target.mount.read_only && (options.writes() || options.creates()) {
            return self.open_read_only(&target, options);
        }
        target.mount.files.open(&target.inner, options)
    }

    fn metadata(&self, path: &Path) -> io::Result<Metadata> {
        self.metadata_of(&self.resolve(path, true)?, true)
    }

    fn symlink_metadata(&self, path: &Path) -> io::Result<Metadata> {
        self.metadata_of(&self.resolve(path, false)?, false)
    }

    fn read_dir(&self, path: &Path) -> io::Result<DirectoryEntries> {
        let target = self.resolve(path, true)?;
        let mounted = self.mounted_names(&target.path);
        let below: DirectoryEntries = match target.mount.files.read_dir(&target.inner) {
            Ok(entries) => entries,
            Err(error) if error.kind() != io::ErrorKind::NotFound || mounted.is_empty() => return Err(error),
            Err(_) => Box::new(std::iter::empty()),
        };
        let mount_entries: Vec<io::Result<DirEntry>> = mounted
            .iter()
            .map(|name| Ok(DirEntry { name: name.clone(), kind: Some(FileType::Directory), inode: 0 }))
            .collect();
        let below =
            below.filter(move |entry| !entry.as_ref().is_ok_and(|entry| mounted.contains(&entry.name)));
        Ok(Box::new(mount_entries.into_iter().chain(below)))
    }

    fn access(&self, path: &Path, access: AccessMode) -> io::Result<()> {
        let target = self.resolve(path, true)?;
        match target.mount.files.access(&target.inner, access) {
            Err(error) if error.kind() == io::ErrorKind::NotFound && self.leads_to_mount(&target.path) => {
                if access.write {
                    fail(Errno::ACCESS)
                } else {
                    Ok(())
                }
            }
            Ok(()) if access.write => target.mount.require_writable(),
            other => other,
        }
    }

    fn create_dir(&self, path: &Path, mode: u32) -> io::Result<()> {
        let target = self.resolve_new(path)?;
        target.mount.files.create_dir(&target.inner, mode)
    }

    fn create_symlink(&self, link: &Path, path: &Path) -> io::Result<()> {
        let target = self.resolve_new(path)?;
        target.mount.files.create_symlink(link, &target.inner)
    }

    fn hard_link(&self, from: &Path, to: &Path) -> io::Result<()> {
        let from = self.resolve(from, false)?;
        let to = self.resolve_new(to)?;
        if from.mount.point != to.mount.point {
            return fail(Errno::XDEV);
        }
        from.mount.files.hard_link(&from.inner, &to.inner)
    }

    fn set_permissions(&self, path: &Path, mode: u32) -> io::Result<()> {
        let target = self.resolve_changed(path, true)?;
        target.mount.files.set_permissions(&target.inner, mode)
    }

    fn set_times(&self, path: &Path, times: &FileTimes) -> io::Result<()> {
        let target = self.resolve_changed(path, !times.keep_link)?;
        target.mount.files.set_times(&target.inner, times)
    }

    fn set_owner(&self, path: &Path, uid: Option<u32>, gid: Option<u32>) -> io::Result<()> {
        let target = self.resolve_changed(path, false)?;
        target.mount.files.set_owner(&target.inner, uid, gid)
    }

    fn remove(&self, path: &Path) -> io::Result<()> {
        let target = self.resolve_old(path)?;
        self.metadata_of(&target, false)?;
        target.mount.require_writable()?;
        target.mount.files.remove(&target.inner)
    }

    fn remove_dir(&self, path: &Path) -> io::Result<()> {
        let target = self.resolve_old(path)?;
        self.metadata_of(&target, false)?;
        target.mount.require_writable()?;
        target.mount.files.remove_dir(&target.inner)
    }

    fn rename(&self, from: &Path, to: &Path) -> io::Result<()> {
        let from = self.resolve_old(from)?;
        let to = self.resolve_old(to)?;
        if from.mount.point != to.mount.point {
            return fail(Errno::XDEV);
        }
        from.mount.require_writable()?;
        from.mount.files.rename(&from.inner, &to.inner)
    }

    fn read_link(&self, path: &Path) -> io::Result<PathBuf> {
        let target = self.resolve(path, false)?;
        target.mount.files.read_link(&target.inner)
    }

    fn birth_time(&self, path: &Path, follow: bool) -> io::Result<Option<Timestamp>> {
        let target = self.resolve(path, follow)?;
        target.mount.files.birth_time(&target.inner, follow)
    }

    fn canonicalize(&self, path: &Path) -> io::Result<PathBuf> {
        let target = self.resolve(path, true)?;
        self.metadata_of(&target, true)?;
        Ok(target.path)
    }

    fn real_path(&self, path: &Path) -> Option<PathBuf> {
        let target = self.resolve(path, true).ok()?;
        target.mount.files.real_path(&target.inner)
    }
}

/// Normalizes a mount point without following symbolic links: `..` removes the last component.
fn normalize(path: &Path) -> PathBuf {
    let mut normalized = PathBuf::from("/");
    for step in steps(path) {
        match step {
            PathStep::Parent => {
                normalized.pop();
            }
            PathStep::Name(name) => normalized.push(name),
        }
    }
    normalized
}

/// Returns the metadata of a directory that exists only as a parent of a mount point. The inode number is a hash of the path,
/// so that two such directories differ.
fn mount_parent_metadata(path: &Path) -> Metadata {
    use std::hash::{DefaultHasher, Hash, Hasher};
    let mut hasher = DefaultHasher::new();
    path.hash(&mut hasher);
    Metadata {
        kind: FileType::Directory,
        mode: 0o555,
        size: 0,
        modified: Timestamp::default(),
        accessed: Timestamp::default(),
        changed: Timestamp::default(),
        device: u64::MAX,
        inode: hasher.finish(),
        uid: 0,
        gid: 0,
        links: 2,
        special_device: 0,
        blocks: 0,
        block_size: BLOCK_SIZE,
    }
}
