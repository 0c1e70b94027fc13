//! Retains the outputs of earlier calls.

use std::collections::VecDeque;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use haft_process::capture::Output;

use super::owner::{EVERYONE, STATELESS};

/// Limits on retained outputs.
#[derive(Clone, Copy, Debug)]
pub struct OutputLimits {
    /// The maximum number of outputs.
    pub count: usize,
    /// The maximum number of bytes in files.
    pub disk: u64,
    /// How long an output is retained.
    pub age: Duration,
}

impl Default for OutputLimits {
    /// 256 outputs, 1 GiB, two hours.
    fn default() -> OutputLimits {
        OutputLimits { count: 256, disk: 1 << 30, age: Duration::from_secs(2 * 3600) }
    }
}

/// The retained outputs, oldest first.
#[derive(Debug)]
pub(crate) struct RetainedOutputs {
    limits: OutputLimits,
    kept: Mutex<VecDeque<RetainedOutput>>,
}

/// A retained output.
#[derive(Clone, Debug)]
pub(crate) struct RetainedOutput {
    pub(crate) output: Output,
    /// The id of its [`ResourceOwner`](super::owner::ResourceOwner).
    pub(crate) owner: u64,
    /// A description of what wrote it.
    pub(crate) origin: String,
    pub(crate) since: Instant,
}

impl RetainedOutputs {
    pub(crate) fn new(limits: OutputLimits) -> RetainedOutputs {
        RetainedOutputs { limits, kept: Mutex::default() }
    }

    /// Adds an output, and drops the oldest ones that exceed a limit.
    pub(crate) fn retain(&self, kept: RetainedOutput) {
        let mut all = self.lock();
        if all.iter().any(|other| other.output.id() == kept.output.id()) {
            return;
        }
        all.push_back(kept);
        while all.len() > self.limits.count {
            all.pop_front();
        }
        let mut disk: u64 = all.iter().map(|kept| kept.output.spilled_bytes()).sum();
        while disk > self.limits.disk && all.len() > 1 {
            disk -= all.pop_front().map_or(0, |kept| kept.output.spilled_bytes());
        }
    }

    /// Finds an output of a client by its id.
    pub(crate) fn get(&self, owner: u64, id: &str) -> Option<Output> {
        let kept = self.list(owner).into_iter().find(|kept| kept.output.id().as_str() == id);
        kept.map(|kept| kept.output)
    }

    /// The outputs that a client can list: its own ones, and those that outlived their client, newest first.
    pub(crate) fn list(&self, owner: u64) -> Vec<RetainedOutput> {
        let owner = if owner == STATELESS { EVERYONE } else { owner };
        let visible = |kept: &&RetainedOutput| [owner, EVERYONE].contains(&kept.owner);
        self.lock().iter().rev().filter(visible).cloned().collect()
    }

    /// Makes the outputs of a client that has disconnected visible to all clients.
    pub(crate) fn share(&self, owner: u64) {
        let mut all = self.lock();
        all.iter_mut().filter(|kept| kept.owner == owner).for_each(|kept| kept.owner = EVERYONE);
    }

    /// Drops outputs that exceed the maximum age.
    pub(crate) fn sweep(&self, now: Instant) {
        self.lock().retain(|kept| now.saturating_duration_since(kept.since) < self.limits.age);
    }

    /// Drops all outputs of an owner.
    pub(crate) fn remove_owned_by(&self, owner: u64) {
        self.lock().retain(|kept| kept.owner != owner);
    }

    fn lock(&self) -> MutexGuard<'_, VecDeque<RetainedOutput>> {
        self.kept.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use haft_process::capture::{CaptureLimits, SpillDirectory};

    use super::*;

    fn kept(output: &Output, since: Instant) -> RetainedOutput {
        RetainedOutput { output: output.clone(), owner: 1, origin: String::new(), since }
    }

    fn written(bytes: usize, directory: &std::path::Path) -> Output {
        let limits = CaptureLimits { head: 1, tail: 1, spill: 1 << 20 };
        let output = Output::new(limits, Some(SpillDirectory::open(directory).unwrap()));
        output.append(&vec![b'x'; bytes]);
        output
    }

    #[test]
    fn the_oldest_outputs_are_dropped_by_count_size_and_age() {
        let directory = tempfile::tempdir().unwrap();
        let now = Instant::now();
        let limits = OutputLimits { count: 3, disk: 2500, age: Duration::from_secs(10) };
        let outputs = RetainedOutputs::new(limits);
        let all: Vec<Output> = (0..4).map(|_| written(10, directory.path())).collect();
        all.iter().for_each(|output| outputs.retain(kept(output, now)));
        assert!(
            outputs.get(1, all[0].id().as_str()).is_none() && outputs.get(1, all[1].id().as_str()).is_some()
        );

        let large: Vec<Output> = (0..3).map(|_| written(1000, directory.path())).collect();
        large.iter().for_each(|output| outputs.retain(kept(output, now)));
        assert!(
            outputs.get(1, large[0].id().as_str()).is_none()
                && outputs.get(1, large[1].id().as_str()).is_some()
        );
        assert!(outputs.get(2, large[1].id().as_str()).is_none(), "it belongs to another client");
        let path = large[0].spill_path().unwrap();
        drop((all, large));
        assert!(!path.exists());

        outputs.sweep(now + Duration::from_secs(10));
        assert!(outputs.list(1).is_empty());
    }
}
