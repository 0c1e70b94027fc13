//! Puts results into input order.

use std::collections::BTreeMap;

/// Holds each result back until all earlier ones have arrived.
#[derive(Debug)]
pub(super) struct ReorderBuffer<T> {
    ordered: bool,
    next: u64,
    held: BTreeMap<u64, T>,
}

impl<T> ReorderBuffer<T> {
    /// If not `ordered`, results pass through as they arrive.
    pub(super) fn new(ordered: bool) -> Self {
        Self { ordered, next: 0, held: BTreeMap::new() }
    }

    /// Adds a result. Returns all results that can be printed now.
    pub(super) fn push(&mut self, index: u64, result: T) -> Vec<T> {
        if !self.ordered {
            return vec![result];
        }
        self.held.insert(index, result);
        let mut ready = Vec::new();
        while let Some(result) = self.held.remove(&self.next) {
            self.next += 1;
            ready.push(result);
        }
        ready
    }

    /// The number of results held back.
    pub(super) fn len(&self) -> usize {
        self.held.len()
    }

    /// Removes all results held back, for when the missing ones will never arrive.
    pub(super) fn drain(&mut self) -> Vec<T> {
        std::mem::take(&mut self.held).into_values().collect()
    }
}

#[cfg(test)]
mod tests {
    use super::ReorderBuffer;

    #[test]
    fn ordered_results_come_in_input_order() {
        let mut buffer = ReorderBuffer::new(true);
        assert_eq!(buffer.push(2, 'c'), []);
        assert_eq!(buffer.push(0, 'a'), ['a']);
        assert_eq!(buffer.len(), 1);
        assert_eq!(buffer.push(1, 'b'), ['b', 'c']);
        assert_eq!(buffer.push(4, 'e'), []);
        assert_eq!(buffer.drain(), ['e']);
    }

    #[test]
    fn unordered_results_come_as_they_arrive() {
        let mut buffer = ReorderBuffer::new(false);
        assert_eq!(buffer.push(2, 'c'), ['c']);
        assert_eq!(buffer.push(0, 'a'), ['a']);
    }
}
