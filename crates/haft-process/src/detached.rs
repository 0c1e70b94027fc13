//! Detached processes: started with `setsid` or `nohup`, or disowned, so that they outlive their parent.

use std::collections::HashSet;
use std::path::Path;

use crate::attribution;
use crate::cgroup;
use crate::guardian;
use crate::proc::{self, ProcessEntry};
use crate::scope::Scope;

impl Scope {
    /// Releases the detached members: processes in a session that a member created for itself, and processes that ignore
    /// `SIGHUP`. They and their descendants leave the scope. Returns their pids.
    ///
    /// A daemon whose session leader has ended stays, because it cannot be distinguished from a process that an ended program
    /// left behind.
    pub(crate) fn release_detached(&self) -> Vec<i32> {
        let members = self.entries();
        let roots = self.seeds().roots.clone();
        let leads_session = |entry: &&ProcessEntry| entry.pid == entry.session && !roots.contains(&entry.pid);
        let sessions: HashSet<i32> = members.iter().filter(leads_session).map(|entry| entry.pid).collect();
        let is_detached =
            |entry: &&ProcessEntry| sessions.contains(&entry.session) || proc::ignores_sighup(entry.pid);
        let detached: Vec<ProcessEntry> = members.iter().filter(is_detached).copied().collect();
        for scope in self.with_outer() {
            scope.seeds().released.extend(detached.iter().map(|entry| (entry.pid, entry.start)));
        }
        attribution::add_released(&detached);
        guardian::spare_released(detached.iter().map(|entry| entry.pid));
        self.move_out_of_cgroups(&detached);
        detached.iter().map(|entry| entry.pid).collect()
    }

    /// Moves processes to the control group of this process.
    fn move_out_of_cgroups(&self, detached: &[ProcessEntry]) {
        let Some(own) = self.with_outer().filter_map(Scope::cgroup_path).last() else { return };
        let Some(outside) = own.parent().and_then(Path::parent) else { return };
        detached.iter().for_each(|entry| cgroup::add_process(outside, entry.pid));
    }
}
