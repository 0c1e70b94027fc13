//! Control groups: where they can be made, they hold a whole tree, whatever its members do.

use std::ffi::OsStr;
use std::fs::{self, OpenOptions};
use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Path, PathBuf};

use rustix::fs::{Mode, OFlags};

/// The directories of this process's own control groups, below which new ones may be made.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Hierarchies {
    /// Of the unified hierarchy, which can kill a whole group at once.
    pub(crate) unified: Option<PathBuf>,
    /// Of the hierarchy that counts processes.
    pub(crate) pids: Option<PathBuf>,
    /// Of the hierarchy that accounts for memory.
    pub(crate) memory: Option<PathBuf>,
}

impl Hierarchies {
    /// Finds them; what is not there, or not understood, is `None`.
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
        let place = |kind: &str, option: Option<&str>, path: Option<&str>| {
            let path = path?;
            mounts.lines().filter_map(Mount::parse).find_map(|mount| {
                let matches = mount.kind == kind
                    && option.is_none_or(|name| mount.options.split(',').any(|o| o == name));
                matches.then(|| mount.place(path)).flatten()
            })
        };
        Hierarchies {
            unified: place("cgroup2", None, membership("")),
            pids: place("cgroup", Some("pids"), membership("pids")),
            memory: place("cgroup", Some("memory"), membership("memory")),
        }
    }
}

/// What is needed of a line of `mountinfo`.
struct Mount<'a> {
    root: &'a str,
    point: &'a str,
    kind: &'a str,
    options: &'a str,
}

impl<'a> Mount<'a> {
    fn parse(line: &'a str) -> Option<Mount<'a>> {
        let (before, after) = line.split_once(" - ")?;
        let mut before = before.split(' ').skip(3);
        let mut after = after.split(' ');
        let (root, point, kind) = (before.next()?, before.next()?, after.next()?);
        Some(Mount { root, point, kind, options: after.nth(1)? })
    }

    /// Where a group's path is below this mount, which may show only a part of the hierarchy.
    fn place(&self, path: &str) -> Option<PathBuf> {
        let below = if self.root == "/" { path } else { path.strip_prefix(self.root)? };
        Some(Path::new(self.point).join(below.trim_start_matches('/')))
    }
}

/// A control group made by this process; its directory goes when the value does.
#[derive(Debug)]
pub(crate) struct Cgroup {
    path: PathBuf,
    directory: OwnedFd,
}

impl Cgroup {
    /// Makes a group of this name.
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

    /// The directory, for a child to be born into.
    pub(crate) fn directory(&self) -> BorrowedFd<'_> {
        self.directory.as_fd()
    }

    /// Where it is.
    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    /// Sets one of its properties.
    pub(crate) fn set(&self, file: &str, value: &str) -> io::Result<()> {
        write(&self.path.join(file), value)
    }

    /// How many processes and threads are in it, where that is counted.
    pub(crate) fn processes(&self) -> Option<u64> {
        fs::read_to_string(self.path.join("pids.current")).ok()?.trim().parse().ok()
    }

    /// The file through which a process joins.
    pub(crate) fn members_file(&self) -> io::Result<OwnedFd> {
        Ok(OpenOptions::new().write(true).open(self.path.join("cgroup.procs"))?.into())
    }

    /// A descriptor that polls as urgent when the group becomes empty or populated.
    pub(crate) fn events(&self) -> io::Result<OwnedFd> {
        Ok(fs::File::open(self.path.join("cgroup.events"))?.into())
    }
}

impl Drop for Cgroup {
    fn drop(&mut self) {
        remove(&self.path);
    }
}

/// Whether any process is in the group or below it; a group that is gone is empty.
pub(crate) fn is_populated(path: &Path) -> bool {
    fs::read_to_string(path.join("cgroup.events")).is_ok_and(|events| events.contains("populated 1"))
}

/// Kills every process in the group and below it.
pub(crate) fn kill(path: &Path) -> io::Result<()> {
    write(&path.join("cgroup.kill"), "1")
}

/// The processes in the group and below it.
pub(crate) fn members(path: &Path) -> Vec<i32> {
    let listed = fs::read_to_string(path.join("cgroup.procs")).unwrap_or_default();
    let mut members: Vec<i32> = listed.lines().filter_map(|line| line.parse().ok()).collect();
    for below in directories(path) {
        members.extend(self::members(&below));
    }
    members
}

/// A number in a file of `key number` lines, such as `memory.events`; `None` where there is no such file or key.
pub(crate) fn count(path: &Path, file: &str, key: &str) -> Option<u64> {
    let text = fs::read_to_string(path.join(file)).ok()?;
    text.lines().find_map(|line| line.strip_prefix(key)?.strip_prefix(' ')?.trim().parse().ok())
}

/// The sum of such a number in the group and those below it: not every kernel adds them up.
pub(crate) fn count_below(path: &Path, file: &str, key: &str) -> u64 {
    let below: u64 = directories(path).iter().map(|below| count_below(below, file, key)).sum();
    count(path, file, key).unwrap_or(0).max(below)
}

/// Moves a process into the group.
pub(crate) fn admit(path: &Path, pid: i32) {
    let _ = write(&path.join("cgroup.procs"), &pid.to_string());
}

/// Removes the group and those below it, as far as they are empty.
pub(crate) fn remove(path: &Path) {
    if fs::remove_dir(path).is_ok() {
        return;
    }
    for below in directories(path) {
        remove(&below);
    }
    let _ = fs::remove_dir(path);
}

fn directories(path: &Path) -> Vec<PathBuf> {
    let Ok(entries) = fs::read_dir(path) else { return Vec::new() };
    entries
        .flatten()
        .filter(|entry| entry.file_type().is_ok_and(|kind| kind.is_dir()))
        .map(|entry| entry.path())
        .collect()
}

fn write(path: &Path, value: &str) -> io::Result<()> {
    use std::io::Write as _;
    OpenOptions::new().write(true).open(path)?.write_all(value.as_bytes())
}

/// Whether a path recorded by an earlier run may be killed and removed: only what haft itself has named.
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
    fn a_hybrid_system_has_all_three() {
        let found = Hierarchies::parse(HYBRID, "8:pids:/\n4:memory:/a/b\n0::/x");
        assert_eq!(found.unified.unwrap(), Path::new("/sys/fs/cgroup/unified/x"));
        assert_eq!(found.pids.unwrap(), Path::new("/sys/fs/cgroup/pids"));
        assert_eq!(found.memory.unwrap(), Path::new("/sys/fs/cgroup/memory/a/b"));
    }

    #[test]
    fn a_mount_of_a_part_shows_only_what_is_below_it() {
        let mounts = "31 30 0:27 /docker/1 /sys/fs/cgroup rw - cgroup2 cgroup2 rw";
        let found = Hierarchies::parse(mounts, "0::/docker/1/job");
        assert_eq!(found.unified.unwrap(), Path::new("/sys/fs/cgroup/job"));
        assert_eq!(Hierarchies::parse(mounts, "0::/elsewhere").unified, None);
    }

    #[test]
    fn without_control_groups_there_is_nothing() {
        assert_eq!(Hierarchies::parse("", ""), Hierarchies::default());
    }

    #[test]
    fn only_groups_named_by_a_run_are_ours() {
        assert!(is_ours(Path::new("/sys/fs/cgroup/haft-r1"), "r1"));
        assert!(!is_ours(Path::new("/sys/fs/cgroup/system.slice"), "r1"));
        assert!(!is_ours(Path::new("haft-r1"), "r1"));
    }
}
