//! A thread that follows the journals and passes changes to the open pages.

use std::io;
use std::os::fd::AsFd as _;
use std::path::Path;
use std::sync::Arc;
use std::thread;
use std::time::{Duration, Instant};

use haft_process::CancelToken;
use haft_records::{RecordFollower, RunSummary};
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use tokio::sync::{Notify, broadcast};

/// Changes within this time are passed on together.
const BATCH_INTERVAL: Duration = Duration::from_millis(15);
/// How often runs without a record of their end are checked.
const LOST_INTERVAL: Duration = Duration::from_secs(1);
/// The most batches that wait for a slow page. A page that misses some loads its list again.
const MAX_BATCHES: usize = 64;

/// Changes of runs, several at a time.
pub(crate) type RunBatch = Arc<[RunSummary]>;

/// The source of changes.
#[derive(Debug)]
pub(crate) struct RunUpdates {
    sender: broadcast::Sender<RunBatch>,
    stop: Arc<Notify>,
}

impl RunUpdates {
    /// Receives the changes from now on.
    pub(crate) fn subscribe(&self) -> broadcast::Receiver<RunBatch> {
        self.sender.subscribe()
    }

    /// Notified when the server must stop.
    pub(crate) fn stop(&self) -> Arc<Notify> {
        self.stop.clone()
    }
}

/// Starts the thread. It ends when `cancel` is cancelled.
///
/// # Errors
/// If the journals cannot be followed.
pub(crate) fn track(records: &Path, cancel: &CancelToken) -> io::Result<RunUpdates> {
    let follower = RecordFollower::open(records)?;
    cancel.descriptor().map_err(io::Error::other)?;
    let (sender, _) = broadcast::channel(MAX_BATCHES);
    let updates = RunUpdates { sender: sender.clone(), stop: Arc::default() };
    let (cancel, stop) = (cancel.clone(), updates.stop.clone());
    thread::Builder::new().name("journals".to_owned()).spawn(move || {
        let _ = follow(follower, &sender, &cancel);
        stop.notify_one();
    })?;
    Ok(updates)
}

fn follow(
    mut follower: RecordFollower,
    sender: &broadcast::Sender<RunBatch>,
    cancel: &CancelToken,
) -> io::Result<()> {
    let timeout = Timespec::try_from(LOST_INTERVAL).map_err(io::Error::other)?;
    let mut checked = Instant::now();
    loop {
        let cancelled = cancel.descriptor().map_err(io::Error::other)?;
        let mut set = [
            PollFd::from_borrowed_fd(cancelled, PollFlags::IN),
            PollFd::from_borrowed_fd(follower.as_fd(), PollFlags::IN),
        ];
        let _ = poll(&mut set, Some(&timeout));
        if !set[0].revents().is_empty() {
            return Ok(());
        }
        // An error may pass, such as a lack of descriptors.
        let mut changed = follower.update().unwrap_or_default();
        if checked.elapsed() >= LOST_INTERVAL {
            checked = Instant::now();
            changed.extend(follower.lost());
        }
        if !changed.is_empty() {
            // Fails only if no page is open.
            let _ = sender.send(changed.into());
        }
        thread::sleep(BATCH_INTERVAL);
    }
}
