//! Shared single nodes.

use std::ops::Deref;

use super::SharedSlice;
use crate::sys::Arena;

/// An immutable, shared node of the tree: like `Arc<T>`, but allocated together with the [`SharedSlice`]s.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SharedNode<T>(SharedSlice<T>);

impl<T> SharedNode<T> {
    /// Allocates a node in an arena.
    pub(crate) fn new(node: T, arena: &mut Arena) -> Self {
        Self(arena.slice_of(node))
    }
}

impl<T> Deref for SharedNode<T> {
    type Target = T;

    fn deref(&self) -> &T {
        // The slice always has exactly one item.
        &self.0[0]
    }
}
