//! Processes that are left after a job has ended.

use std::fmt;

use serde::{Serialize, Serializer};

/// The processes that survived the end of a job.
///
/// Can be compared with a number: `survivors == 0` is true only if it is certain that no process is left.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Survivors {
    /// Exactly these processes are left.
    Known(Vec<i32>),
    /// More processes than those that were found may be left.
    Unknown {
        /// Why the number is unknown.
        reason: UnknownSurvivors,
        /// The processes that were found.
        found: Vec<i32>,
    },
}

/// Why the number of survivors is unknown.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum UnknownSurvivors {
    /// This process is not a subreaper and the job has no control group, so orphans cannot be seen.
    OrphansNotInherited,
    /// An orphan may belong to this run or to another one that ran at the same time.
    SharedOrphans,
    /// An orphan may descend from a child that this process had before it became a subreaper.
    EarlierChildren,
    /// Without `/proc`, descendants of processes that are left cannot be seen, nor processes that fork all the time.
    NoProcessTable,
    /// The supervisor failed before it could check.
    NotChecked,
}

impl Survivors {
    /// No process is left.
    pub const NONE: Survivors = Survivors::Known(Vec::new());

    /// Makes survivors of pids, with a reason if there may be more.
    pub(crate) fn new(pids: Vec<i32>, unknown: Option<UnknownSurvivors>) -> Survivors {
        match unknown {
            Some(reason) => Survivors::Unknown { reason, found: pids },
            None => Survivors::Known(pids),
        }
    }

    /// Returns the number of survivors, if it is known.
    pub fn count(&self) -> Option<usize> {
        match self {
            Survivors::Known(pids) => Some(pids.len()),
            Survivors::Unknown { .. } => None,
        }
    }

    /// Returns the pids that are known to have survived.
    pub fn pids(&self) -> &[i32] {
        match self {
            Survivors::Known(pids) | Survivors::Unknown { found: pids, .. } => pids,
        }
    }

    /// Returns why the number is unknown, if it is.
    pub fn unknown(&self) -> Option<UnknownSurvivors> {
        match self {
            Survivors::Known(_) => None,
            Survivors::Unknown { reason, .. } => Some(*reason),
        }
    }

    /// Adds the survivors of another job. If either number is unknown, the sum is unknown.
    pub fn extend(&mut self, other: &Survivors) {
        let reason = self.unknown().or(other.unknown());
        let mut pids = [self.pids(), other.pids()].concat();
        pids.sort_unstable();
        pids.dedup();
        *self = Survivors::new(pids, reason);
    }
}

impl Default for Survivors {
    fn default() -> Survivors {
        Survivors::NONE
    }
}

impl PartialEq<usize> for Survivors {
    fn eq(&self, count: &usize) -> bool {
        self.count() == Some(*count)
    }
}

impl fmt::Display for UnknownSurvivors {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(match self {
            UnknownSurvivors::OrphansNotInherited => {
                "there is no control group and this process is not a subreaper"
            }
            UnknownSurvivors::SharedOrphans => {
                "an orphaned process may belong to this run or to another one that ran at the same time"
            }
            UnknownSurvivors::EarlierChildren => {
                "an orphaned process may descend from a child that existed before this process was a subreaper"
            }
            UnknownSurvivors::NoProcessTable => {
                "'/proc' is not mounted, so processes may have been overlooked"
            }
            UnknownSurvivors::NotChecked => "the supervisor failed before it could check",
        })
    }
}

/// Number of processes that a job started and that were killed, and the survivors.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Tree {
    /// Processes that haft started, without their descendants.
    pub started: usize,
    /// Processes that haft ended, including descendants.
    pub killed: usize,
    /// Processes that could not be killed.
    pub survivors: Survivors,
}

impl Tree {
    /// Makes the tree of a job whose supervisor failed.
    pub fn unchecked(started: usize) -> Tree {
        let survivors = Survivors::new(Vec::new(), Some(UnknownSurvivors::NotChecked));
        Tree { started, killed: 0, survivors }
    }

    /// Adds the tree of an adopted job. Its processes were counted as started already.
    pub fn add_leftovers(&mut self, left: &Tree) {
        self.killed += left.killed;
        self.survivors.extend(&left.survivors);
    }
}

#[derive(Serialize, schemars::JsonSchema)]
struct TreeReport<'a> {
    /// Processes that haft started itself. The descendants of these are not counted.
    started_by_haft: usize,
    /// Processes that haft ended, descendants included.
    killed: usize,
    /// Processes that could not be ended; null if the number is unknown.
    survivors: Option<usize>,
    /// The process ids of the survivors.
    #[serde(skip_serializing_if = "<[i32]>::is_empty")]
    survivor_pids: &'a [i32],
    /// Why the number of survivors is unknown.
    #[serde(skip_serializing_if = "Option::is_none")]
    survivors_unknown: Option<String>,
}

impl schemars::JsonSchema for Tree {
    fn schema_name() -> std::borrow::Cow<'static, str> {
        "Tree".into()
    }

    fn json_schema(generator: &mut schemars::SchemaGenerator) -> schemars::Schema {
        TreeReport::json_schema(generator)
    }
}

impl Serialize for Tree {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let report = TreeReport {
            started_by_haft: self.started,
            killed: self.killed,
            survivors: self.survivors.count(),
            survivor_pids: self.survivors.pids(),
            survivors_unknown: self.survivors.unknown().map(|reason| reason.to_string()),
        };
        report.serialize(serializer)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn unknown_survivors_are_null_with_a_reason() {
        let survivors = Survivors::new(Vec::new(), Some(UnknownSurvivors::SharedOrphans));
        let tree = Tree { started: 1, killed: 2, survivors };
        let value = serde_json::to_value(&tree).unwrap();
        assert!(value["survivors"].is_null());
        assert!(value["survivors_unknown"].as_str().unwrap().starts_with("an orphaned process"));
        assert!(value.get("survivor_pids").is_none());
    }

    #[test]
    fn unknown_survivors_stay_unknown_in_a_sum() {
        let mut sum = Survivors::Known(vec![7]);
        sum.extend(&Survivors::Known(vec![5, 7]));
        assert_eq!(sum, Survivors::Known(vec![5, 7]));
        assert!(sum == 2);
        sum.extend(&Survivors::new(Vec::new(), Some(UnknownSurvivors::NotChecked)));
        sum.extend(&Survivors::Known(vec![9]));
        assert_eq!((sum.count(), sum.pids()), (None, [5, 7, 9].as_slice()));
        assert!(sum != 0);
    }
}
