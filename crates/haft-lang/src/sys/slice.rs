//! Shared slices.

use std::fmt;
use std::marker::PhantomData;
use std::mem::{ManuallyDrop, needs_drop};
use std::ops::Deref;
use std::process::abort;
use std::ptr::{self, NonNull};
use std::slice;
use std::sync::atomic::{AtomicU32, Ordering};

use super::arena::{ALIGNMENT, Arena, Chunk};

/// An immutable, shared slice: like `Arc<[T]>`, but only one pointer wide. The slices of a parsed tree are adjacent in
/// memory.
pub struct SharedSlice<T> {
    /// `None` if the slice is empty.
    header: Option<NonNull<Header>>,
    items: PhantomData<T>,
}

/// The header before the items.
#[repr(C, align(8))]
struct Header {
    chunk: NonNull<Chunk>,
    owners: AtomicU32,
    length: u32,
}

impl<T> SharedSlice<T> {
    /// The empty slice.
    pub const EMPTY: Self = Self { header: None, items: PhantomData };

    /// Moves items into an arena, or into a separate allocation.
    ///
    /// # Safety
    /// The slice takes ownership of the items: the caller must not use or drop them afterwards.
    #[inline]
    unsafe fn from_moved(items: &[T], arena: Option<&mut Arena>) -> Self {
        const { assert!(align_of::<T>() <= ALIGNMENT && size_of::<T>() > 0) };
        if items.is_empty() {
            return Self::EMPTY;
        }
        let length = u32::try_from(items.len()).expect("a text of at most 4 GiB has fewer parts");
        let bytes = (size_of::<Header>() + size_of_val(items)).next_multiple_of(ALIGNMENT);
        let (chunk, address) = match arena {
            Some(arena) => arena.allocate(bytes),
            None => Arena::allocate_separately(bytes),
        };
        let header = address.cast::<Header>();
        // SAFETY: the memory is new and large enough for a header and the items. Both are aligned, because the address
        // and the size of the header are multiples of `ALIGNMENT`.
        unsafe {
            header.write(Header { chunk, owners: AtomicU32::new(1), length });
            let target = header.add(1).cast::<T>();
            ptr::copy_nonoverlapping(items.as_ptr(), target.as_ptr(), items.len());
        }
        Self { header: Some(header), items: PhantomData }
    }

    /// Moves all items out of a vector, which keeps its capacity.
    #[inline]
    fn from_drained(items: &mut Vec<T>, arena: Option<&mut Arena>) -> Self {
        // SAFETY: the vector no longer owns the items. A panic before the move leaks them.
        unsafe {
            let length = items.len();
            items.set_len(0);
            Self::from_moved(slice::from_raw_parts(items.as_ptr(), length), arena)
        }
    }

    /// Drops the items and releases their memory.
    ///
    /// # Safety
    /// The header must belong to a slice of this type whose last owner is being dropped.
    #[inline]
    unsafe fn drop_items(header: NonNull<Header>) {
        // SAFETY: the caller is the last owner, so the header and the items are live and not shared. The memory is one
        // use of the chunk.
        unsafe {
            let (chunk, length) = (header.as_ref().chunk, header.as_ref().length as usize);
            if needs_drop::<T>() {
                let items = header.add(1).cast::<T>();
                ptr::drop_in_place(ptr::slice_from_raw_parts_mut(items.as_ptr(), length));
            }
            Chunk::release(chunk, 1);
        }
    }
}

impl Arena {
    /// Moves all items of a vector into a slice. The vector keeps its capacity.
    #[inline]
    pub(crate) fn slice_from<T>(&mut self, items: &mut Vec<T>) -> SharedSlice<T> {
        SharedSlice::from_drained(items, Some(self))
    }

    /// Moves one item into a slice.
    #[inline]
    pub(crate) fn slice_of<T>(&mut self, item: T) -> SharedSlice<T> {
        let item = ManuallyDrop::new(item);
        // SAFETY: the item is neither dropped nor used again here.
        unsafe { SharedSlice::from_moved(slice::from_ref(&*item), Some(self)) }
    }
}

impl<T> Drop for SharedSlice<T> {
    #[inline]
    fn drop(&mut self) {
        let Some(header) = self.header else { return };
        // SAFETY: this is an owner, so the header is live.
        let owners = unsafe { &header.as_ref().owners };
        // A sole owner needs no read-modify-write operation: no other thread can create another owner.
        if owners.load(Ordering::Acquire) == 1 || owners.fetch_sub(1, Ordering::AcqRel) == 1 {
            // SAFETY: this was the last owner.
            unsafe { Self::drop_items(header) };
        }
    }
}

impl<T> Clone for SharedSlice<T> {
    /// Creates another owner of the same items.
    fn clone(&self) -> Self {
        if let Some(header) = self.header {
            // SAFETY: this is an owner, so the header is live.
            let before = unsafe { &header.as_ref().owners }.fetch_add(1, Ordering::Relaxed);
            if before > u32::MAX / 2 {
                abort();
            }
        }
        Self { header: self.header, items: PhantomData }
    }
}

impl<T> Deref for SharedSlice<T> {
    type Target = [T];

    #[inline]
    fn deref(&self) -> &[T] {
        let Some(header) = self.header else { return &[] };
        // SAFETY: this is an owner, so the header and the items are live, and they are immutable.
        unsafe { slice::from_raw_parts(header.add(1).cast().as_ptr(), header.as_ref().length as usize) }
    }
}

// SAFETY: the items are shared as in an `Arc`, with the same bounds.
unsafe impl<T: Send + Sync> Send for SharedSlice<T> {}
// SAFETY: as above.
unsafe impl<T: Send + Sync> Sync for SharedSlice<T> {}

impl<T> Default for SharedSlice<T> {
    fn default() -> Self {
        Self::EMPTY
    }
}

impl<T> From<Vec<T>> for SharedSlice<T> {
    fn from(mut items: Vec<T>) -> Self {
        Self::from_drained(&mut items, None)
    }
}

impl<T> FromIterator<T> for SharedSlice<T> {
    fn from_iter<I: IntoIterator<Item = T>>(items: I) -> Self {
        items.into_iter().collect::<Vec<T>>().into()
    }
}

impl<'a, T> IntoIterator for &'a SharedSlice<T> {
    type Item = &'a T;
    type IntoIter = slice::Iter<'a, T>;

    fn into_iter(self) -> Self::IntoIter {
        self.iter()
    }
}

impl<T: PartialEq> PartialEq for SharedSlice<T> {
    fn eq(&self, other: &Self) -> bool {
        **self == **other
    }
}

impl<T: Eq> Eq for SharedSlice<T> {}

impl<T: fmt::Debug> fmt::Debug for SharedSlice<T> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        (**self).fmt(formatter)
    }
}

#[cfg(test)]
mod tests {
    use std::sync::{Arc, Barrier, Mutex};
    use std::thread;

    use super::{Arena, SharedSlice};

    /// Allocates slices of the lengths `0..count` from one arena. Each item shares `value`.
    fn slices(value: &Arc<()>, count: usize) -> Vec<SharedSlice<(usize, Arc<()>)>> {
        let mut arena = Arena::default();
        let mut items = Vec::new();
        let allocate = |length: usize| {
            items.extend((0..length).map(|index| (index, value.clone())));
            arena.slice_from(&mut items)
        };
        (0..count).map(allocate).collect()
    }

    /// Records its number when it is dropped.
    struct Recorded(usize, Arc<Mutex<Vec<usize>>>);

    impl Drop for Recorded {
        fn drop(&mut self) {
            self.1.lock().expect("no test panics").push(self.0);
        }
    }

    #[test]
    fn items_keep_their_values_and_are_dropped_with_the_last_owner() {
        const COUNT: usize = if cfg!(miri) { 12 } else { 100 };
        let value = Arc::new(());
        let slices = slices(&value, COUNT);
        for (length, slice) in slices.iter().enumerate() {
            assert!(slice.iter().map(|(index, _)| *index).eq(0..length));
        }
        let copies = slices.clone();
        drop(slices);
        assert_eq!(Arc::strong_count(&value), 1 + (0..COUNT).sum::<usize>());
        drop(copies);
        assert_eq!(Arc::strong_count(&value), 1);
    }

    #[test]
    fn slices_outlive_their_arena_on_other_threads() {
        let value = Arc::new(());
        let threads = slices(&value, if cfg!(miri) { 8 } else { 40 }).into_iter().map(|slice| {
            let copy = slice.clone();
            let thread = thread::spawn(move || copy.len());
            (slice, thread)
        });
        for (length, (slice, thread)) in threads.enumerate() {
            drop(slice);
            assert_eq!(thread.join().ok(), Some(length));
        }
        assert_eq!(Arc::strong_count(&value), 1);
    }

    #[test]
    fn the_empty_slice_does_not_allocate() {
        let slice: SharedSlice<String> = Vec::new().into();
        assert!(slice.header.is_none());
        assert_eq!(slice, SharedSlice::EMPTY);
        assert!(slice.clone().is_empty());
    }

    #[test]
    fn items_are_dropped_once_and_in_order() {
        let dropped = Arc::new(Mutex::new(Vec::new()));
        let mut arena = Arena::default();
        let mut items: Vec<Recorded> = (0..5).map(|number| Recorded(number, dropped.clone())).collect();
        let slice = arena.slice_from(&mut items);
        let one = arena.slice_of(Recorded(5, dropped.clone()));
        assert!(items.is_empty() && items.capacity() >= 5);
        drop(arena);
        let copy = slice.clone();
        drop(slice);
        assert!(dropped.lock().expect("no test panics").is_empty());
        drop((copy, one));
        assert_eq!(*dropped.lock().expect("no test panics"), [0, 1, 2, 3, 4, 5]);
    }

    #[test]
    fn nested_slices_are_dropped_from_one_chunk() {
        let value = Arc::new(());
        let mut arena = Arena::for_text(1000);
        let mut inner: Vec<SharedSlice<Arc<()>>> = (0..20).map(|_| arena.slice_of(value.clone())).collect();
        let outer = arena.slice_from(&mut inner);
        let kept = outer[7].clone();
        drop((outer, arena));
        assert_eq!(Arc::strong_count(&value), 2);
        drop(kept);
        assert_eq!(Arc::strong_count(&value), 1);
    }

    #[test]
    fn large_slices_get_a_separate_chunk() {
        let mut arena = Arena::default();
        let small = arena.slice_of(1_u64);
        let large = arena.slice_from(&mut (0..1_000_u64).collect());
        let next = arena.slice_of(2_u64);
        assert_eq!((small[0], large.len(), large[999], next[0]), (1, 1_000, 999, 2));
    }

    #[test]
    fn threads_clone_and_drop_the_same_slices_at_the_same_time() {
        const THREADS: usize = if cfg!(miri) { 2 } else { 4 };
        const ROUNDS: usize = if cfg!(miri) { 3 } else { 500 };
        let value = Arc::new(());
        let shared = slices(&value, if cfg!(miri) { 5 } else { 12 });
        let barrier = Arc::new(Barrier::new(THREADS));
        let threads: Vec<_> = (0..THREADS)
            .map(|_| {
                let (own, barrier) = (shared.clone(), barrier.clone());
                thread::spawn(move || {
                    barrier.wait();
                    for _ in 0..ROUNDS {
                        let copies = own.clone();
                        assert!(copies.iter().enumerate().all(|(length, slice)| slice.len() == length));
                    }
                })
            })
            .collect();
        drop(shared);
        threads.into_iter().for_each(|thread| assert!(thread.join().is_ok()));
        assert_eq!(Arc::strong_count(&value), 1);
    }
}
