//! Associative arrays.

use std::collections::HashMap;

use foldhash::fast::RandomState;
use haft_text::Bytes;

/// An associative array. Its elements are listed in the order of bash: by the hash bucket of the key, the newest first within a
/// bucket.
#[derive(Clone, Debug, Default)]
pub struct AssociativeArray {
    entries: HashMap<Bytes, AssociativeEntry, RandomState>,
    /// The sequence number of the next new key.
    next: u64,
}

#[derive(Clone, Debug)]
struct AssociativeEntry {
    value: Bytes,
    sequence: u64,
}

/// The initial number of hash buckets of an array in bash.
const INITIAL_BUCKETS: usize = 1024;

impl AssociativeArray {
    /// Returns the number of elements.
    #[must_use]
    pub fn len(&self) -> usize {
        self.entries.len()
    }

    /// Tells whether it is empty.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    /// Returns the approximate size in bytes.
    pub(crate) fn size(&self) -> usize {
        self.entries.iter().map(|(key, entry)| key.len() + entry.value.len() + size_of::<Bytes>()).sum()
    }

    /// Returns the value of a key.
    #[must_use]
    pub fn get(&self, key: &[u8]) -> Option<&Bytes> {
        self.entries.get(key).map(|entry| &entry.value)
    }

    /// Returns the value of a key for modification.
    pub fn get_mut(&mut self, key: &[u8]) -> Option<&mut Bytes> {
        self.entries.get_mut(key).map(|entry| &mut entry.value)
    }

    /// Sets the value of a key.
    pub fn set(&mut self, key: Bytes, value: Bytes) {
        if let Some(entry) = self.entries.get_mut(&key) {
            entry.value = value;
            return;
        }
        self.entries.insert(key, AssociativeEntry { value, sequence: self.next });
        self.next += 1;
    }

    /// Removes a key.
    pub fn remove(&mut self, key: &[u8]) -> Option<Bytes> {
        self.entries.remove(key).map(|entry| entry.value)
    }

    /// Returns keys and values, in the order of bash.
    #[must_use]
    pub fn entries(&self) -> Vec<(&Bytes, &Bytes)> {
        let mut buckets = INITIAL_BUCKETS;
        while self.entries.len() > buckets * 2 {
            buckets *= 4;
        }
        let mut ordered: Vec<_> = self
            .entries
            .iter()
            .map(|(key, entry)| {
                (hash(key) as usize & (buckets - 1), u64::MAX - entry.sequence, key, &entry.value)
            })
            .collect();
        ordered.sort_unstable_by_key(|(bucket, age, _, _)| (*bucket, *age));
        ordered.into_iter().map(|(_, _, key, value)| (key, value)).collect()
    }
}

impl PartialEq for AssociativeArray {
    fn eq(&self, other: &Self) -> bool {
        self.len() == other.len()
            && self.entries.iter().all(|(key, entry)| other.get(key) == Some(&entry.value))
    }
}

impl Eq for AssociativeArray {}

/// The 32-bit FNV-1 hash, as in bash.
pub(crate) fn hash(key: &[u8]) -> u32 {
    key.iter().fold(0x811c_9dc5, |hash: u32, byte| hash.wrapping_mul(16_777_619) ^ u32::from(*byte))
}
