//! Those who have turned away from whoever started them, to outlive him: `setsid`, `nohup`, `disown`.

use std::collections::HashSet;
use std::path::Path;

use crate::attribution;
use crate::cgroup;
use crate::guardian;
use crate::proc::{self, Entry};
use crate::scope::Scope;

impl Scope {
    /// Lets those go who have departed: who are in a session that they have made for themselves or whose first process was let
    /// go, or take no notice of hang-ups. From now on they and what they start are not members. Yields their numbers.
    ///
    /// A daemon whose session has lost its first process cannot be told from what an ended program has left behind, and
    /// stays.
    pub(crate) fn release_detached(&self) -> Vec<i32> {
        let members = self.entries();
        let roots = self.seeds().roots.clone();
        let leads = |entry: &&Entry| entry.pid == entry.session && !roots.contains(&entry.pid);
        let own: HashSet<i32> = members.iter().filter(leads).map(|entry| entry.pid).collect();
        let is_departed = |entry: &&Entry| own.contains(&entry.session) || proc::ignores_hangups(entry.pid);
        let departed: Vec<Entry> = members.iter().filter(is_departed).copied().collect();
        for scope in self.with_outer() {
            scope.seeds().departed.extend(departed.iter().map(|entry| (entry.pid, entry.start)));
        }
        attribution::note_departed(&departed);
        guardian::let_go(departed.iter().map(|entry| entry.pid));
        self.move_out(&departed);
        departed.iter().map(|entry| entry.pid).collect()
    }

    /// Moves processes out of the control groups, to where this process is, so that nothing holds them together but what they
    /// carry themselves.
    fn move_out(&self, departed: &[Entry]) {
        let Some(own) = self.with_outer().filter_map(Scope::cgroup_path).last() else { return };
        let Some(outside) = own.parent().and_then(Path::parent) else { return };
        departed.iter().for_each(|entry| cgroup::admit(outside, entry.pid));
    }
}
