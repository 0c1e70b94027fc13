//! Memory management for the tree. All `unsafe` code of this crate is here.
//!
//! `docs/benchmarks.md` compares it with `Arc<[T]>`. The tests of this module also run under Miri.

#![expect(unsafe_code, reason = "slices point into memory that is managed here")]

mod arena;
mod slice;

pub(crate) use arena::Arena;
pub use slice::SharedSlice;
