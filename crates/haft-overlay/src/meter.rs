//! Measures the space that the changes in an overlay need, while programs run in it.

use std::ffi::OsStr;
use std::sync::{Arc, Weak};
use std::time::{Duration, Instant};

use haft_process::DiskMeter;

use crate::copy::occupied_bytes;
use crate::node::Folder;

/// Minimum time between two measurements.
const MIN_INTERVAL: Duration = Duration::from_millis(50);
/// The interval is at least this multiple of the time that a measurement took.
const INTERVAL_PER_TIME: u32 = 10;

/// Keeps a meter up to date until it is dropped.
#[derive(Debug)]
pub(crate) struct UpperMeter {
    pub(crate) meter: DiskMeter,
    /// The thread ends when this is gone.
    _alive: Arc<()>,
}

impl UpperMeter {
    /// Measures once, then again and again in a thread.
    pub(crate) fn start(uppers: Vec<Folder>) -> std::io::Result<UpperMeter> {
        let (meter, alive) = (DiskMeter::default(), Arc::new(()));
        meter.set(measure(&uppers));
        let (shared, watched) = (meter.clone(), Arc::downgrade(&alive));
        std::thread::Builder::new().name("disk".to_owned()).spawn(move || run(&uppers, &shared, &watched))?;
        Ok(UpperMeter { meter, _alive: alive })
    }
}

fn run(uppers: &[Folder], meter: &DiskMeter, watched: &Weak<()>) {
    let mut interval = MIN_INTERVAL;
    loop {
        std::thread::sleep(interval);
        if watched.strong_count() == 0 {
            return;
        }
        let begun = Instant::now();
        meter.set(measure(uppers));
        interval = MIN_INTERVAL.max(begun.elapsed() * INTERVAL_PER_TIME);
    }
}

/// The occupied bytes. A file that disappears meanwhile does not count.
fn measure(uppers: &[Folder]) -> u64 {
    uppers.iter().map(|upper| occupied_bytes(upper, OsStr::new(""))).sum()
}
