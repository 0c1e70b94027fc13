//! Outputs that stay addressable after their call.

use std::collections::VecDeque;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use haft_process::capture::Output;

/// How much of earlier outputs is kept.
#[derive(Clone, Copy, Debug)]
pub struct OutputLimits {
    /// So many outputs.
    pub count: usize,
    /// So many bytes of them in files.
    pub disk: u64,
    /// For so long.
    pub age: Duration,
}

impl Default for OutputLimits {
    /// 256 outputs, 1 GiB, two hours.
    fn default() -> OutputLimits {
        OutputLimits { count: 256, disk: 1 << 30, age: Duration::from_secs(2 * 3600) }
    }
}

/// The outputs of earlier calls, the oldest first.
#[derive(Debug)]
pub(crate) struct RetainedOutputs {
    limits: OutputLimits,
    kept: Mutex<VecDeque<RetainedOutput>>,
}

/// An output and what it is of.
#[derive(Clone, Debug)]
pub(crate) struct RetainedOutput {
    pub(crate) output: Output,
    /// Whose it is; see [`super::owner::Owner`].
    pub(crate) owner: u64,
    /// What wrote it, for a list.
    pub(crate) origin: String,
    pub(crate) since: Instant,
}

impl RetainedOutputs {
    pub(crate) fn new(limits: OutputLimits) -> RetainedOutputs {
        RetainedOutputs { limits, kept: Mutex::default() }
    }

    /// Keeps an output; the oldest ones give way to it.
    pub(crate) fn keep(&self, kept: RetainedOutput) {
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

    /// The output of this name.
    pub(crate) fn get(&self, id: &str) -> Option<Output> {
        self.lock().iter().find(|kept| kept.output.id().as_str() == id).map(|kept| kept.output.clone())
    }

    /// All of them, the latest first.
    pub(crate) fn list(&self) -> Vec<RetainedOutput> {
        self.lock().iter().rev().cloned().collect()
    }

    /// Lets go of those that are too old.
    pub(crate) fn sweep(&self, now: Instant) {
        self.lock().retain(|kept| now.saturating_duration_since(kept.since) < self.limits.age);
    }

    /// Lets go of those that belonged to somebody who has gone.
    pub(crate) fn release(&self, owner: u64) {
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
    fn the_oldest_give_way_by_number_size_and_age() {
        let directory = tempfile::tempdir().unwrap();
        let now = Instant::now();
        let limits = OutputLimits { count: 3, disk: 2500, age: Duration::from_secs(10) };
        let outputs = RetainedOutputs::new(limits);
        let all: Vec<Output> = (0..4).map(|_| written(10, directory.path())).collect();
        all.iter().for_each(|output| outputs.keep(kept(output, now)));
        assert!(outputs.get(all[0].id().as_str()).is_none() && outputs.get(all[1].id().as_str()).is_some());

        let large: Vec<Output> = (0..3).map(|_| written(1000, directory.path())).collect();
        large.iter().for_each(|output| outputs.keep(kept(output, now)));
        assert!(
            outputs.get(large[0].id().as_str()).is_none() && outputs.get(large[1].id().as_str()).is_some()
        );
        let path = large[0].spill_path().unwrap();
        drop((all, large));
        assert!(!path.exists());

        outputs.sweep(now + Duration::from_secs(10));
        assert!(outputs.list().is_empty());
    }
}
