//! Control groups. A process cannot leave its control group, so a control group contains a whole process tree.

use std::ffi::OsStr;
use std::fs::{self, OpenOptions};
use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Path, PathBuf};
use std::time::Duration;

use rustix::fs::{FlockOperation, Mode, OFlags, flock};

/// The directories of this process's own control groups, in which new ones can be created.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Hierarchies {
    /// In the unified hierarchy, which can kill a whole group at once.
    pub(crate) unified: Option<PathBuf>,
    /// In the hierarchy of the `pids` controller.
    pub(crate) pids: Option<PathBuf>,
    /// In the hierarchy of the `memory` controller.
    pub(crate) memory: Option<PathBuf>,
}

impl Hierarchies {
    /// Finds the directories. Those that do not exist or cannot be parsed are `None`.
    pub(crate) fn discover() -> Hierarchies {
        let mounts = fs::read_to_string("/proc/self/mountinfo").unwrap_or_default();
        let memberships = fs::read_to_string("/proc/self/cgroup").unwrap_or_default();
        let mut found = Hierarchies::parse(&mounts, &memberships);
        if let Some(unified) = &found.unified {
            let enabled = fs::read_to_string(unified.join("cgroup.subtree_control")).unwrap_or_default();
            let enables = |name: &str| enabled.split_ascii_whitespace().any(|word| word == name);
            let (pids, memory) = (enables("pids"), enables("memory"));
            found.pids = found.pids.or_else(|| pids.then(|| unified.clone()));
            found.memory = found.memory.or_else(|| memory.then(|| unified.clone()));
        }
        found
    }

    fn parse(mounts: &str, memberships: &str) -> Hierarchies {
        let membership = |controller: &str| {
            memberships.lines().find_map(|line| {
                let mut fields = line.splitn(3, ':').skip(1);
                let (controllers, path) = (fields.next()?, fields.next()?);
                let matches = controllers.split(',').any(|name| name == controller);
                matches.then_some(path)
            })
        };
        let find = |kind: &str, option: Option<&str>, path: Option<&str>| {
            let path = path?;
            mounts.lines().filter_map(CgroupMount::parse).find_map(|mount| {
                let matches = mount.kind == kind
                    && option.is_none_or(|name| mount.options.split(',').any(|o| o == name));
                matches.then(|| mount.locate(path)).flatten()
            })
        };
        Hierarchies {
            unified: find("cgroup2", None, membership("")),
            pids: find("cgroup", Some("pids"), membership("pids")),
            memory: find("cgroup", Some("memory"), membership("memory")),
        }
    }
}

/// A line of `mountinfo`.
struct CgroupMount<'a> {
    root: &'a str,
    point: &'a str,
    kind: &'a str,
    options: &'a str,
}

impl<'a> CgroupMount<'a> {
    fn parse(line: &'a str) -> Option<CgroupMount<'a>> {
        let (before, after) = line.split_once(" - ")?;
        let mut before = before.split(' ').skip(3);
        let mut after = after.split(' ');
        let (root, point, kind) = (before.next()?, before.next()?, after.next()?);
        Some(CgroupMount { root, point, kind, options: after.nth(1)? })
    }

    /// Returns the directory of a group in this mount, which may show only a part of the hierarchy.
    fn locate(&self, path: &str) -> Option<PathBuf> {
        let below = if self.root == "/" { path } else { path.strip_prefix(self.root)? };
        Some(Path::new(self.point).join(below.trim_start_matches('/')))
    }
}

/// A control group that this process created. Dropping it removes the group.
#[derive(Debug)]
pub(crate) struct Cgroup {
    path: PathBuf,
    directory: OwnedFd,
}

impl Cgroup {
    /// Creates a group.
    pub(crate) fn create(parent: &Path, name: &str) -> io::Result<Cgroup> {
        let path = parent.join(name);
        fs::create_dir(&path)?;
        match rustix::fs::open(&path, OFlags::DIRECTORY | OFlags::RDONLY | OFlags::CLOEXEC, Mode::empty()) {
            Ok(directory) => Ok(Cgroup { path, directory }),
            Err(error) => {
                let _ = fs::remove_dir(&path);
                Err(error.into())
            }
        }
    }

    /// Locks the group until it is dropped or this process ends, so that [`remove_stale`] spares it.
    pub(crate) fn lock(&self) {
        let _ = flock(&self.directory, FlockOperation::NonBlockingLockExclusive);
    }

    /// Returns the open directory, for cloning a child into the group.
    pub(crate) fn directory(&self) -> BorrowedFd<'_> {
        self.directory.as_fd()
    }

    /// Returns the path of the directory.
    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    /// Writes a value to one of its files.
    pub(crate) fn set(&self, file: &str, value: &str) -> io::Result<()> {
        write(&self.path.join(file), value)
    }

    /// Returns the number of threads in the group, if the `pids` controller counts them.
    pub(crate) fn processes(&self) -> Option<u64> {
        fs::read_to_string(self.path.join("pids.current")).ok()?.trim().parse().ok()
    }

    /// Opens the file through which a process joins the group.
    pub(crate) fn members_file(&self) -> io::Result<OwnedFd> {
        Ok(OpenOptions::new().write(true).open(self.path.join("cgroup.procs"))?.into())
    }

    /// Opens a descriptor that polls as urgent when the group becomes empty or populated.
    pub(crate) fn events(&self) -> io::Result<OwnedFd> {
        Ok(fs::File::open(self.path.join("cgroup.events"))?.into())
    }
}

impl Drop for Cgroup {
    fn drop(&mut self) {
        remove(&self.path);
    }
}

/// Whether a process is in the group or below it. A group that does not exist is empty.
pub(crate) fn is_populated(path: &Path) -> bool {
    fs::read_to_string(path.join("cgroup.events")).is_ok_and(|events| events.contains("populated 1"))
}

/// Kills every process in the group and below it.
pub(crate) fn kill(path: &Path) -> io::Result<()> {
    write(&path.join("cgroup.kill"), "1")
}

/// Returns the processes in the group and below it.
pub(crate) fn members(path: &Path) -> Vec<i32> {
    let listed = fs::read_to_string(path.join("cgroup.procs")).unwrap_or_default();
    let mut members: Vec<i32> = listed.lines().filter_map(|line| line.parse().ok()).collect();
    for below in directories(path) {
        members.extend(self::members(&below));
    }
    members
}

/// Returns a number from a file of `key number` lines, such as `memory.events`, or `None` if the file or key does not exist.
pub(crate) fn count(path: &Path, file: &str, key: &str) -> Option<u64> {
    let text = fs::read_to_string(path.join(file)).ok()?;
    text.lines().find_map(|line| line.strip_prefix(key)?.strip_prefix(' ')?.trim().parse().ok())
}

/// Returns such a number for the group and all groups below it. Not every kernel adds them up itself.
pub(crate) fn count_below(path: &Path, file: &str, key: &str) -> u64 {
    let below: u64 = directories(path).iter().map(|below| count_below(below, file, key)).sum();
    count(path, file, key).unwrap_or(0).max(below)
}

/// Moves a process into the group.
pub(crate) fn add_process(path: &Path, pid: i32) {
    let _ = write(&path.join("cgroup.procs"), &pid.to_string());
}

/// Removes the group and all groups below it that are empty.
pub(crate) fn remove(path: &Path) {
    if fs::remove_dir(path).is_ok() {
        return;
    }
    for below in directories(path) {
        remove(&below);
    }
    let _ = fs::remove_dir(path);
}

/// Removes the groups in `parent` that hosts of dead processes have left. A group with processes cannot be removed.
pub(crate) fn remove_stale(parent: &Path) {
    /// A new group may not be locked yet.
    const MIN_AGE: Duration = Duration::from_secs(10);
    let is_host = |path: &PathBuf| {
        path.file_name().is_some_and(|name| name.as_bytes().starts_with(HOST_PREFIX.as_bytes()))
    };
    let is_old = |path: &PathBuf| {
        let modified = fs::metadata(path).and_then(|metadata| metadata.modified());
        modified.is_ok_and(|time| time.elapsed().is_ok_and(|age| age >= MIN_AGE))
    };
    for path in directories(parent).into_iter().filter(is_host).filter(is_old) {
        let Ok(directory) = fs::File::open(&path) else { continue };
        if flock(&directory, FlockOperation::NonBlockingLockExclusive).is_ok() {
            remove(&path);
        }
    }
}

/// How the names of the groups of hosts begin.
const HOST_PREFIX: &str = "haft-run-";

fn directories(path: &Path) -> Vec<PathBuf> {
    let Ok(entries) = fs::read_dir(path) else { return Vec::new() };
    entries
        .flatten()
        .filter(|entry| entry.file_type().is_ok_and(|kind| kind.is_dir()))
        .map(|entry| entry.path())
        .collect()
}

/// Writes a value to a file of a group.
pub(crate) fn write(path: &Path, value: &str) -> io::Result<()> {
    use std::io::Write as _;
    OpenOptions::new().write(true).open(path)?.write_all(value.as_bytes())
}

/// Whether a path recorded by an earlier run is a control group that haft created, and may be killed and removed.
pub(crate) fn is_ours(path: &Path, run: &str) -> bool {
    let name = path.file_name().map(OsStr::as_bytes).unwrap_or_default();
    path.is_absolute() && name.strip_prefix(b"haft-").is_some_and(|rest| rest == run.as_bytes())
}

#[cfg(test)]
mod tests {
    use super::*;

    const HYBRID: &str = "\
30 23 0:26 / /sys/fs/cgroup ro,nosuid shared:9 - tmpfs tmpfs ro
31 30 0:27 / /sys/fs/cgroup/unified rw,nosuid shared:10 - cgroup2 cgroup2 rw,nsdelegate
32 30 0:28 / /sys/fs/cgroup/pids rw,nosuid shared:11 - cgroup cgroup rw,pids
33 30 0:29 / /sys/fs/cgroup/memory rw,nosuid shared:12 - cgroup cgroup rw,memory";

    #[test]
    fn hybrid_systems_have_all_three_hierarchies() {
        let found = Hierarchies::parse(HYBRID, "8:pids:/\n4:memory:/a/b\n0::/x");
        assert_eq!(found.unified.unwrap(), Path::new("/sys/fs/cgroup/unified/x"));
        assert_eq!(found.pids.unwrap(), Path::new("/sys/fs/cgroup/pids"));
        assert_eq!(found.memory.unwrap(), Path::new("/sys/fs/cgroup/memory/a/b"));
    }

    #[test]
    fn partial_mounts_show_only_groups_below_their_root() {
        let mounts = "31 30 0:27 /docker/1 /sys/fs/cgroup rw - cgroup2 cgroup2 rw";
        let found = Hierarchies::parse(mounts, "0::/docker/1/job");
        assert_eq!(found.unified.unwrap(), Path::new("/sys/fs/cgroup/job"));
        assert_eq!(Hierarchies::parse(mounts, "0::/elsewhere").unified, None);
    }

    #[test]
    fn systems_without_control_groups_have_no_hierarchies() {
        assert_eq!(Hierarchies::parse("", ""), Hierarchies::default());
    }

    #[test]
    fn groups_of_dead_hosts_are_removed_and_locked_or_new_ones_are_kept() {
        let parent = std::env::temp_dir().join(format!("haft-cgroup-test-{}", std::process::id()));
        fs::create_dir_all(&parent).unwrap();
        let create = |name: &str, age: u64| {
            let cgroup = Cgroup::create(&parent, name).unwrap();
            let modified = std::time::SystemTime::now() - Duration::from_secs(age);
            fs::File::open(cgroup.path()).unwrap().set_modified(modified).unwrap();
            cgroup
        };
        let [_dead, live, _new, _other] =
            [("haft-run-1", 60), ("haft-run-2", 60), ("haft-run-3", 0), ("other", 60)]
                .map(|(name, age)| create(name, age));
        live.lock();
        remove_stale(&parent);
        let mut left: Vec<_> =
            directories(&parent).iter().map(|path| path.file_name().unwrap().to_owned()).collect();
        left.sort();
        assert_eq!(left, ["haft-run-2", "haft-run-3", "other"]);
        let _ = fs::remove_dir_all(&parent);
    }

    #[test]
    fn only_groups_named_after_the_run_may_be_removed() {
        assert!(is_ours(Path::new("/sys/fs/cgroup/haft-r1"), "r1"));
        assert!(!is_ours(Path::new("/sys/fs/cgroup/system.slice"), "r1"));
        assert!(!is_ours(Path::new("haft-r1"), "r1"));
    }
}
