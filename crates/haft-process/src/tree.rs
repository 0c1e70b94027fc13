//! Which processes of a table belong to a scope. Pure functions, without I/O.

use std::collections::HashSet;

use crate::proc::ProcessEntry;

/// The members of a scope that are known without the process table.
#[derive(Clone, Debug, Default)]
pub(crate) struct Seeds {
    /// Processes that were started in the scope and are not reaped yet, so their pids, and the groups and sessions of the same
    /// number, are not reused.
    pub(crate) roots: Vec<i32>,
    /// Process groups whose leader, a root, was reaped before the other processes of the group ended.
    pub(crate) groups: Vec<i32>,
    /// Members that were found earlier, with their start times.
    pub(crate) strays: Vec<(i32, u64)>,
    /// Members of the scope's control group.
    pub(crate) known: Vec<i32>,
    /// Processes that were released, with their start times.
    pub(crate) released: Vec<(i32, u64)>,
}

/// Returns the running members: the seeds, processes in their groups and sessions, processes that are `marked`, and all
/// descendants. Released processes and their descendants are not members.
pub(crate) fn members(
    table: &[ProcessEntry],
    seeds: &Seeds,
    own: i32,
    mut marked: impl FnMut(&ProcessEntry) -> bool,
) -> Vec<ProcessEntry> {
    let mut inside: HashSet<i32> = HashSet::new();
    for entry in table.iter().filter(|entry| entry.pid != own && entry.pid != 1) {
        if is_seed(entry, seeds) || (!entry.zombie && marked(entry)) {
            inside.insert(entry.pid);
        }
    }
    add_descendants(&mut inside, table, own);
    let outside = released(table, seeds, own);
    let is_member = |entry: &&ProcessEntry| inside.contains(&entry.pid) && !outside.contains(&entry.pid);
    table.iter().filter(|entry| is_member(entry) && !entry.zombie).copied().collect()
}

/// Returns the released processes and their descendants.
pub(crate) fn released(table: &[ProcessEntry], seeds: &Seeds, own: i32) -> HashSet<i32> {
    let released = table.iter().filter(|entry| seeds.released.contains(&(entry.pid, entry.start)));
    let mut outside: HashSet<i32> = released.map(|entry| entry.pid).collect();
    add_descendants(&mut outside, table, own);
    outside
}

/// Returns the running descendants of this process, except released processes and their descendants.
pub(crate) fn unreleased(table: &[ProcessEntry], seeds: &Seeds, own: i32) -> Vec<ProcessEntry> {
    let outside = released(table, seeds, own);
    let inside = descendants(table, own, &[]);
    inside.into_iter().filter(|entry| !outside.contains(&entry.pid)).collect()
}

/// Returns the running descendants of a process, except those in `spared` and their descendants.
pub(crate) fn descendants(table: &[ProcessEntry], root: i32, spared: &[i32]) -> Vec<ProcessEntry> {
    let mut outside: HashSet<i32> = spared.iter().copied().collect();
    add_descendants(&mut outside, table, root);
    let mut inside = HashSet::from([root]);
    add_descendants(&mut inside, table, root);
    let is_inside = |entry: &&ProcessEntry| inside.contains(&entry.pid) && !outside.contains(&entry.pid);
    table.iter().filter(|entry| is_inside(entry) && entry.pid != root && !entry.zombie).copied().collect()
}

fn add_descendants(set: &mut HashSet<i32>, table: &[ProcessEntry], own: i32) {
    loop {
        let before = set.len();
        for entry in table {
            if set.contains(&entry.parent) && entry.pid != own {
                set.insert(entry.pid);
            }
        }
        if set.len() == before {
            break;
        }
    }
}

/// Returns the process groups that contain members and none of the others. A signal to a group also reaches processes that
/// were forked after the scan.
pub(crate) fn groups<'a>(
    members: &[ProcessEntry],
    others: impl Iterator<Item = &'a ProcessEntry>,
) -> Vec<i32> {
    let others: HashSet<i32> = others.map(|entry| entry.group).collect();
    let own: HashSet<i32> = members.iter().map(|member| member.group).collect();
    own.difference(&others).copied().collect()
}

fn is_seed(entry: &ProcessEntry, seeds: &Seeds) -> bool {
    let root = |number: &i32| *number == entry.pid || *number == entry.group || *number == entry.session;
    seeds.roots.iter().any(root)
        || seeds.strays.contains(&(entry.pid, entry.start))
        || seeds.known.contains(&entry.pid)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn entry(pid: i32, parent: i32, group: i32, session: i32) -> ProcessEntry {
        ProcessEntry { pid, parent, group, session, start: 100 + pid as u64, threads: 1, zombie: false }
    }

    fn pids(found: &[ProcessEntry]) -> Vec<i32> {
        found.iter().map(|entry| entry.pid).collect()
    }

    #[test]
    fn descendants_are_members() {
        let table =
            [entry(10, 5, 10, 10), entry(12, 11, 12, 12), entry(11, 10, 11, 11), entry(20, 1, 20, 20)];
        let seeds = Seeds { roots: vec![10], ..Seeds::default() };
        assert_eq!(pids(&members(&table, &seeds, 5, |_| false)), [10, 12, 11]);
    }

    #[test]
    fn orphans_are_found_by_group_session_or_marker() {
        let table = [entry(30, 1, 10, 10), entry(31, 1, 31, 10), entry(32, 1, 32, 32), entry(33, 1, 33, 33)];
        let seeds = Seeds { roots: vec![10], ..Seeds::default() };
        assert_eq!(pids(&members(&table, &seeds, 5, |entry| entry.pid == 32)), [30, 31, 32]);
    }

    #[test]
    fn reused_pids_are_not_members() {
        let seeds = Seeds { strays: vec![(30, 130), (31, 7)], ..Seeds::default() };
        let table = [entry(30, 1, 30, 30), entry(31, 1, 31, 31)];
        assert_eq!(pids(&members(&table, &seeds, 5, |_| false)), [30]);
    }

    #[test]
    fn released_processes_and_their_children_leave_the_scope() {
        let table =
            [entry(10, 5, 10, 10), entry(11, 10, 11, 11), entry(12, 11, 11, 11), entry(13, 10, 10, 10)];
        let seeds = Seeds { roots: vec![10], released: vec![(11, 111), (13, 7)], ..Seeds::default() };
        assert_eq!(pids(&members(&table, &seeds, 5, |_| true)), [10, 13]);
    }

    #[test]
    fn zombies_and_this_process_are_not_members() {
        let mut dead = entry(11, 10, 10, 10);
        dead.zombie = true;
        let table = [entry(5, 1, 5, 5), entry(10, 5, 10, 10), dead];
        let seeds = Seeds { roots: vec![10], known: vec![5], ..Seeds::default() };
        assert_eq!(pids(&members(&table, &seeds, 5, |_| false)), [10]);
    }

    #[test]
    fn spared_processes_and_their_children_are_not_descendants() {
        let table =
            [entry(11, 5, 11, 11), entry(12, 11, 12, 12), entry(13, 5, 13, 13), entry(14, 13, 13, 13)];
        let table = [table.as_slice(), &[entry(5, 1, 5, 5), entry(20, 1, 20, 20)]].concat();
        assert_eq!(pids(&descendants(&table, 5, &[13])), [11, 12]);
    }

    #[test]
    fn groups_with_other_processes_are_excluded() {
        let table = [entry(5, 1, 5, 5), entry(10, 5, 10, 10), entry(11, 10, 10, 10), entry(12, 10, 5, 5)];
        assert_eq!(groups(&table[1..], table[..1].iter()), [10]);
    }
}
