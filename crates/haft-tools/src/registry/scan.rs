//! Looking for all tools, and telling what was found.

use std::path::PathBuf;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use super::{RegistryState, lock};
use crate::discover::{self, FileStamp, Inspection, ToolCandidate};
use crate::snapshot::{RejectedTool, ToolSnapshot};
use crate::tool::Tool;

/// A file as it was when it was looked at.
pub(super) type SeenFile = (PathBuf, Option<FileStamp>);

impl RegistryState {
    /// Asks all candidates and all providers, and publishes what they are and have. The first time files need not wait for
    /// providers, some of which may never answer.
    pub(super) fn scan(&self) {
        let (seen, probes) = self.probe_all();
        if !self.providers.is_empty() && !lock(&self.snapshot).is_complete() {
            self.publish(ToolSnapshot::of_probes(&self.natives, probes.clone()).incomplete());
        }
        let (provided, faults) = self.providers.ask_all(&self.cancel);
        self.publish_all(seen, probes, provided, faults);
    }

    /// Asks all candidates again, and believes what providers have said before.
    pub(super) fn scan_files(&self) {
        let (seen, probes) = self.probe_all();
        let (provided, faults) = self.providers.known();
        self.publish_all(seen, probes, provided, faults);
    }

    fn publish_all(
        &self,
        seen: Vec<SeenFile>,
        probes: Vec<(ToolCandidate, Inspection)>,
        provided: Vec<Tool>,
        faults: Vec<RejectedTool>,
    ) {
        *lock(&self.seen) = seen;
        let natives: Vec<Tool> = self.natives.iter().cloned().chain(provided).collect();
        self.publish(ToolSnapshot::of_probes(&natives, probes).with_rejected(faults));
    }

    /// Whether all tools were looked at, and a look would show something else now.
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
            |candidate: &ToolCandidate| !matches!(self.inspector.probe(candidate), Inspection::Untrusted);
        snapshot.is_complete()
            && (sights(&candidates) != *lock(&self.seen)
                || candidates.iter().filter(untrusted).any(is_trusted))
    }

    /// Asks all candidates, several at a time.
    fn probe_all(&self) -> (Vec<SeenFile>, Vec<(ToolCandidate, Inspection)>) {
        let candidates = discover::scan(&self.directories);
        let seen = sights(&candidates);
        let next = AtomicUsize::new(0);
        let found: Vec<Mutex<Option<Inspection>>> = candidates.iter().map(|_| Mutex::new(None)).collect();
        let work = || {
            while let Some(index) =
                Some(next.fetch_add(1, Ordering::Relaxed)).filter(|index| *index < found.len())
            {
                *lock(&found[index]) = Some(self.inspector.probe(&candidates[index]));
            }
        };
        std::thread::scope(|threads| {
            for _ in 1..width().min(candidates.len()) {
                let _ = std::thread::Builder::new().name("tools".to_owned()).spawn_scoped(threads, work);
            }
            work();
        });
        let probes =
            found.into_iter().map(|probe| probe.into_inner().unwrap_or_else(PoisonError::into_inner));
        let probes = candidates.into_iter().zip(probes).filter_map(|(one, probe)| Some((one, probe?)));
        self.inspector.save();
        let probes = discover::crowded(&self.directories).into_iter().chain(probes).collect();
        (seen, probes)
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

fn sights(candidates: &[ToolCandidate]) -> Vec<SeenFile> {
    candidates.iter().map(|candidate| (candidate.path.clone(), FileStamp::of(&candidate.path).ok())).collect()
}

/// How many tools are asked at once. Some compute and some wait; with too many at once, those that compute would need longer
/// than they are given.
fn width() -> usize {
    std::thread::available_parallelism().map_or(8, |cores| (cores.get() * 4).clamp(8, 32))
}
