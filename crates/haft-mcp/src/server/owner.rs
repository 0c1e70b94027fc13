//! The owner of sessions, jobs and outputs.

use std::sync::Arc;

use super::event::ServerEvent;
use super::observer::ClientName;
use super::server_state::ServerState;

/// The owner of jobs and outputs that outlived their client, which all clients can see.
pub(crate) const EVERYONE: u64 = 0;
/// The common owner of everything that stateless clients start on a server with several clients. Nothing tells these
/// clients apart, so nothing of theirs is listed: they use the ids that they were given, which cannot be guessed.
pub(crate) const STATELESS: u64 = u64::MAX;

/// A client, as the owner of what it started. Dropping it ends its sessions and jobs with all their processes, unless
/// the server keeps them.
#[derive(Debug)]
pub(crate) struct ResourceOwner {
    pub(crate) id: u64,
    /// The client, if it has initialized.
    client: Option<ClientName>,
    /// Whether the client keeps `_meta` from the model.
    keeps_meta: bool,
    state: Arc<ServerState>,
}

impl ResourceOwner {
    /// A client that has initialized a connection.
    pub(crate) fn new(state: &Arc<ServerState>, client: ClientName, keeps_meta: bool) -> ResourceOwner {
        ResourceOwner { id: state.next_number(), client: Some(client), keeps_meta, state: state.clone() }
    }

    /// The client, if it has initialized.
    pub(crate) fn client(&self) -> Option<&ClientName> {
        self.client.as_ref()
    }

    /// Whether the client keeps `_meta` from the model.
    pub(crate) fn keeps_meta_from_model(&self) -> bool {
        self.keeps_meta
    }

    /// The owner of what the only client of a server starts before it has initialized.
    pub(crate) fn anonymous(state: &Arc<ServerState>) -> ResourceOwner {
        ResourceOwner { id: state.next_number(), client: None, keeps_meta: false, state: state.clone() }
    }

    /// The common owner of everything that stateless clients start.
    pub(crate) fn stateless(state: &Arc<ServerState>) -> ResourceOwner {
        ResourceOwner { id: STATELESS, client: None, keeps_meta: false, state: state.clone() }
    }
}

impl Drop for ResourceOwner {
    fn drop(&mut self) {
        if let Some(client) = &self.client {
            (self.state.setup.log)(ServerEvent::Disconnected { client: &client.to_string() });
        }
        if self.state.setup.keep {
            self.state.share(self.id);
        } else {
            self.state.release(self.id);
        }
    }
}
