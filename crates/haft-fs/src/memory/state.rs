//! The nodes of the tree, and the budget.

use std::collections::{BTreeMap, HashMap};
use std::ffi::{OsStr, OsString};
use std::io::{self, Read as _};
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{SystemTime, UNIX_EPOCH};

use rustix::io::Errno;

use crate::error::{fail, system};
use crate::metadata::BLOCK_SIZE;
use crate::{AccessMode, FileSystem as _, FileTimes, FileType, Local, Metadata, OpenOptions, Timestamp};

/// Inode number of the root directory.
pub(super) const ROOT_INODE: u64 = 1;

/// Cost of a name in addition to its bytes, which bounds the number of empty files.
const ENTRY_COST: u64 = 64;

/// Maximum size of a file name, as in Linux file systems.
const MAX_NAME_BYTES: usize = 255;

/// The content of a node.
#[derive(Debug)]
pub(super) enum NodeContent {
    File(Vec<u8>),
    Directory(BTreeMap<OsString, u64>),
    Symlink(OsString),
    Device(MemoryDevice),
}

/// A device that needs no machine.
#[derive(Clone, Copy, Debug)]
pub(super) enum MemoryDevice {
    /// `/dev/null`.
    Null,
    /// `/dev/zero`.
    Zero,
    /// `/dev/random` and `/dev/urandom`.
    Random,
}

impl MemoryDevice {
    /// Reads from the device.
    fn read(self, buffer: &mut [u8]) -> io::Result<usize> {
        match self {
            Self::Null => Ok(0),
            Self::Zero => {
                buffer.fill(0);
                Ok(buffer.len())
            }
            Self::Random => Local.open("/dev/urandom".as_ref(), &OpenOptions::new().read(true))?.read(buffer),
        }
    }

    /// The id of the device on Linux.
    fn id(self) -> u64 {
        const MEMORY_DEVICES: u32 = 1;
        rustix::fs::makedev(
            MEMORY_DEVICES,
            match self {
                Self::Null => 3,
                Self::Zero => 5,
                Self::Random => 9,
            },
        )
    }
}

impl NodeContent {
    pub(super) fn file() -> Self {
        Self::File(Vec::new())
    }

    pub(super) fn directory() -> Self {
        Self::Directory(BTreeMap::new())
    }

    fn kind(&self) -> FileType {
        match self {
            Self::File(_) => FileType::File,
            Self::Directory(_) => FileType::Directory,
            Self::Symlink(_) => FileType::Symlink,
            Self::Device(_) => FileType::CharacterDevice,
        }
    }

    fn size(&self) -> u64 {
        match self {
            Self::File(bytes) => bytes.len() as u64,
            Self::Symlink(target) => target.len() as u64,
            Self::Directory(_) | Self::Device(_) => 0,
        }
    }
}

#[derive(Debug)]
struct TreeNode {
    content: NodeContent,
    mode: u32,
    modified: Timestamp,
    accessed: Timestamp,
    changed: Timestamp,
    created: Timestamp,
    /// The number of names.
    links: u64,
    opens: usize,
}

impl TreeNode {
    fn new(content: NodeContent, mode: u32) -> Self {
        let now = now();
        let [modified, accessed, changed, created] = [now; 4];
        Self { content, mode, modified, accessed, changed, created, links: 1, opens: 0 }
    }
}

/// The tree. A node exists as long as it has a name or is open.
#[derive(Debug)]
pub(super) struct MemoryTree {
    nodes: HashMap<u64, TreeNode>,
    next: u64,
    used: u64,
    budget: u64,
    device: u64,
    /// User and group ID of all files.
    owner: (u32, u32),
}

/// The next device id. Each tree has its own, so that files of different trees are never identical.
static NEXT_DEVICE: AtomicU64 = AtomicU64::new(u64::MAX / 2);

impl MemoryTree {
    pub(super) fn new(budget: u64) -> Self {
        let nodes = HashMap::from([(ROOT_INODE, TreeNode::new(NodeContent::directory(), 0o755))]);
        let device = NEXT_DEVICE.fetch_add(1, Ordering::Relaxed);
        let owner = (rustix::process::geteuid().as_raw(), rustix::process::getegid().as_raw());
        Self { nodes, next: ROOT_INODE + 1, used: 0, budget, device, owner }
    }

    pub(super) fn set_owner(&mut self, owner: (u32, u32)) {
        self.owner = owner;
    }

    pub(super) fn owner(&self) -> (u32, u32) {
        self.owner
    }

    /// Allows `budget` more bytes.
    pub(super) fn set_remaining_budget(&mut self, budget: u64) {
        self.used = 0;
        self.budget = budget;
    }

    pub(super) fn used(&self) -> u64 {
        self.used
    }

    fn node(&self, number: u64) -> io::Result<&TreeNode> {
        self.nodes.get(&number).ok_or_else(|| system(Errno::STALE))
    }

    fn node_mut(&mut self, number: u64) -> io::Result<&mut TreeNode> {
        self.nodes.get_mut(&number).ok_or_else(|| system(Errno::STALE))
    }

    pub(super) fn content(&self, number: u64) -> io::Result<&NodeContent> {
        Ok(&self.node(number)?.content)
    }

    /// Returns the entries of a directory. Fails with `ENOTDIR` for other nodes.
    pub(super) fn children(&self, number: u64) -> io::Result<&BTreeMap<OsString, u64>> {
        match self.content(number)? {
            NodeContent::Directory(children) => Ok(children),
            _ => fail(Errno::NOTDIR),
        }
    }

    fn children_mut(&mut self, number: u64) -> io::Result<&mut BTreeMap<OsString, u64>> {
        let now = now();
        let node = self.node_mut(number)?;
        (node.modified, node.changed) = (now, now);
        match &mut node.content {
            NodeContent::Directory(children) => Ok(children),
            _ => fail(Errno::NOTDIR),
        }
    }

    pub(super) fn metadata(&self, number: u64) -> io::Result<Metadata> {
        let node = self.node(number)?;
        let subdirectories = match &node.content {
            NodeContent::Directory(children) => {
                1 + children.values().filter(|child| self.children(**child).is_ok()).count() as u64
            }
            _ => 0,
        };
        Ok(Metadata {
            kind: node.content.kind(),
            mode: node.mode,
            size: node.content.size(),
            modified: node.modified,
            accessed: node.accessed,
            changed: node.changed,
            device: self.device,
            inode: number,
            uid: self.owner.0,
            gid: self.owner.1,
            links: node.links + subdirectories,
            special_device: match node.content {
                NodeContent::Device(device) => device.id(),
                _ => 0,
            },
            blocks: match node.content {
                NodeContent::File(_) => node.content.size().div_ceil(BLOCK_SIZE) * (BLOCK_SIZE / 512),
                _ => 0,
            },
            block_size: BLOCK_SIZE,
        })
    }

    pub(super) fn birth_time(&self, number: u64) -> io::Result<Timestamp> {
        Ok(self.node(number)?.created)
    }

    pub(super) fn set_permissions(&mut self, number: u64, mode: u32) -> io::Result<()> {
        let node = self.node_mut(number)?;
        node.mode = mode & 0o7777;
        node.changed = now();
        Ok(())
    }

    pub(super) fn set_times(&mut self, number: u64, times: &FileTimes) -> io::Result<()> {
        let node = self.node_mut(number)?;
        let now = now();
        node.accessed = times.accessed.apply(node.accessed, now);
        node.modified = times.modified.apply(node.modified, now);
        node.changed = now;
        Ok(())
    }

    /// Fails with `EACCES` unless the owner has these permissions.
    pub(super) fn require(&self, number: u64, access: AccessMode) -> io::Result<()> {
        let mode = self.node(number)?.mode;
        let refused = (access.read && mode & 0o400 == 0)
            || (access.write && mode & 0o200 == 0)
            || (access.execute && mode & 0o100 == 0);
        if refused { fail(Errno::ACCESS) } else { Ok(()) }
    }

    /// Adds a node with a new name.
    pub(super) fn add(
        &mut self,
        parent: u64,
        name: &OsStr,
        content: NodeContent,
        mode: u32,
    ) -> io::Result<u64> {
        self.check_new_name(parent, name)?;
        self.spend(entry_cost(name) + content.size())?;
        let number = self.next;
        self.next += 1;
        self.nodes.insert(number, TreeNode::new(content, mode & 0o7777));
        self.children_mut(parent)?.insert(name.to_owned(), number);
        Ok(number)
    }

    fn check_new_name(&self, parent: u64, name: &OsStr) -> io::Result<()> {
        if name.len() > MAX_NAME_BYTES {
            return fail(Errno::NAMETOOLONG);
        }
        self.children(parent)?;
        match self.nodes.get(&parent) {
            Some(node) if node.links == 0 => fail(Errno::NOENT),
            _ => Ok(()),
        }
    }

    /// Adds another name for a node.
    pub(super) fn link(&mut self, parent: u64, name: &OsStr, number: u64) -> io::Result<()> {
        self.check_new_name(parent, name)?;
        self.spend(entry_cost(name))?;
        let node = self.node_mut(number)?;
        node.links += 1;
        node.changed = now();
        self.children_mut(parent)?.insert(name.to_owned(), number);
        Ok(())
    }

    /// Removes a name, and its node if that was the last name and it is not open.
    pub(super) fn unlink(&mut self, parent: u64, name: &OsStr) {
        let Ok(children) = self.children_mut(parent) else { return };
        let Some(number) = children.remove(name) else { return };
        self.used = self.used.saturating_sub(entry_cost(name));
        if let Ok(node) = self.node_mut(number) {
            node.links = node.links.saturating_sub(1);
            node.changed = now();
        }
        self.release(number);
    }

    /// Moves an entry, and replaces an existing one at the target.
    pub(super) fn move_entry(&mut self, from: (u64, &OsStr), to: (u64, &OsStr)) -> io::Result<()> {
        let Some(number) = self.children(from.0)?.get(from.1).copied() else { return fail(Errno::NOENT) };
        self.unlink(to.0, to.1);
        self.spend(entry_cost(to.1))?;
        self.children_mut(from.0)?.remove(from.1);
        self.used = self.used.saturating_sub(entry_cost(from.1));
        self.children_mut(to.0)?.insert(to.1.to_owned(), number);
        Ok(())
    }

    pub(super) fn opened(&mut self, number: u64) {
        if let Ok(node) = self.node_mut(number) {
            node.opens += 1;
        }
    }

    pub(super) fn closed(&mut self, number: u64) {
        if let Ok(node) = self.node_mut(number) {
            node.opens = node.opens.saturating_sub(1);
        }
        self.release(number);
    }

    fn release(&mut self, number: u64) {
        let gone = self.nodes.get(&number).is_some_and(|node| node.links == 0 && node.opens == 0);
        if let Some(node) = gone.then(|| self.nodes.remove(&number)).flatten() {
            self.used = self.used.saturating_sub(node.content.size());
        }
    }

    /// Sets the size of a file. Devices stay as they are.
    pub(super) fn set_size(&mut self, number: u64, size: u64) -> io::Result<()> {
        let remaining = self.budget.saturating_sub(self.used);
        let node = self.node_mut(number)?;
        let NodeContent::File(bytes) = &mut node.content else { return Ok(()) };
        let old = bytes.len() as u64;
        let length = usize::try_from(size).ok().filter(|_| size.saturating_sub(old) <= remaining);
        let Some(length) = length else { return fail(Errno::NOSPC) };
        bytes.resize(length, 0);
        if size < old {
            bytes.shrink_to_fit();
        }
        (node.modified, node.changed) = (now(), now());
        self.used = (self.used + size).saturating_sub(old);
        Ok(())
    }

    /// Reads at an offset.
    pub(super) fn read(&mut self, number: u64, offset: u64, buffer: &mut [u8]) -> io::Result<usize> {
        let node = self.node_mut(number)?;
        let bytes = match &node.content {
            NodeContent::File(bytes) => bytes.as_slice(),
            NodeContent::Device(device) => return device.read(buffer),
            NodeContent::Directory(_) => return fail(Errno::ISDIR),
            NodeContent::Symlink(_) => return fail(Errno::INVAL),
        };
        let rest = usize::try_from(offset).ok().and_then(|start| bytes.get(start..)).unwrap_or(&[]);
        let count = rest.len().min(buffer.len());
        buffer[..count].copy_from_slice(&rest[..count]);
        node.accessed = now();
        Ok(count)
    }

    /// Writes at an offset, as much as the budget allows. Fills a gap with zeros.
    pub(super) fn write(&mut self, number: u64, offset: u64, bytes: &[u8]) -> io::Result<usize> {
        let remaining = self.budget.saturating_sub(self.used);
        let node = self.node_mut(number)?;
        let file = match &mut node.content {
            NodeContent::File(file) => file,
            NodeContent::Device(_) => return Ok(bytes.len()),
            NodeContent::Directory(_) | NodeContent::Symlink(_) => return fail(Errno::ISDIR),
        };
        let length = file.len() as u64;
        let end = length.saturating_add(remaining).min(offset.saturating_add(bytes.len() as u64)).max(offset);
        if end == offset && !bytes.is_empty() || end > length.saturating_add(remaining) {
            return fail(Errno::NOSPC);
        }
        let (Ok(start), Ok(stop)) = (usize::try_from(offset), usize::try_from(end)) else {
            return fail(Errno::FBIG);
        };
        if stop > file.len() {
            file.resize(stop, 0);
        }
        let count = stop - start;
        file[start..stop].copy_from_slice(&bytes[..count]);
        let grown = file.len() as u64 - length;
        (node.modified, node.changed) = (now(), now());
        self.used += grown;
        Ok(count)
    }

    fn spend(&mut self, bytes: u64) -> io::Result<()> {
        match self.used.checked_add(bytes) {
            Some(used) if used <= self.budget => {
                self.used = used;
                Ok(())
            }
            _ => fail(Errno::NOSPC),
        }
    }
}

fn entry_cost(name: &OsStr) -> u64 {
    name.len() as u64 + ENTRY_COST
}

fn now() -> Timestamp {
    let elapsed = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    Timestamp {
        seconds: i64::try_from(elapsed.as_secs()).unwrap_or(i64::MAX),
        nanoseconds: elapsed.subsec_nanos(),
    }
}
