//! Single nodes.

use std::ops::Deref;

use super::Slice;
use crate::sys::Slab;

/// An immutable, shared node of the tree: what an `Arc<T>` is, kept where the [`Slice`]s are.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Node<T>(Slice<T>);

impl<T> Node<T> {
    /// Puts a node where the others are.
    pub(crate) fn new(node: T, slab: &mut Slab) -> Self {
        Self(slab.one(node))
    }
}

impl<T> Deref for Node<T> {
    type Target = T;

    fn deref(&self) -> &T {
        // A node is made of one item, always.
        &self.0[0]
    }
}
