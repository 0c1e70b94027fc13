//! Whose sessions, jobs and outputs they are.

use std::sync::Arc;

use super::shared::Shared;

/// A client. When the last handle of it goes, everything that is its own ends, tree and all, unless it shall be kept.
#[derive(Debug)]
pub(crate) struct Owner {
    pub(crate) id: u64,
    shared: Arc<Shared>,
}

impl Owner {
    pub(crate) fn new(shared: &Arc<Shared>) -> Owner {
        Owner { id: shared.next_number(), shared: shared.clone() }
    }
}

impl Drop for Owner {
    fn drop(&mut self) {
        if !self.shared.setup.keep {
            self.shared.release(self.id);
        }
    }
}
