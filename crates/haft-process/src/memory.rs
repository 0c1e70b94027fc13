//! Available memory, and memory of this process.

use std::fs;
use std::path::{Path, PathBuf};

use rustix::process::{Resource, getrlimit};

use crate::cgroup::Hierarchies;

/// Returns the memory that this process can use at most, in bytes: the minimum of the machine's memory, the limits of its
/// control groups, and its resource limits. Returns `None` if it is unknown.
#[must_use]
pub fn available_memory() -> Option<u64> {
    let machine = rustix::system::sysinfo();
    let total = u64::from(machine.mem_unit).checked_mul(machine.totalram as u64).filter(|bytes| *bytes > 0);
    let resources = [Resource::As, Resource::Data].map(|resource| getrlimit(resource).current);
    total.into_iter().chain(resources.into_iter().flatten()).chain(cgroup_limit()).min()
}

/// Returns the resident memory of this process in bytes, or `None` if `/proc` is not available.
#[must_use]
pub fn resident_memory() -> Option<u64> {
    let text = fs::read_to_string("/proc/self/statm").ok()?;
    let pages: u64 = text.split_ascii_whitespace().nth(1)?.parse().ok()?;
    pages.checked_mul(rustix::param::page_size() as u64)
}

/// Returns the lowest memory limit of the control groups of this process.
fn cgroup_limit() -> Option<u64> {
    let Hierarchies { unified, memory, .. } = Hierarchies::discover();
    let limits = |group: Option<PathBuf>, file| {
        let group = group.unwrap_or_default();
        group.ancestors().filter_map(|directory| limit_in(&directory.join(file))).min()
    };
    let found = [limits(unified, "memory.max"), limits(memory, "memory.limit_in_bytes")];
    found.into_iter().flatten().min()
}

/// Reads a limit of a control group. Returns `None` for "max".
fn limit_in(file: &Path) -> Option<u64> {
    fs::read_to_string(file).ok()?.trim().parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn available_and_resident_memory_are_known() {
        let (available, resident) = (available_memory().unwrap(), resident_memory().unwrap());
        assert!(resident > 0 && resident < available, "{resident} of {available}");
    }
}
