//! The room for `unsafe`: memory of the tree.

#![expect(unsafe_code, reason = "slices are cut from memory that is managed here")]

mod slab;
mod slice;

pub(crate) use slab::Slab;
pub use slice::Slice;
