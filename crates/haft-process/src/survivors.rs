//! How many processes of a job are left, as far as that is proven.

use std::fmt;

use serde::{Serialize, Serializer};

/// The processes that outlived the end of a job.
///
/// It compares with a number: `survivors == 0` holds only where it is proven that none is left.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Survivors {
    /// These processes are left, and no others.
    Known(Vec<i32>),
    /// It cannot be told whether any are left, besides those that were found.
    Unknown {
        /// Why it cannot be told.
        reason: UnknownSurvivors,
        /// The processes that were found.
        found: Vec<i32>,
    },
}

/// Why it cannot be told whether processes of a job are left.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum UnknownSurvivors {
    /// This process is not a subreaper and no control group holds the job: an orphan may have left unseen.
    OrphansNotInherited,
    /// An orphan could belong to this run or to another one that ran at the same time.
    SharedOrphans,
    /// This process had children before it became a subreaper, and an orphan may be one of their descendants.
    EarlierChildren,
    /// The job's supervisor failed before it could look.
    NotChecked,
}

impl Survivors {
    /// No process is left.
    pub const NONE: Survivors = Survivors::Known(Vec::new());

    /// These processes, and perhaps others for a reason.
    pub(crate) fn new(pids: Vec<i32>, doubt: Option<UnknownSurvivors>) -> Survivors {
        match doubt {
            Some(reason) => Survivors::Unknown { reason, found: pids },
            None => Survivors::Known(pids),
        }
    }

    /// How many are left, if that is known.
    pub fn count(&self) -> Option<usize> {
        match self {
            Survivors::Known(pids) => Some(pids.len()),
            Survivors::Unknown { .. } => None,
        }
    }

    /// The processes that are known to be left.
    pub fn pids(&self) -> &[i32] {
        match self {
            Survivors::Known(pids) | Survivors::Unknown { found: pids, .. } => pids,
        }
    }

    /// Why the number is not known, if it is not.
    pub fn unknown(&self) -> Option<UnknownSurvivors> {
        match self {
            Survivors::Known(_) => None,
            Survivors::Unknown { reason, .. } => Some(*reason),
        }
    }

    /// Adds those of another job; a number that is unknown makes the sum unknown.
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
                "no control group holds the processes and this process is not a subreaper"
            }
            UnknownSurvivors::SharedOrphans => {
                "an orphaned process may belong to this run or to another one that ran at the same time"
            }
            UnknownSurvivors::EarlierChildren => {
                "an orphaned process may descend from a child that existed before this process was a subreaper"
            }
            UnknownSurvivors::NotChecked => "the supervisor failed before it could look",
        })
    }
}

/// What became of a job's processes.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Tree {
    /// Processes that haft started.
    pub started: usize,
    /// Processes, those and their descendants, that were ended by haft.
    pub killed: usize,
    /// Processes that could not be ended.
    pub survivors: Survivors,
}

impl Tree {
    /// That of a job whose supervisor failed after so many processes were started.
    pub fn unchecked(started: usize) -> Tree {
        let survivors = Survivors::new(Vec::new(), Some(UnknownSurvivors::NotChecked));
        Tree { started, killed: 0, survivors }
    }

    /// Adds what became of a job's leftovers.
    pub fn add_leftovers(&mut self, left: &Tree) {
        self.killed += left.killed;
        self.survivors.extend(&left.survivors);
    }
}

#[derive(Serialize)]
struct TreeReport<'a> {
    started: usize,
    killed: usize,
    survivors: Option<usize>,
    #[serde(skip_serializing_if = "<[i32]>::is_empty")]
    survivor_pids: &'a [i32],
    #[serde(skip_serializing_if = "Option::is_none")]
    survivors_unknown: Option<String>,
}

impl Serialize for Tree {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let report = TreeReport {
            started: self.started,
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
    fn an_unknown_number_is_null_with_a_reason() {
        let survivors = Survivors::new(Vec::new(), Some(UnknownSurvivors::SharedOrphans));
        let tree = Tree { started: 1, killed: 2, survivors };
        let value = serde_json::to_value(&tree).unwrap();
        assert!(value["survivors"].is_null());
        assert!(value["survivors_unknown"].as_str().unwrap().starts_with("an orphaned process"));
        assert!(value.get("survivor_pids").is_none());
    }

    #[test]
    fn an_unknown_number_stays_unknown_whatever_is_added() {
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
