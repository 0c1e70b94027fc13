//! The JSON record of an item.

use std::borrow::Cow;

use haft_scale::{ItemEnd, ItemRecord};
use serde_json::{Map, Value};

/// The record that `gather` prints, as one line of JSON.
pub(super) fn to_json_line(record: &ItemRecord) -> Vec<u8> {
    let mut line = to_json(record).to_string().into_bytes();
    line.push(b'\n');
    line
}

/// The record of an item.
pub(super) fn to_json(item: &ItemRecord) -> Value {
    let mut lossy = false;
    let mut text = |bytes: &[u8]| {
        let text = String::from_utf8_lossy(bytes);
        lossy |= matches!(text, Cow::Owned(_));
        Value::String(text.into_owned())
    };
    let mut record = Map::new();
    record.insert("item".to_owned(), text(&item.item));
    record.insert("status".to_owned(), item.status.into());
    record.insert("output".to_owned(), text(&item.stdout));
    record.insert("stderr".to_owned(), text(&item.stderr));
    record.insert("duration".to_owned(), (item.duration.as_micros() as f64 / 1e6).into());
    record.insert("attempts".to_owned(), item.attempts.into());
    for (name, value) in [("node", &item.node), ("job", &item.job)] {
        if let Some(value) = value {
            record.insert(name.to_owned(), value.as_str().into());
        }
    }
    for (name, is_set) in [("timed_out", item.end == ItemEnd::TimedOut), ("lossy", lossy)] {
        if is_set {
            record.insert(name.to_owned(), true.into());
        }
    }
    Value::Object(record)
}
