//! The records of a fan-out as the typed result of a run.

use haft_scale::ItemRecord;
use serde_json::Value;

use super::json_record;

/// The most output that records may hold.
const MAX_DATA_BYTES: usize = 1 << 20;

/// The records so far. `None` if they are not wanted, or too large.
#[derive(Debug)]
pub(super) struct RecordedData {
    records: Option<Vec<Value>>,
    bytes: usize,
}

impl RecordedData {
    pub(super) fn new(is_wanted: bool) -> Self {
        Self { records: is_wanted.then(Vec::new), bytes: 0 }
    }

    pub(super) fn add(&mut self, result: &ItemRecord) {
        let Some(records) = &mut self.records else { return };
        self.bytes += result.item.len() + result.stdout.len() + result.stderr.len();
        match self.bytes > MAX_DATA_BYTES {
            true => self.records = None,
            false => records.push(json_record::to_json(result)),
        }
    }

    /// All records.
    pub(super) fn take(&mut self) -> Option<Value> {
        self.records.take().map(Value::Array)
    }
}
