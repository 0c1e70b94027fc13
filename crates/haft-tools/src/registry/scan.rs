//! Scans for all tools and publishes the snapshot.

use std::path::PathBuf;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use super::RegistryState;
use crate::discover::{self, FileStamp, Inspection, ToolCandidate};
use crate::snapshot::{RejectedTool, ToolSnapshot};
use crate::sync::lock;
use crate::tool::Tool;

/// A file and its stamp when it was scanned.
pub(super) type SeenFile = (PathBuf, Option<FileStamp>);

impl RegistryState {
    /// Probes all candidates and queries all providers, then publishes the tools. The first scan publishes files early,
    /// and the tools of each provider when it answers, because another provider may never answer.
    pub(super) fn scan(&self) {
        let (seen, inspections) = self.inspect_all();
        let publish_early = || {
            if !lock(&self.snapshot).is_complete() {
                let (provided, failures) = self.providers.known();
                self.publish(self.combined(inspections.clone(), provided, failures).incomplete());
            }
        };
        if !self.providers.is_empty() {
            publish_early();
        }
        let (provided, failures) = self.providers.query_all(&self.cancel, publish_early);
        self.publish_all(seen, inspections, provided, failures);
    }

    /// Probes all candidates again and reuses the last answers of providers.
    pub(super) fn scan_files(&self) {
        let (seen, inspections) = self.inspect_all();
        let (provided, failures) = self.providers.known();
        self.publish_all(seen, inspections, provided, failures);
    }

    fn publish_all(
        &self,
        seen: Vec<SeenFile>,
        inspections: Vec<(ToolCandidate, Inspection)>,
        provided: Vec<Tool>,
        failures: Vec<RejectedTool>,
    ) {
        *lock(&self.seen) = seen;
        self.publish(self.combined(inspections, provided, failures));
    }

    fn combined(
        &self,
        inspections: Vec<(ToolCandidate, Inspection)>,
        provided: Vec<Tool>,
        failures: Vec<RejectedTool>,
    ) -> ToolSnapshot {
        let natives: Vec<Tool> = self.natives.iter().cloned().chain(provided).collect();
        ToolSnapshot::of_inspections(&natives, inspections).with_rejected(failures)
    }

    /// Returns true if discovery has completed and a new scan would give another result.
    pub(super) fn is_stale(&self) -> bool {
        let snapshot = lock(&self.snapshot).clone();
        let candidates = discover::scan(&self.directories);
        let untrusted = |candidate: &&ToolCandidate| {
            let is_it = |rejected: &RejectedTool| {
                rejected.untrusted && rejected.path.as_ref() == Some(&candidate.path)
            };
            snapshot.rejected().iter().any(is_it)
        };
        let is_trusted =
            |candidate: &ToolCandidate| !matches!(self.inspector.inspect(candidate), Inspection::Untrusted);
        snapshot.is_complete()
            && (stamps(&candidates) != *lock(&self.seen)
                || candidates.iter().filter(untrusted).any(is_trusted))
    }

    /// Probes all candidates in parallel.
    fn inspect_all(&self) -> (Vec<SeenFile>, Vec<(ToolCandidate, Inspection)>) {
        let candidates = discover::scan(&self.directories);
        let seen = stamps(&candidates);
        let next = AtomicUsize::new(0);
        let found: Vec<Mutex<Option<Inspection>>> = candidates.iter().map(|_| Mutex::new(None)).collect();
        let work = || {
            while let Some(index) =
                Some(next.fetch_add(1, Ordering::Relaxed)).filter(|index| *index < found.len())
            {
                *lock(&found[index]) = Some(self.inspector.inspect(&candidates[index]));
            }
        };
        std::thread::scope(|threads| {
            for _ in 1..parallel_probes().min(candidates.len()) {
                let _ = std::thread::Builder::new().name("tools".to_owned()).spawn_scoped(threads, work);
            }
            work();
        });
        let inspections =
            found.into_iter().map(|probe| probe.into_inner().unwrap_or_else(PoisonError::into_inner));
        let inspections =
            candidates.into_iter().zip(inspections).filter_map(|(one, probe)| Some((one, probe?)));
        self.inspector.save();
        let inspections =
            discover::rejected_at_once(&self.directories).into_iter().chain(inspections).collect();
        (seen, inspections)
    }

    fn publish(&self, snapshot: ToolSnapshot) {
        let snapshot = Arc::new(snapshot);
        let old = std::mem::replace(&mut *lock(&self.snapshot), snapshot.clone());
        self.published.notify_all();
        if old.differs(&snapshot) {
            lock(&self.subscribers).iter().for_each(|subscriber| subscriber(&snapshot));
        }
    }
}

fn stamps(candidates: &[ToolCandidate]) -> Vec<SeenFile> {
    candidates.iter().map(|candidate| (candidate.path.clone(), FileStamp::of(&candidate.path).ok())).collect()
}

/// Number of parallel inspections. Some compute and some wait; too many at once would make those that compute miss
/// their time limit.
fn parallel_probes() -> usize {
    std::thread::available_parallelism().map_or(8, |cores| (cores.get() * 4).clamp(8, 32))
}
