//! Control groups that enforce the limits of a scope.

use std::os::fd::{AsRawFd as _, OwnedFd, RawFd};
use std::path::{Path, PathBuf};

use crate::cgroup::{self, Cgroup};
use crate::scope::Containment;

/// The file of a memory limit, in version 2 and in version 1 of control groups.
const MEMORY_LIMIT_FILES: [&str; 2] = ["memory.max", "memory.limit_in_bytes"];

/// The control groups that enforce the limits of a scope.
#[derive(Debug, Default)]
pub(crate) struct Limiters {
    /// Groups created for limits only, with the files to join them.
    groups: Vec<(Cgroup, OwnedFd)>,
    /// The group that enforces the process limit, if it could be set.
    processes: Option<PathBuf>,
    /// The group that enforces the memory limit, if it could be set.
    memory: Option<PathBuf>,
}

impl Limiters {
    /// Sets the limits on the scope's `unified` group if it has the controllers, else on new groups. Skips limits that cannot be
    /// set.
    pub(crate) fn new(containment: &Containment, unified: Option<&Cgroup>, name: &str) -> Limiters {
        let hierarchies = &containment.hierarchies;
        let mut made = Limiters::default();
        let processes = containment.limits.processes.zip(hierarchies.pids.as_deref());
        let memory = containment.limits.memory.zip(hierarchies.memory.as_deref());
        let shared = unified.filter(|_| hierarchies.unified.is_some());
        let within = |parent: &Path| shared.filter(|_| hierarchies.unified.as_deref() == Some(parent));
        if let Some((value, parent)) = processes {
            made.processes = made.limit(within(parent), parent, name, &["pids.max"], value);
        }
        if let Some((value, parent)) = memory {
            made.memory = made.limit(within(parent), parent, name, &MEMORY_LIMIT_FILES, value);
        }
        made
    }

    /// Sets a limit. Returns the group that enforces it.
    fn limit(
        &mut self,
        unified: Option<&Cgroup>,
        parent: &Path,
        name: &str,
        files: &[&str],
        value: u64,
    ) -> Option<PathBuf> {
        let value = value.to_string();
        let set = |cgroup: &Cgroup| files.iter().any(|file| cgroup.set(file, &value).is_ok());
        if let Some(unified) = unified {
            return set(unified).then(|| unified.path().to_owned());
        }
        let cgroup = Cgroup::create(parent, name).ok()?;
        let file = cgroup.members_file().ok().filter(|_| set(&cgroup))?;
        let path = cgroup.path().to_owned();
        self.groups.push((cgroup, file));
        Some(path)
    }

    /// Returns the files through which a process joins the groups.
    pub(crate) fn files(&self) -> impl Iterator<Item = RawFd> {
        self.groups.iter().map(|(_, file)| file.as_raw_fd())
    }

    /// Returns the groups that were created for limits only.
    pub(crate) fn groups(&self) -> impl Iterator<Item = &Cgroup> {
        self.groups.iter().map(|(cgroup, _)| cgroup)
    }

    /// Whether a group enforces the process limit.
    pub(crate) fn has_processes(&self) -> bool {
        self.processes.is_some()
    }

    /// Whether a group enforces the memory limit.
    pub(crate) fn has_memory(&self) -> bool {
        self.memory.is_some()
    }

    /// Returns the memory of the group that enforces the memory limit, in bytes, without the page cache, which the kernel
    /// reclaims before it enforces the limit.
    pub(crate) fn memory_in_use(&self) -> Option<u64> {
        let path = self.memory.as_deref()?;
        cgroup::count(path, "memory.stat", "total_rss").or_else(|| cgroup::count(path, "memory.stat", "anon"))
    }

    /// Changes the memory limit. Version 1 of control groups refuses a value below the memory in use.
    pub(crate) fn set_memory(&self, value: u64) {
        if let Some(path) = &self.memory {
            let value = value.to_string();
            let _ = MEMORY_LIMIT_FILES.iter().any(|file| cgroup::write(&path.join(file), &value).is_ok());
        }
    }

    /// Returns how many forks the process limit has refused.
    pub(crate) fn refused(&self) -> u64 {
        self.processes.as_deref().map_or(0, |path| cgroup::count_below(path, "pids.events", "max"))
    }

    /// Returns how many processes the memory limit has killed.
    pub(crate) fn killed(&self) -> u64 {
        let count = |path: &Path| {
            let unified = cgroup::count(path, "memory.events", "oom_kill");
            unified.or_else(|| cgroup::count(path, "memory.oom_control", "oom_kill")).unwrap_or(0)
        };
        self.memory.as_deref().map_or(0, count)
    }
}
