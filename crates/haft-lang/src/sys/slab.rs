//! Slabs: memory that many slices are cut from.
//!
//! A tree is made of very many small slices. Cutting them one after the other from a chunk costs next to nothing, and they lie
//! in memory in the order in which they are walked. A chunk knows only how many slices of it are left; it goes when the last
//! one goes. So whoever keeps a small part of a tree keeps the chunks that hold it, which are not large.

use std::alloc::{Layout, alloc, dealloc, handle_alloc_error};
use std::ptr::NonNull;
use std::sync::atomic::{AtomicUsize, Ordering, fence};

/// How large chunks become.
const LARGEST: usize = 64 << 10;
/// How small they are at first.
const SMALLEST: usize = 512;
/// How many slices a slab can cut from a chunk: more than fit.
const SHARE: usize = usize::MAX / 2;

/// What everything in a chunk is aligned to.
pub(super) const ALIGNMENT: usize = 8;

/// What stands at the beginning of a chunk.
#[repr(C, align(8))]
pub(super) struct Chunk {
    /// How many slices are left, and as long as a slab cuts from it, how many more it may cut.
    users: AtomicUsize,
    size: usize,
}

impl Chunk {
    /// A chunk with room for so many bytes, a multiple of [`ALIGNMENT`], and the first of them.
    fn with_room(bytes: usize, users: usize) -> (NonNull<Self>, NonNull<u8>) {
        let layout = Self::layout(bytes);
        // SAFETY: the layout is never of size 0, since the header is part of it.
        let Some(chunk) = NonNull::new(unsafe { alloc(layout) }.cast::<Self>()) else {
            handle_alloc_error(layout)
        };
        // SAFETY: the memory is fresh, large enough for a header, and aligned for it; what follows the header lies in it
        // or right at its end.
        unsafe {
            chunk.write(Self { users: AtomicUsize::new(users), size: bytes });
            (chunk, chunk.add(1).cast())
        }
    }

    fn layout(bytes: usize) -> Layout {
        bytes
            .checked_add(size_of::<Self>())
            .and_then(|size| Layout::from_size_align(size, ALIGNMENT).ok())
            .expect("slices of a text of at most 4 GiB are shorter than the address space")
    }

    /// Gives up so many uses of a chunk; the last one frees it.
    ///
    /// # Safety
    /// The chunk must be alive, the uses those of the caller, who does not touch it afterwards.
    #[inline]
    pub(super) unsafe fn release(chunk: NonNull<Self>, uses: usize) {
        // SAFETY: the caller still has its uses of the chunk, so it is alive.
        if unsafe { chunk.as_ref() }.users.fetch_sub(uses, Ordering::Release) == uses {
            // SAFETY: those were the last ones.
            unsafe { Self::free(chunk) };
        }
    }

    /// # Safety
    /// Nobody uses the chunk any more.
    #[cold]
    unsafe fn free(chunk: NonNull<Self>) {
        // What others did to their slices before they gave them up has happened before this.
        fence(Ordering::Acquire);
        // SAFETY: nobody else has it, and it was allocated with this layout.
        unsafe {
            let layout = Self::layout(chunk.as_ref().size);
            dealloc(chunk.as_ptr().cast(), layout);
        }
    }
}

/// Where slices are cut from.
#[derive(Default)]
pub(crate) struct Slab {
    current: Option<Current>,
    /// The size of the next chunk; 0 for the smallest.
    next: usize,
}

/// A chunk of which something is left.
struct Current {
    chunk: NonNull<Chunk>,
    free: NonNull<u8>,
    left: usize,
    /// How many slices were cut from it.
    cut: usize,
}

impl Slab {
    /// A slab for the tree of a text of this length.
    pub(crate) fn for_text(length: usize) -> Self {
        Self { current: None, next: length.saturating_mul(16).clamp(SMALLEST, LARGEST).next_power_of_two() }
    }

    /// Room for one slice: the chunk, of which this is one use, and where in it. `bytes` is a multiple of [`ALIGNMENT`].
    #[inline]
    pub(super) fn room(&mut self, bytes: usize) -> (NonNull<Chunk>, NonNull<u8>) {
        match &mut self.current {
            Some(current) if current.left >= bytes => {
                let place = current.free;
                // SAFETY: so much is left of the chunk.
                current.free = unsafe { place.add(bytes) };
                current.left -= bytes;
                current.cut += 1;
                (current.chunk, place)
            }
            _ => self.room_elsewhere(bytes),
        }
    }

    #[cold]
    fn room_elsewhere(&mut self, bytes: usize) -> (NonNull<Chunk>, NonNull<u8>) {
        let size = self.next.max(SMALLEST);
        if bytes > size / 4 {
            return Self::room_alone(bytes);
        }
        self.retire();
        self.next = (size * 2).min(LARGEST);
        let (chunk, free) = Chunk::with_room(size, SHARE);
        self.current = Some(Current { chunk, free, left: size, cut: 0 });
        self.room(bytes)
    }

    /// Room for one slice in a chunk of its own.
    pub(super) fn room_alone(bytes: usize) -> (NonNull<Chunk>, NonNull<u8>) {
        Chunk::with_room(bytes, 1)
    }

    /// Leaves the current chunk to the slices that were cut from it.
    fn retire(&mut self) {
        if let Some(current) = self.current.take() {
            // SAFETY: the slab's share, less what it handed out, is its own.
            unsafe { Chunk::release(current.chunk, SHARE - current.cut) };
        }
    }
}

impl Drop for Slab {
    fn drop(&mut self) {
        self.retire();
    }
}

// SAFETY: the chunk is reached by others only through slices, which do not touch what is left of it, and its count is
// atomic.
unsafe impl Send for Slab {}
// SAFETY: nothing can be done to a shared slab.
unsafe impl Sync for Slab {}
