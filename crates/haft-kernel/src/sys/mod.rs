//! All `unsafe` code of the kernel.
#![expect(unsafe_code, reason = "an allocator is an unsafe trait")]

mod allocator;

pub use allocator::CountingAllocator;
