//! Associative arrays.

use std::collections::HashMap;

use haft_kernel::Bytes;

use super::value::AwkValue;

/// An associative array.
#[derive(Debug, Default)]
pub(super) struct AwkArray {
    entries: HashMap<Bytes, (u64, AwkValue)>,
    /// The number of the next entry, for the order of traversal.
    next: u64,
}

impl AwkArray {
    pub(super) fn len(&self) -> usize {
        self.entries.len()
    }

    pub(super) fn contains(&self, key: &[u8]) -> bool {
        self.entries.contains_key(key)
    }

    /// The value of an element, which is made if it does not exist.
    pub(super) fn element(&mut self, key: Bytes) -> &mut AwkValue {
        let next = &mut self.next;
        let (_, value) = self.entries.entry(key).or_insert_with(|| {
            *next += 1;
            (*next, AwkValue::Unset)
        });
        value
    }

    /// The value of an element, if it exists.
    pub(super) fn get(&self, key: &[u8]) -> Option<&AwkValue> {
        self.entries.get(key).map(|(_, value)| value)
    }

    pub(super) fn set(&mut self, key: Bytes, value: AwkValue) {
        *self.element(key) = value;
    }

    pub(super) fn remove(&mut self, key: &[u8]) {
        self.entries.remove(key);
    }

    pub(super) fn clear(&mut self) {
        self.entries.clear();
    }

    /// The subscripts in the order of traversal: first texts in the order of insertion, then integers in ascending order.
    pub(super) fn keys(&self) -> Vec<Bytes> {
        let mut keys: Vec<(Option<u64>, u64, &Bytes)> =
            self.entries.iter().map(|(key, (number, _))| (integer(key), *number, key)).collect();
        keys.sort_unstable_by_key(|(integer, number, _)| (*integer, *number));
        keys.into_iter().map(|(_, _, key)| key.clone()).collect()
    }

    pub(super) fn values(&self) -> Vec<AwkValue> {
        self.keys().iter().filter_map(|key| self.get(key)).cloned().collect()
    }

    /// Makes the elements 1, 2, and so on.
    pub(super) fn fill(&mut self, values: impl IntoIterator<Item = AwkValue>) {
        self.clear();
        for (index, value) in values.into_iter().enumerate() {
            self.set(Bytes::from((index + 1).to_string()), value);
        }
    }
}

/// The integer that a subscript is.
fn integer(key: &[u8]) -> Option<u64> {
    let is_integer =
        !key.is_empty() && key.iter().all(u8::is_ascii_digit) && (key[0] != b'0' || key.len() == 1);
    if is_integer { str::from_utf8(key).ok()?.parse().ok() } else { None }
}
