//! Whose sessions, jobs and outputs they are.

use std::sync::Arc;

use super::log::Event;
use super::shared::Shared;

/// A client. When the last handle of it goes, everything that is its own ends, tree and all, unless it shall be kept.
#[derive(Debug)]
pub(crate) struct Owner {
    pub(crate) id: u64,
    /// What it calls itself, if it has introduced itself.
    name: Option<String>,
    shared: Arc<Shared>,
}

impl Owner {
    /// Somebody who has introduced himself.
    pub(crate) fn new(shared: &Arc<Shared>, name: String) -> Owner {
        Owner { id: shared.next_number(), name: Some(name), shared: shared.clone() }
    }

    /// Whoever comes without a connection.
    pub(crate) fn nameless(shared: &Arc<Shared>) -> Owner {
        Owner { id: shared.next_number(), name: None, shared: shared.clone() }
    }
}

impl Drop for Owner {
    fn drop(&mut self) {
        if let Some(client) = &self.name {
            (self.shared.setup.log)(Event::Gone { client });
        }
        if !self.shared.setup.keep {
            self.shared.release(self.id);
        }
    }
}
