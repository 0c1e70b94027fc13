//! The result of an item.

use std::io;
use std::time::{Duration, SystemTime};

use haft_kernel::{BranchEnd, Bytes};
use haft_process::TIMED_OUT;
use serde_json::{Map, Value};

use crate::status::CANNOT_EXECUTE;

/// The result of one attempt at an item, with its output.
#[derive(Debug)]
pub(super) struct ItemResult {
    pub(super) item: Bytes,
    pub(super) status: i32,
    pub(super) stdout: Vec<u8>,
    pub(super) stderr: Vec<u8>,
    pub(super) started: SystemTime,
    pub(super) duration: Duration,
    pub(super) attempts: u64,
    /// Whether Ctrl-C ended it.
    pub(super) interrupted: bool,
    /// Whether its timeout expired.
    timed_out: bool,
}

impl ItemResult {
    pub(super) fn new(end: BranchEnd, started: SystemTime) -> Self {
        let BranchEnd { status, stdout, stderr, duration, interrupted } = end;
        let (item, attempts, timed_out) = (Bytes::new(), 0, false);
        Self { item, status, stdout, stderr, started, duration, attempts, interrupted, timed_out }
    }

    /// Marks the item as ended by its timeout.
    pub(super) fn time_out(&mut self) {
        (self.status, self.timed_out) = (TIMED_OUT, true);
    }

    /// The result of an item that could not be started.
    pub(super) fn not_started(error: &io::Error) -> Self {
        let stderr = format!("cannot start: {}\n", haft_fs::message(error)).into_bytes();
        let duration = Duration::ZERO;
        let end =
            BranchEnd { status: CANNOT_EXECUTE, stdout: Vec::new(), stderr, duration, interrupted: false };
        Self::new(end, SystemTime::now())
    }

    /// Adds the item and the number of attempts.
    pub(super) fn with_item(mut self, item: Bytes, attempts: u64) -> Self {
        self.item = item;
        self.attempts = attempts;
        self
    }

    /// The record that `gather` prints, as one line of JSON.
    pub(super) fn to_json_line(&self) -> Vec<u8> {
        let mut line = self.record().to_string().into_bytes();
        line.push(b'\n');
        line
    }

    /// The record of the item.
    pub(super) fn record(&self) -> Value {
        let mut lossy = false;
        let mut text = |bytes: &[u8]| {
            let text = String::from_utf8_lossy(bytes);
            lossy |= matches!(text, std::borrow::Cow::Owned(_));
            Value::String(text.into_owned())
        };
        let mut record = Map::new();
        record.insert("item".to_owned(), text(&self.item));
        record.insert("status".to_owned(), self.status.into());
        record.insert("output".to_owned(), text(&self.stdout));
        record.insert("stderr".to_owned(), text(&self.stderr));
        record.insert("duration".to_owned(), (self.duration.as_micros() as f64 / 1e6).into());
        record.insert("attempts".to_owned(), self.attempts.into());
        for (name, is_set) in [("timed_out", self.timed_out), ("lossy", lossy)] {
            if is_set {
                record.insert(name.to_owned(), true.into());
            }
        }
        Value::Object(record)
    }
}
