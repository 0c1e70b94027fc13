//! Who belongs to a scope: a pure look at a table of processes.

use std::collections::HashSet;

use crate::proc::Entry;

/// What is known of a scope's members before the table is looked at.
#[derive(Clone, Debug, Default)]
pub(crate) struct Seeds {
    /// Processes started in the scope and not reaped yet, so that their numbers can mean no other process, group or
    /// session.
    pub(crate) roots: Vec<i32>,
    /// Processes found earlier, with the time of their start.
    pub(crate) strays: Vec<(i32, u64)>,
    /// Processes that belong to it for another reason: its control group, or being an orphan of this process.
    pub(crate) known: Vec<i32>,
    /// Processes that were let go, with the time of their start.
    pub(crate) departed: Vec<(i32, u64)>,
}

/// The living members: seeds, those in their groups and sessions, those that carry the marker, and all descendants; without
/// those who were let go, and theirs.
pub(crate) fn members(
    table: &[Entry],
    seeds: &Seeds,
    own: i32,
    mut marked: impl FnMut(&Entry) -> bool,
) -> Vec<Entry> {
    let mut inside: HashSet<i32> = HashSet::new();
    for entry in table.iter().filter(|entry| entry.pid != own && entry.pid != 1) {
        if is_seed(entry, seeds) || (!entry.zombie && marked(entry)) {
            inside.insert(entry.pid);
        }
    }
    add_descendants(&mut inside, table, own);
    let outside = departed(table, seeds, own);
    let is_member = |entry: &&Entry| inside.contains(&entry.pid) && !outside.contains(&entry.pid);
    table.iter().filter(|entry| is_member(entry) && !entry.zombie).copied().collect()
}

/// The processes that were let go, and their descendants.
pub(crate) fn departed(table: &[Entry], seeds: &Seeds, own: i32) -> HashSet<i32> {
    let departed = table.iter().filter(|entry| seeds.departed.contains(&(entry.pid, entry.start)));
    let mut outside: HashSet<i32> = departed.map(|entry| entry.pid).collect();
    add_descendants(&mut outside, table, own);
    outside
}

/// The living descendants of a process, without those that are spared and their descendants.
pub(crate) fn descendants(table: &[Entry], root: i32, spared: &[i32]) -> Vec<Entry> {
    let mut outside: HashSet<i32> = spared.iter().copied().collect();
    add_descendants(&mut outside, table, root);
    let mut inside = HashSet::from([root]);
    add_descendants(&mut inside, table, root);
    let is_inside = |entry: &&Entry| inside.contains(&entry.pid) && !outside.contains(&entry.pid);
    table.iter().filter(|entry| is_inside(entry) && entry.pid != root && !entry.zombie).copied().collect()
}

fn add_descendants(set: &mut HashSet<i32>, table: &[Entry], own: i32) {
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

/// The process groups of members that none of the others is in. A signal to a group reaches all who are in it, those who
/// are being born included, which a look at the table and a signal to each of them cannot do.
pub(crate) fn groups<'a>(members: &[Entry], others: impl Iterator<Item = &'a Entry>) -> Vec<i32> {
    let others: HashSet<i32> = others.map(|entry| entry.group).collect();
    let own: HashSet<i32> = members.iter().map(|member| member.group).collect();
    own.difference(&others).copied().collect()
}

fn is_seed(entry: &Entry, seeds: &Seeds) -> bool {
    let root = |number: &i32| *number == entry.pid || *number == entry.group || *number == entry.session;
    seeds.roots.iter().any(root)
        || seeds.strays.contains(&(entry.pid, entry.start))
        || seeds.known.contains(&entry.pid)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn entry(pid: i32, parent: i32, group: i32, session: i32) -> Entry {
        Entry { pid, parent, group, session, start: 100 + pid as u64, zombie: false }
    }

    fn pids(found: &[Entry]) -> Vec<i32> {
        found.iter().map(|entry| entry.pid).collect()
    }

    #[test]
    fn children_of_children_belong() {
        let table =
            [entry(10, 5, 10, 10), entry(12, 11, 12, 12), entry(11, 10, 11, 11), entry(20, 1, 20, 20)];
        let seeds = Seeds { roots: vec![10], ..Seeds::default() };
        assert_eq!(pids(&members(&table, &seeds, 5, |_| false)), [10, 12, 11]);
    }

    #[test]
    fn an_orphan_is_known_by_group_session_or_marker() {
        let table = [entry(30, 1, 10, 10), entry(31, 1, 31, 10), entry(32, 1, 32, 32), entry(33, 1, 33, 33)];
        let seeds = Seeds { roots: vec![10], ..Seeds::default() };
        assert_eq!(pids(&members(&table, &seeds, 5, |entry| entry.pid == 32)), [30, 31, 32]);
    }

    #[test]
    fn a_number_used_again_is_somebody_else() {
        let seeds = Seeds { strays: vec![(30, 130), (31, 7)], ..Seeds::default() };
        let table = [entry(30, 1, 30, 30), entry(31, 1, 31, 31)];
        assert_eq!(pids(&members(&table, &seeds, 5, |_| false)), [30]);
    }

    #[test]
    fn who_was_let_go_is_no_member_and_neither_are_his_children() {
        let table =
            [entry(10, 5, 10, 10), entry(11, 10, 11, 11), entry(12, 11, 11, 11), entry(13, 10, 10, 10)];
        let seeds = Seeds { roots: vec![10], departed: vec![(11, 111), (13, 7)], ..Seeds::default() };
        assert_eq!(pids(&members(&table, &seeds, 5, |_| true)), [10, 13]);
    }

    #[test]
    fn the_dead_and_oneself_do_not_count() {
        let mut dead = entry(11, 10, 10, 10);
        dead.zombie = true;
        let table = [entry(5, 1, 5, 5), entry(10, 5, 10, 10), dead];
        let seeds = Seeds { roots: vec![10], known: vec![5], ..Seeds::default() };
        assert_eq!(pids(&members(&table, &seeds, 5, |_| false)), [10]);
    }

    #[test]
    fn descendants_are_all_below_a_process_but_those_that_are_spared() {
        let table =
            [entry(11, 5, 11, 11), entry(12, 11, 12, 12), entry(13, 5, 13, 13), entry(14, 13, 13, 13)];
        let table = [table.as_slice(), &[entry(5, 1, 5, 5), entry(20, 1, 20, 20)]].concat();
        assert_eq!(pids(&descendants(&table, 5, &[13])), [11, 12]);
    }

    #[test]
    fn a_group_that_somebody_else_is_in_is_not_ours() {
        let table = [entry(5, 1, 5, 5), entry(10, 5, 10, 10), entry(11, 10, 10, 10), entry(12, 10, 5, 5)];
        assert_eq!(groups(&table[1..], table[..1].iter()), [10]);
    }
}
