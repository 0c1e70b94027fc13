//! Arrays by key.

use std::collections::HashMap;

use foldhash::fast::RandomState;
use haft_text::Bytes;

/// An associative array. It is enumerated in the order in which bash enumerates one: by the buckets of a hash of the
/// keys, the newest first within a bucket.
#[derive(Clone, Debug, Default)]
pub struct AssociativeArray {
    entries: HashMap<Bytes, Entry, RandomState>,
    /// Grows with every new key.
    next: u64,
}

#[derive(Clone, Debug)]
struct Entry {
    value: Bytes,
    sequence: u64,
}

/// How many buckets an array has at first.
const BUCKETS: usize = 1024;

impl AssociativeArray {
    /// How many keys there are.
    #[must_use]
    pub fn len(&self) -> usize {
        self.entries.len()
    }

    /// Whether there is no key.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    /// About how many bytes its text has.
    pub(crate) fn size(&self) -> usize {
        self.entries.iter().map(|(key, entry)| key.len() + entry.value.len() + size_of::<Bytes>()).sum()
    }

    /// The value of a key.
    #[must_use]
    pub fn get(&self, key: &[u8]) -> Option<&Bytes> {
        self.entries.get(key).map(|entry| &entry.value)
    }

    /// The value of a key, to change in place.
    pub fn get_mut(&mut self, key: &[u8]) -> Option<&mut Bytes> {
        self.entries.get_mut(key).map(|entry| &mut entry.value)
    }

    /// Sets a key.
    pub fn set(&mut self, key: Bytes, value: Bytes) {
        if let Some(entry) = self.entries.get_mut(&key) {
            entry.value = value;
            return;
        }
        self.entries.insert(key, Entry { value, sequence: self.next });
        self.next += 1;
    }

    /// Removes a key.
    pub fn remove(&mut self, key: &[u8]) -> Option<Bytes> {
        self.entries.remove(key).map(|entry| entry.value)
    }

    /// The keys with their values, in order.
    #[must_use]
    pub fn entries(&self) -> Vec<(&Bytes, &Bytes)> {
        let mut buckets = BUCKETS;
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

/// The Fowler–Noll–Vo hash, first variant, of 32 bits.
fn hash(key: &[u8]) -> u32 {
    key.iter().fold(0x811c_9dc5, |hash: u32, byte| hash.wrapping_mul(16_777_619) ^ u32::from(*byte))
}
