//! An allocator that counts allocations per session.

use std::alloc::{GlobalAlloc, Layout, System};

use crate::memory::{count, is_probing};

/// The allocator of the system, with a count of the memory of each session. A program that runs untrusted scripts installs it, so that a
/// script that uses too much memory ends instead of the program:
///
/// ```
/// #[global_allocator]
/// static ALLOCATOR: haft_kernel::memory::CountingAllocator = haft_kernel::memory::CountingAllocator::new(|_| ());
/// ```
#[derive(Clone, Copy, Debug)]
pub struct CountingAllocator {
    /// Called with the size of a failed allocation.
    refused: fn(usize),
}

impl CountingAllocator {
    /// Returns an allocator that calls `refused` with the size of a failed allocation. `refused` must not allocate. When it returns, the
    /// process aborts unless the caller handles the failure.
    #[must_use]
    pub const fn new(refused: fn(usize)) -> CountingAllocator {
        CountingAllocator { refused }
    }

    #[inline]
    fn note(self, pointer: *mut u8, bytes: usize, freed: usize) -> *mut u8 {
        if pointer.is_null() {
            self.refuse(bytes);
        } else {
            count(signed(bytes) - signed(freed));
        }
        pointer
    }

    #[cold]
    #[inline(never)]
    fn refuse(self, bytes: usize) {
        if !is_probing() {
            (self.refused)(bytes);
        }
    }
}

#[inline]
#[expect(clippy::cast_possible_wrap, reason = "no allocation is larger than isize::MAX")]
fn signed(bytes: usize) -> i64 {
    bytes as i64
}

// SAFETY: every call goes to the system's allocator with the same arguments, and its result is returned as it is. Counting
// neither allocates nor panics.
unsafe impl GlobalAlloc for CountingAllocator {
    #[inline]
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        // SAFETY: the caller keeps the contract of `alloc`.
        self.note(unsafe { System.alloc(layout) }, layout.size(), 0)
    }

    #[inline]
    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        // SAFETY: the caller keeps the contract of `alloc_zeroed`.
        self.note(unsafe { System.alloc_zeroed(layout) }, layout.size(), 0)
    }

    #[inline]
    unsafe fn realloc(&self, pointer: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        // SAFETY: the caller keeps the contract of `realloc`.
        self.note(unsafe { System.realloc(pointer, layout, size) }, size, layout.size())
    }

    #[inline]
    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        // SAFETY: the caller keeps the contract of `dealloc`.
        unsafe { System.dealloc(pointer, layout) };
        count(-signed(layout.size()));
    }
}
