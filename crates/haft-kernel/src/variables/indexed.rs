//! Indexed arrays.

use std::collections::BTreeMap;

use haft_text::Bytes;

/// A sparse indexed array. The elements from index 0 on are stored densely as long as there are few gaps; the others in a tree.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct IndexedArray {
    dense: Vec<Option<Bytes>>,
    sparse: BTreeMap<u64, Bytes>,
    count: usize,
}

/// How many unset elements an assignment may add to the dense part. With a larger gap the element goes to the tree.
const MAX_GAP: u64 = 16;

impl IndexedArray {
    /// Returns an array of these elements, from index 0 on.
    #[must_use]
    pub fn from_values(values: Vec<Bytes>) -> Self {
        let count = values.len();
        Self { dense: values.into_iter().map(Some).collect(), sparse: BTreeMap::new(), count }
    }

    /// Returns the number of elements.
    #[must_use]
    pub fn len(&self) -> usize {
        self.count
    }

    /// Tells whether it is empty.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.count == 0
    }

    /// Returns an element.
    #[must_use]
    pub fn get(&self, index: u64) -> Option<&Bytes> {
        match usize::try_from(index).ok().and_then(|index| self.dense.get(index)) {
            Some(element) => element.as_ref(),
            None => self.sparse.get(&index),
        }
    }

    /// Returns an element for modification.
    pub fn get_mut(&mut self, index: u64) -> Option<&mut Bytes> {
        match usize::try_from(index).ok().and_then(|index| self.dense.get_mut(index)) {
            Some(element) => element.as_mut(),
            None => self.sparse.get_mut(&index),
        }
    }

    /// Sets an element.
    pub fn set(&mut self, index: u64, value: Bytes) {
        let end = self.dense.len() as u64;
        if index < end {
            if let Some(element) = usize::try_from(index).ok().and_then(|at| self.dense.get_mut(at)) {
                self.count += usize::from(element.is_none());
                *element = Some(value);
            }
        } else if index - end <= MAX_GAP && self.sparse.range(..=index).next().is_none() {
            self.dense.extend((end..index).map(|_| None));
            self.dense.push(Some(value));
            self.count += 1;
            self.absorb();
        } else if self.sparse.insert(index, value).is_none() {
            self.count += 1;
        }
    }

    /// Moves elements from the tree that now continue the dense part.
    fn absorb(&mut self) {
        while let Some(value) = self.sparse.remove(&(self.dense.len() as u64)) {
            self.dense.push(Some(value));
        }
        // Invariant: no index in the tree lies below the end of the dense part.
        while let Some((&index, _)) =
            self.sparse.first_key_value().filter(|(index, _)| **index < self.dense.len() as u64)
        {
            if let (Some(value), Ok(at)) = (self.sparse.remove(&index), usize::try_from(index)) {
                self.dense[at] = Some(value);
            }
        }
    }

    /// Removes an element.
    pub fn remove(&mut self, index: u64) -> Option<Bytes> {
        let removed = match usize::try_from(index).ok().and_then(|index| self.dense.get_mut(index)) {
            Some(element) => element.take(),
            None => self.sparse.remove(&index),
        };
        self.count -= usize::from(removed.is_some());
        while matches!(self.dense.last(), Some(None)) {
            self.dense.pop();
        }
        removed
    }

    /// Returns the index after the last element.
    #[must_use]
    pub fn end(&self) -> u64 {
        match self.sparse.last_key_value() {
            Some((index, _)) => index.saturating_add(1),
            None => self.dense.len() as u64,
        }
    }

    /// Returns the index of a subscript. Negative ones count from the end; `None` if that is before index 0.
    #[must_use]
    pub fn resolve(&self, subscript: i64) -> Option<u64> {
        if subscript >= 0 {
            Some(subscript.unsigned_abs())
        } else {
            self.end().checked_sub(subscript.unsigned_abs())
        }
    }

    /// Appends after the last element.
    pub fn push(&mut self, value: Bytes) {
        self.set(self.end(), value);
    }

    /// Iterates over indices and elements, in order.
    pub fn iter(&self) -> impl Iterator<Item = (u64, &Bytes)> {
        let dense = self
            .dense
            .iter()
            .zip(0u64..)
            .filter_map(|(value, index)| value.as_ref().map(|value| (index, value)));
        dense.chain(self.sparse.iter().map(|(index, value)| (*index, value)))
    }

    /// Iterates over the elements, in order.
    pub fn values(&self) -> impl Iterator<Item = &Bytes> {
        self.iter().map(|(_, value)| value)
    }
}
