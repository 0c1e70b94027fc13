//! A value that subshells share until one of them changes it.

use std::ops::Deref;
use std::sync::Arc;

/// A value of this session's own, or one that others may hold too. To change one's own takes no look at how many hold it,
/// which between processors is the dear part of copying on write.
#[derive(Debug)]
pub(crate) enum Shared<T> {
    Own(T),
    Lent(Arc<T>),
}

impl<T: Clone + Default> Shared<T> {
    /// Makes a clone cost next to nothing.
    pub(crate) fn lend(&mut self) {
        if let Self::Own(value) = self {
            *self = Self::Lent(Arc::new(std::mem::take(value)));
        }
    }

    /// The value, to be changed: a copy of it if somebody else holds it.
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

impl<T> Deref for Shared<T> {
    type Target = T;

    #[inline]
    fn deref(&self) -> &T {
        match self {
            Self::Own(value) => value,
            Self::Lent(value) => value,
        }
    }
}

impl<T: Clone> Clone for Shared<T> {
    fn clone(&self) -> Self {
        match self {
            Self::Own(value) => Self::Own(value.clone()),
            Self::Lent(value) => Self::Lent(value.clone()),
        }
    }
}

impl<T: Default> Default for Shared<T> {
    fn default() -> Self {
        Self::Own(T::default())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_change_is_seen_by_its_holder_alone() {
        let mut first = Shared::Own(vec![1]);
        first.lend();
        let mut second = first.clone();
        second.make_mut().push(2);
        first.make_mut().push(3);
        assert_eq!((&*first, &*second), (&vec![1, 3], &vec![1, 2]));
    }

    #[test]
    fn what_nobody_else_holds_any_more_is_not_copied() {
        let mut first = Shared::Own(vec![1]);
        let place = first.as_ptr();
        first.lend();
        drop(first.clone());
        first.make_mut()[0] = 2;
        assert_eq!(first.as_ptr(), place);
    }
}
