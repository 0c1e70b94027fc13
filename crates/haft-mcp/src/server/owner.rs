//! Whose sessions, jobs and outputs they are.

use std::sync::Arc;

use super::event::ServerEvent;
use super::server_state::ServerState;

/// A client. When the last handle of it goes, everything that is its own ends, tree and all, unless it shall be kept.
#[derive(Debug)]
pub(crate) struct ResourceOwner {
    pub(crate) id: u64,
    /// What it calls itself, if it has introduced itself.
    name: Option<String>,
    state: Arc<ServerState>,
}

impl ResourceOwner {
    /// Somebody who has introduced himself.
    pub(crate) fn new(state: &Arc<ServerState>, name: String) -> ResourceOwner {
        ResourceOwner { id: state.next_number(), name: Some(name), state: state.clone() }
    }

    /// Whoever comes without a connection.
    pub(crate) fn anonymous(state: &Arc<ServerState>) -> ResourceOwner {
        ResourceOwner { id: state.next_number(), name: None, state: state.clone() }
    }
}

impl Drop for ResourceOwner {
    fn drop(&mut self) {
        if let Some(client) = &self.name {
            (self.state.setup.log)(ServerEvent::Disconnected { client });
        }
        if !self.state.setup.keep {
            self.state.release(self.id);
        }
    }
}
