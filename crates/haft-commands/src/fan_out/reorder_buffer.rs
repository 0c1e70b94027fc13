//! In which order results are shown.

use std::collections::BTreeMap;

/// Holds results back until those before them are there.
#[derive(Debug)]
pub(super) struct ReorderBuffer<T> {
    ordered: bool,
    next: u64,
    held: BTreeMap<u64, T>,
}

impl<T> ReorderBuffer<T> {
    pub(super) fn new(ordered: bool) -> Self {
        Self { ordered, next: 0, held: BTreeMap::new() }
    }

    /// Takes a result; yields those that can be shown now.
    pub(super) fn put(&mut self, index: u64, result: T) -> Vec<T> {
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

    /// How many are held back.
    pub(super) fn held(&self) -> usize {
        self.held.len()
    }

    /// All that are held back, now that no others come.
    pub(super) fn rest(&mut self) -> Vec<T> {
        std::mem::take(&mut self.held).into_values().collect()
    }
}

#[cfg(test)]
mod tests {
    use super::ReorderBuffer;

    #[test]
    fn results_come_in_the_order_of_the_input() {
        let mut order = ReorderBuffer::new(true);
        assert_eq!(order.put(2, 'c'), []);
        assert_eq!(order.put(0, 'a'), ['a']);
        assert_eq!(order.held(), 1);
        assert_eq!(order.put(1, 'b'), ['b', 'c']);
        assert_eq!(order.put(4, 'e'), []);
        assert_eq!(order.rest(), ['e']);
    }

    #[test]
    fn or_as_they_end() {
        let mut order = ReorderBuffer::new(false);
        assert_eq!(order.put(2, 'c'), ['c']);
        assert_eq!(order.put(0, 'a'), ['a']);
    }
}
