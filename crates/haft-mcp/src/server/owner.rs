//! The owner of sessions, jobs and outputs.

use std::sync::Arc;

use super::event::ServerEvent;
use super::server_state::ServerState;

/// A client, as the owner of what it started. Dropping it ends its sessions and jobs with all their processes, unless
/// the server keeps them.
#[derive(Debug)]
pub(crate) struct ResourceOwner {
    pub(crate) id: u64,
    /// Name and version of the client, if it has initialized.
    name: Option<String>,
    state: Arc<ServerState>,
}

impl ResourceOwner {
    /// A client that has initialized a connection.
    pub(crate) fn new(state: &Arc<ServerState>, name: String) -> ResourceOwner {
        ResourceOwner { id: state.next_number(), name: Some(name), state: state.clone() }
    }

    /// The common owner of everything that clients without a connection start.
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
