//! Values that are expensive to make, kept for the next call with the same key.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, PoisonError};

/// The most values that are kept.
const MAX_ENTRIES: usize = 8;

/// The values that were used last.
pub(super) struct RecentlyUsed<K, V> {
    entries: Mutex<VecDeque<(K, Arc<V>)>>,
}

impl<K: PartialEq, V> RecentlyUsed<K, V> {
    pub(super) const fn new() -> Self {
        Self { entries: Mutex::new(VecDeque::new()) }
    }

    /// The value of a key. It is made if it is not kept.
    pub(super) fn get_or_make<E>(&self, key: K, make: impl FnOnce(&K) -> Result<V, E>) -> Result<Arc<V>, E> {
        if let Some(value) = self.take(&key) {
            self.put(key, value.clone());
            return Ok(value);
        }
        let value = Arc::new(make(&key)?);
        self.put(key, value.clone());
        Ok(value)
    }

    fn take(&self, key: &K) -> Option<Arc<V>> {
        let mut entries = self.entries.lock().unwrap_or_else(PoisonError::into_inner);
        let at = entries.iter().position(|(known, _)| known == key)?;
        entries.remove(at).map(|(_, value)| value)
    }

    fn put(&self, key: K, value: Arc<V>) {
        let mut entries = self.entries.lock().unwrap_or_else(PoisonError::into_inner);
        entries.truncate(MAX_ENTRIES - 1);
        entries.push_front((key, value));
    }
}
