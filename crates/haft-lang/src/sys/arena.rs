//! A bump allocator for the slices of a tree.
//!
//! A tree consists of many small slices. Allocating them one after the other from a chunk is cheap, and places them in
//! memory in the order in which they are visited. A chunk only counts its slices and is freed with the last one. A
//! caller that keeps a small part of a tree keeps the chunks that contain it, which are small.

use std::alloc::{Layout, alloc, dealloc, handle_alloc_error};
use std::ptr::NonNull;
use std::sync::atomic::{AtomicUsize, Ordering, fence};

/// Maximum size of a chunk for several slices.
const MAX_CHUNK_BYTES: usize = 64 << 10;
/// Minimum size of a chunk for several slices.
const MIN_CHUNK_BYTES: usize = 512;
/// The number of uses that an arena reserves in its current chunk: more than fit into it.
const RESERVED_USES: usize = usize::MAX / 2;

/// The alignment of everything in a chunk.
pub(super) const ALIGNMENT: usize = 8;

/// The header of a chunk.
#[repr(C, align(8))]
pub(super) struct Chunk {
    /// The number of live slices, plus the uses that an arena still reserves.
    uses: AtomicUsize,
    size: usize,
}

impl Chunk {
    /// Allocates a chunk for `bytes` bytes, a multiple of [`ALIGNMENT`]. Returns it and its first byte.
    fn allocate(bytes: usize, uses: usize) -> (NonNull<Self>, NonNull<u8>) {
        let layout = Self::layout(bytes);
        // SAFETY: the size of the layout is not 0, because it includes the header.
        let Some(chunk) = NonNull::new(unsafe { alloc(layout) }.cast::<Self>()) else {
            handle_alloc_error(layout)
        };
        // SAFETY: the new memory is large enough for a header and aligned for it. The first byte after the header is
        // inside the memory or at its end.
        unsafe {
            chunk.write(Self { uses: AtomicUsize::new(uses), size: bytes });
            (chunk, chunk.add(1).cast())
        }
    }

    fn layout(bytes: usize) -> Layout {
        bytes
            .checked_add(size_of::<Self>())
            .and_then(|size| Layout::from_size_align(size, ALIGNMENT).ok())
            .expect("the slices of a text of at most 4 GiB are shorter than the address space")
    }

    /// Releases `uses` uses of a chunk. The last release frees it.
    ///
    /// # Safety
    /// The chunk must be live, and the caller must own the uses and not access the chunk afterwards.
    #[inline]
    pub(super) unsafe fn release(chunk: NonNull<Self>, uses: usize) {
        // SAFETY: the caller still owns its uses, so the chunk is live.
        if unsafe { chunk.as_ref() }.uses.fetch_sub(uses, Ordering::Release) == uses {
            // SAFETY: these were the last uses.
            unsafe { Self::free(chunk) };
        }
    }

    /// # Safety
    /// There must be no uses of the chunk left.
    #[cold]
    unsafe fn free(chunk: NonNull<Self>) {
        // All accesses by other threads before their release happen before this.
        fence(Ordering::Acquire);
        // SAFETY: there is no other user, and the chunk was allocated with this layout.
        unsafe {
            let layout = Self::layout(chunk.as_ref().size);
            dealloc(chunk.as_ptr().cast(), layout);
        }
    }
}

/// Allocates slices.
#[derive(Default)]
pub(crate) struct Arena {
    current: Option<CurrentChunk>,
    /// The size of the next chunk; 0 for the minimum.
    next_size: usize,
}

/// The chunk that an arena allocates from.
struct CurrentChunk {
    chunk: NonNull<Chunk>,
    free: NonNull<u8>,
    free_bytes: usize,
    /// The number of slices allocated from it.
    slices: usize,
}

impl Arena {
    /// Creates an arena for the tree of a text of this length.
    pub(crate) fn for_text(length: usize) -> Self {
        let size = length.saturating_mul(16).clamp(MIN_CHUNK_BYTES, MAX_CHUNK_BYTES);
        Self { current: None, next_size: size.next_power_of_two() }
    }

    /// Allocates memory for one slice. Returns the chunk, of which this is one use, and the address. `bytes` must be a
    /// multiple of [`ALIGNMENT`].
    #[inline]
    pub(super) fn allocate(&mut self, bytes: usize) -> (NonNull<Chunk>, NonNull<u8>) {
        match &mut self.current {
            Some(current) if current.free_bytes >= bytes => {
                let address = current.free;
                // SAFETY: the chunk has this many free bytes.
                current.free = unsafe { address.add(bytes) };
                current.free_bytes -= bytes;
                current.slices += 1;
                (current.chunk, address)
            }
            _ => self.allocate_slow(bytes),
        }
    }

    #[cold]
    fn allocate_slow(&mut self, bytes: usize) -> (NonNull<Chunk>, NonNull<u8>) {
        let size = self.next_size.max(MIN_CHUNK_BYTES);
        if bytes > size / 4 {
            return Self::allocate_separately(bytes);
        }
        self.retire_current();
        self.next_size = (size * 2).min(MAX_CHUNK_BYTES);
        let (chunk, free) = Chunk::allocate(size, RESERVED_USES);
        self.current = Some(CurrentChunk { chunk, free, free_bytes: size, slices: 0 });
        self.allocate(bytes)
    }

    /// Allocates memory for one slice in a separate chunk.
    pub(super) fn allocate_separately(bytes: usize) -> (NonNull<Chunk>, NonNull<u8>) {
        Chunk::allocate(bytes, 1)
    }

    /// Releases the reserved uses of the current chunk, so its slices own it.
    fn retire_current(&mut self) {
        if let Some(current) = self.current.take() {
            // SAFETY: the arena owns the reserved uses that it did not pass to slices.
            unsafe { Chunk::release(current.chunk, RESERVED_USES - current.slices) };
        }
    }
}

impl Drop for Arena {
    fn drop(&mut self) {
        self.retire_current();
    }
}

// SAFETY: other threads reach the chunk only through slices, which do not access its free memory, and its counter is
// atomic.
unsafe impl Send for Arena {}
// SAFETY: a shared reference to an arena has no operations.
unsafe impl Sync for Arena {}
