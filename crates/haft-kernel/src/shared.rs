//! A copy-on-write value that subshells share.

use std::ops::Deref;
use std::sync::Arc;

/// A value that is owned by one session, or shared by several. Changing an owned value needs no check of a reference count, which is the
/// expensive part of copy-on-write across processors.
#[derive(Debug)]
pub(crate) enum CopyOnWrite<T> {
    Own(T),
    Lent(Arc<T>),
}

impl<T: Clone + Default> CopyOnWrite<T> {
    /// Makes clones cheap, by sharing the value.
    pub(crate) fn share(&mut self) {
        if let Self::Own(value) = self {
            *self = Self::Lent(Arc::new(std::mem::take(value)));
        }
    }

    /// Returns the value for modification. Copies it if another session shares it.
    #[inline]
    pub(crate) fn make_mut(&mut self) -> &mut T {
        if matches!(self, Self::Lent(_)) {
            self.reclaim();
        }
        match self {
            Self::Own(value) => value,
            Self::Lent(value) => Arc::make_mut(value),
        }
    }

    #[cold]
    #[inline(never)]
    fn reclaim(&mut self) {
        if let Self::Lent(value) = std::mem::take(self) {
            *self = Self::Own(Arc::unwrap_or_clone(value));
        }
    }
}

impl<T> Deref for CopyOnWrite<T> {
    type Target = T;

    #[inline]
    fn deref(&self) -> &T {
        match self {
            Self::Own(value) => value,
            Self::Lent(value) => value,
        }
    }
}

impl<T: Clone> Clone for CopyOnWrite<T> {
    fn clone(&self) -> Self {
        match self {
            Self::Own(value) => Self::Own(value.clone()),
            Self::Lent(value) => Self::Lent(value.clone()),
        }
    }
}

impl<T: Default> Default for CopyOnWrite<T> {
    fn default() -> Self {
        Self::Own(T::default())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_change_does_not_affect_other_holders() {
        let mut first = CopyOnWrite::Own(vec![1]);
        first.share();
        let mut second = first.clone();
        second.make_mut().push(2);
        first.make_mut().push(3);
        assert_eq!((&*first, &*second), (&vec![1, 3], &vec![1, 2]));
    }

    #[test]
    fn a_value_without_other_holders_is_not_copied() {
        let mut first = CopyOnWrite::Own(vec![1]);
        let place = first.as_ptr();
        first.share();
        drop(first.clone());
        first.make_mut()[0] = 2;
        assert_eq!(first.as_ptr(), place);
    }
}
