//! What a server tells by itself: how far a call is, and that its tools have changed.

use std::collections::{HashMap, VecDeque};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};

use haft_tools::CallProgress;
use rmcp::model::{
    CallToolRequest, CallToolRequestParams, ClientCapabilities, ClientConfig, ClientRequest, Implementation,
    JsonRpcMessage, ProgressToken, ProtocolVersion, ServerNotification,
};
use rmcp::service::{
    NotificationContext, Peer, PeerRequestOptions, RequestHandle, RunningService, RxJsonRpcMessage,
    TxJsonRpcMessage,
};
use rmcp::transport::Transport;
use rmcp::{ClientHandler, RoleClient};
use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};

/// So many tellings are kept for calls that are not known yet.
const EARLY: usize = 64;

/// Hands on what is told.
#[derive(Default)]
pub(super) struct Listener {
    calls: Mutex<Calls>,
    changed: OnceLock<Box<dyn Fn() + Send + Sync>>,
}

/// Whom to tell of which call. The name of a call is only known once it is sent, when an answer may be there already.
#[derive(Default)]
struct Calls {
    known: HashMap<ProgressToken, UnboundedSender<CallProgress>>,
    early: VecDeque<(ProgressToken, CallProgress)>,
}

/// A line that is open.
pub(super) type Service = RunningService<RoleClient, Arc<Listener>>;

/// A call on its way, and what is told of it.
pub(super) struct Sent {
    pub(super) handle: RequestHandle<RoleClient>,
    pub(super) told: UnboundedReceiver<CallProgress>,
}

impl Listener {
    /// Has a function called when the tools have changed.
    pub(super) fn watch(&self, changed: Box<dyn Fn() + Send + Sync>) {
        let _ = self.changed.set(changed);
    }

    /// Sends a call.
    pub(super) async fn send(
        &self,
        peer: &Peer<RoleClient>,
        call: CallToolRequestParams,
    ) -> Result<Sent, rmcp::ServiceError> {
        let request = ClientRequest::CallToolRequest(CallToolRequest::new(call));
        let handle = peer.send_cancellable_request(request, PeerRequestOptions::no_options()).await?;
        let (sender, told) = unbounded_channel();
        let mut calls = self.calls();
        for (token, progress) in std::mem::take(&mut calls.early) {
            if token == handle.progress_token {
                let _ = sender.send(progress);
            } else {
                calls.early.push_back((token, progress));
            }
        }
        calls.known.insert(handle.progress_token.clone(), sender);
        Ok(Sent { handle, told })
    }

    /// Forgets a call that is over.
    pub(super) fn forget(&self, token: &ProgressToken) {
        self.calls().known.remove(token);
    }

    fn tell(&self, token: ProgressToken, progress: CallProgress) {
        let mut calls = self.calls();
        if let Some(sender) = calls.known.get(&token) {
            let _ = sender.send(progress);
            return;
        }
        calls.early.push_back((token, progress));
        if calls.early.len() > EARLY {
            calls.early.pop_front();
        }
    }

    fn calls(&self) -> MutexGuard<'_, Calls> {
        self.calls.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl ClientHandler for Listener {
    fn get_info(&self) -> ClientConfig {
        let own = Implementation::new("haft", env!("CARGO_PKG_VERSION"));
        let mut config = ClientConfig::new(ClientCapabilities::default(), own);
        // The last revision that has an introduction; those after it are found out about in another way.
        config.protocol_version = ProtocolVersion::V_2025_11_25;
        config
    }

    async fn on_tool_list_changed(&self, _: NotificationContext<RoleClient>) {
        if let Some(changed) = self.changed.get() {
            changed();
        }
    }
}

impl std::fmt::Debug for Listener {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.write_str("Listener")
    }
}

/// A line that is listened to as messages come in. Handlers run beside each other: only here is it known in which order, and
/// that everything told of a call comes before its answer.
pub(super) struct Tapped<T> {
    pub(super) line: T,
    pub(super) listener: Arc<Listener>,
}

impl<T: Transport<RoleClient>> Transport<RoleClient> for Tapped<T> {
    type Error = T::Error;

    fn send(
        &mut self,
        message: TxJsonRpcMessage<RoleClient>,
    ) -> impl Future<Output = Result<(), Self::Error>> + Send + 'static {
        self.line.send(message)
    }

    async fn receive(&mut self) -> Option<RxJsonRpcMessage<RoleClient>> {
        loop {
            let message = self.line.receive().await?;
            let JsonRpcMessage::Notification(notification) = message else { return Some(message) };
            let ServerNotification::ProgressNotification(told) = notification.notification else {
                return Some(JsonRpcMessage::Notification(notification));
            };
            let told = told.params;
            let progress = CallProgress { done: told.progress, total: told.total, message: told.message };
            self.listener.tell(told.progress_token, progress);
        }
    }

    async fn close(&mut self) -> Result<(), Self::Error> {
        self.line.close().await
    }
}
