//! Shared slices.

use std::fmt;
use std::marker::PhantomData;
use std::mem::{ManuallyDrop, needs_drop};
use std::ops::Deref;
use std::process::abort;
use std::ptr::{self, NonNull};
use std::slice;
use std::sync::atomic::{AtomicU32, Ordering};

use super::slab::{ALIGNMENT, Chunk, Slab};

/// An immutable, shared slice: what an `Arc<[T]>` is, in a single pointer. Those of a tree that was parsed lie next to each
/// other in memory.
pub struct Slice<T> {
    /// `None` if it is empty.
    header: Option<NonNull<Header>>,
    items: PhantomData<T>,
}

/// What stands before the items.
#[repr(C, align(8))]
struct Header {
    chunk: NonNull<Chunk>,
    owners: AtomicU32,
    length: u32,
}

impl<T> Slice<T> {
    /// The slice without items.
    pub const EMPTY: Self = Self { header: None, items: PhantomData };

    /// Moves items to memory of a slab, or to memory of their own.
    ///
    /// # Safety
    /// The items are the slice's from now on: the caller must not use them again.
    #[inline]
    unsafe fn moved(items: &[T], slab: Option<&mut Slab>) -> Self {
        const { assert!(align_of::<T>() <= ALIGNMENT && size_of::<T>() > 0) };
        if items.is_empty() {
            return Self::EMPTY;
        }
        let length = u32::try_from(items.len()).expect("a text of at most 4 GiB has fewer parts");
        let bytes = (size_of::<Header>() + size_of_val(items)).next_multiple_of(ALIGNMENT);
        let (chunk, place) = match slab {
            Some(slab) => slab.room(bytes),
            None => Slab::room_alone(bytes),
        };
        let header = place.cast::<Header>();
        // SAFETY: the room is for a header and the items, and fresh. Both are aligned, as everything in a chunk is to a
        // multiple of what they need.
        unsafe {
            header.write(Header { chunk, owners: AtomicU32::new(1), length });
            let room = header.add(1).cast::<T>();
            ptr::copy_nonoverlapping(items.as_ptr(), room.as_ptr(), items.len());
        }
        Self { header: Some(header), items: PhantomData }
    }

    /// Moves all there is in a vector, which keeps its room.
    #[inline]
    fn emptied(items: &mut Vec<T>, slab: Option<&mut Slab>) -> Self {
        // SAFETY: the vector forgets the items; between that and the move nothing can fail but what ends the process.
        unsafe {
            let length = items.len();
            items.set_len(0);
            Self::moved(slice::from_raw_parts(items.as_ptr(), length), slab)
        }
    }

    /// Drops the items, which nobody else has, and gives up their room.
    ///
    /// # Safety
    /// The header must be of a slice of this type whose last owner is going.
    #[inline]
    unsafe fn end(header: NonNull<Header>) {
        // SAFETY: the caller is the last owner, so the header and the items are alive and no one else's; the room is a use
        // of the chunk, which goes with it.
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

impl Slab {
    /// Moves what is in the vector to a slice; the vector keeps its room.
    #[inline]
    pub(crate) fn cut<T>(&mut self, items: &mut Vec<T>) -> Slice<T> {
        Slice::emptied(items, Some(self))
    }

    /// A slice of one item.
    #[inline]
    pub(crate) fn one<T>(&mut self, item: T) -> Slice<T> {
        let item = ManuallyDrop::new(item);
        // SAFETY: the item is not dropped here, and not used again.
        unsafe { Slice::moved(slice::from_ref(&*item), Some(self)) }
    }
}

impl<T> Drop for Slice<T> {
    #[inline]
    fn drop(&mut self) {
        let Some(header) = self.header else { return };
        // SAFETY: this is an owner, so the header is alive.
        let owners = unsafe { &header.as_ref().owners };
        // A sole owner needs not say that it goes: nobody is left who could make another one.
        if owners.load(Ordering::Acquire) == 1 || owners.fetch_sub(1, Ordering::AcqRel) == 1 {
            // SAFETY: this was the last owner.
            unsafe { Self::end(header) };
        }
    }
}

impl<T> Clone for Slice<T> {
    /// Another owner of the same items.
    fn clone(&self) -> Self {
        if let Some(header) = self.header {
            // SAFETY: this is an owner, so the header is alive.
            let before = unsafe { &header.as_ref().owners }.fetch_add(1, Ordering::Relaxed);
            if before > u32::MAX / 2 {
                abort();
            }
        }
        Self { header: self.header, items: PhantomData }
    }
}

impl<T> Deref for Slice<T> {
    type Target = [T];

    #[inline]
    fn deref(&self) -> &[T] {
        let Some(header) = self.header else { return &[] };
        // SAFETY: this is an owner, so header and items are alive, and nobody changes them.
        unsafe { slice::from_raw_parts(header.add(1).cast().as_ptr(), header.as_ref().length as usize) }
    }
}

// SAFETY: what is reached through a slice is shared as by an `Arc`, whose conditions these are.
unsafe impl<T: Send + Sync> Send for Slice<T> {}
// SAFETY: as above.
unsafe impl<T: Send + Sync> Sync for Slice<T> {}

impl<T> Default for Slice<T> {
    fn default() -> Self {
        Self::EMPTY
    }
}

impl<T> From<Vec<T>> for Slice<T> {
    fn from(mut items: Vec<T>) -> Self {
        Self::emptied(&mut items, None)
    }
}

impl<T> FromIterator<T> for Slice<T> {
    fn from_iter<I: IntoIterator<Item = T>>(items: I) -> Self {
        items.into_iter().collect::<Vec<T>>().into()
    }
}

impl<'a, T> IntoIterator for &'a Slice<T> {
    type Item = &'a T;
    type IntoIter = slice::Iter<'a, T>;

    fn into_iter(self) -> Self::IntoIter {
        self.iter()
    }
}

impl<T: PartialEq> PartialEq for Slice<T> {
    fn eq(&self, other: &Self) -> bool {
        **self == **other
    }
}

impl<T: Eq> Eq for Slice<T> {}

impl<T: fmt::Debug> fmt::Debug for Slice<T> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        (**self).fmt(formatter)
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;
    use std::thread;

    use super::{Slab, Slice};

    /// Cuts slices of a shared value, of all lengths, from one slab.
    fn slices(value: &Arc<()>, count: usize) -> Vec<Slice<(usize, Arc<()>)>> {
        let mut slab = Slab::default();
        let mut items = Vec::new();
        let cut = |length: usize| {
            items.extend((0..length).map(|index| (index, value.clone())));
            slab.cut(&mut items)
        };
        (0..count).map(cut).collect()
    }

    #[test]
    fn items_are_as_they_were_and_go_with_their_last_owner() {
        let value = Arc::new(());
        let slices = slices(&value, 100);
        for (length, slice) in slices.iter().enumerate() {
            assert!(slice.iter().map(|(index, _)| *index).eq(0..length));
        }
        let copies = slices.clone();
        drop(slices);
        assert_eq!(Arc::strong_count(&value), 1 + (0..100).sum::<usize>());
        drop(copies);
        assert_eq!(Arc::strong_count(&value), 1);
    }

    #[test]
    fn slices_outlive_their_slab_on_other_threads() {
        let value = Arc::new(());
        let threads = slices(&value, 40).into_iter().map(|slice| {
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
    fn the_empty_slice_needs_no_memory() {
        let slice: Slice<String> = Vec::new().into();
        assert_eq!(slice, Slice::EMPTY);
        assert!(slice.clone().is_empty());
    }
}
