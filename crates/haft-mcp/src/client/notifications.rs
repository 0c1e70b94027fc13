//! Handles notifications of a server: progress of calls, and changed tools.

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

/// The number of progress notifications to keep for calls that are not registered yet.
const MAX_EARLY_NOTIFICATIONS: usize = 64;

/// Forwards notifications to those who wait for them.
#[derive(Default)]
pub(super) struct NotificationHandler {
    receivers: Mutex<ProgressReceivers>,
    changed: OnceLock<Box<dyn Fn() + Send + Sync>>,
}

/// The receivers of progress notifications. The token of a call is known only after it was sent, when notifications
/// may already have arrived.
#[derive(Default)]
struct ProgressReceivers {
    known: HashMap<ProgressToken, UnboundedSender<CallProgress>>,
    unclaimed: VecDeque<(ProgressToken, CallProgress)>,
}

/// An open connection.
pub(super) type ClientService = RunningService<RoleClient, Arc<NotificationHandler>>;

/// A call that was sent, and its progress notifications.
pub(super) struct PendingCall {
    pub(super) handle: RequestHandle<RoleClient>,
    pub(super) progress_steps: UnboundedReceiver<CallProgress>,
}

impl NotificationHandler {
    /// Registers a function to be called when the tools have changed.
    pub(super) fn watch(&self, changed: Box<dyn Fn() + Send + Sync>) {
        let _ = self.changed.set(changed);
    }

    /// Calls the registered function.
    pub(super) fn tools_changed(&self) {
        if let Some(changed) = self.changed.get() {
            changed();
        }
    }

    /// Sends a call and registers for its progress.
    pub(super) async fn send(
        &self,
        peer: &Peer<RoleClient>,
        call: CallToolRequestParams,
    ) -> Result<PendingCall, rmcp::ServiceError> {
        let request = ClientRequest::CallToolRequest(CallToolRequest::new(call));
        let handle = peer.send_cancellable_request(request, PeerRequestOptions::no_options()).await?;
        let (sender, progress_steps) = unbounded_channel();
        let mut receivers = self.receivers();
        for (token, progress) in std::mem::take(&mut receivers.unclaimed) {
            if token == handle.progress_token {
                let _ = sender.send(progress);
            } else {
                receivers.unclaimed.push_back((token, progress));
            }
        }
        receivers.known.insert(handle.progress_token.clone(), sender);
        Ok(PendingCall { handle, progress_steps })
    }

    /// Unregisters a call that has ended.
    pub(super) fn forget(&self, token: &ProgressToken) {
        self.receivers().known.remove(token);
    }

    fn deliver(&self, token: ProgressToken, progress: CallProgress) {
        let mut receivers = self.receivers();
        if let Some(sender) = receivers.known.get(&token) {
            let _ = sender.send(progress);
            return;
        }
        receivers.unclaimed.push_back((token, progress));
        if receivers.unclaimed.len() > MAX_EARLY_NOTIFICATIONS {
            receivers.unclaimed.pop_front();
        }
    }

    fn receivers(&self) -> MutexGuard<'_, ProgressReceivers> {
        self.receivers.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl ClientHandler for NotificationHandler {
    fn get_info(&self) -> ClientConfig {
        let own = Implementation::new("haft", env!("CARGO_PKG_VERSION"));
        let mut config = ClientConfig::new(ClientCapabilities::default(), own);
        // The last revision with an `initialize` handshake. Later ones are tried separately.
        config.protocol_version = ProtocolVersion::V_2025_11_25;
        config
    }

    async fn on_tool_list_changed(&self, _: NotificationContext<RoleClient>) {
        self.tools_changed();
    }
}

impl std::fmt::Debug for NotificationHandler {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.write_str("NotificationHandler")
    }
}

/// A transport that handles progress notifications as messages arrive. The handlers of the library run concurrently;
/// only here is it certain that all progress of a call precedes its result.
pub(super) struct ProgressTransport<T> {
    pub(super) transport: T,
    pub(super) notifications: Arc<NotificationHandler>,
}

impl<T: Transport<RoleClient>> Transport<RoleClient> for ProgressTransport<T> {
    type Error = T::Error;

    fn send(
        &mut self,
        message: TxJsonRpcMessage<RoleClient>,
    ) -> impl Future<Output = Result<(), Self::Error>> + Send + 'static {
        self.transport.send(message)
    }

    async fn receive(&mut self) -> Option<RxJsonRpcMessage<RoleClient>> {
        loop {
            let message = self.transport.receive().await?;
            let JsonRpcMessage::Notification(notification) = message else { return Some(message) };
            let ServerNotification::ProgressNotification(received) = notification.notification else {
                return Some(JsonRpcMessage::Notification(notification));
            };
            let received = received.params;
            let progress =
                CallProgress { done: received.progress, total: received.total, message: received.message };
            self.notifications.deliver(received.progress_token, progress);
        }
    }

    async fn close(&mut self) -> Result<(), Self::Error> {
        self.transport.close().await
    }
}
