//! The code that needs `unsafe`.
#![expect(unsafe_code, reason = "an allocator is an unsafe trait")]

mod allocator;

pub use allocator::CountingAllocator;
