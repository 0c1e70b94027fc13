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
const MAX_EARLY_NOTIFICATIONS: usize = 64;

/// Hands on what is told.
#[derive(Default)]
pub(super) struct NotificationHandler {
    receivers: Mutex<ProgressReceivers>,
    changed: OnceLock<Box<dyn Fn() + Send + Sync>>,
}

/// Whom to tell of which call. The name of a call is only known once it is sent, when an answer may be there already.
#[derive(Default)]
struct ProgressReceivers {
    known: HashMap<ProgressToken, UnboundedSender<CallProgress>>,
    unclaimed: VecDeque<(ProgressToken, CallProgress)>,
}

/// A line that is open.
pub(super) type ClientService = RunningService<RoleClient, Arc<NotificationHandler>>;

/// A call on its way, and what is told of it.
pub(super) struct PendingCall {
    pub(super) handle: RequestHandle<RoleClient>,
    pub(super) progress_steps: UnboundedReceiver<CallProgress>,
}

impl NotificationHandler {
    /// Has a function called when the tools have changed.
    pub(super) fn watch(&self, changed: Box<dyn Fn() + Send + Sync>) {
        let _ = self.changed.set(changed);
    }

    /// Sends a call.
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

    /// Forgets a call that is over.
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

impl std::fmt::Debug for NotificationHandler {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.write_str("NotificationHandler")
    }
}

/// A line that is listened to as messages come in. Handlers run beside each other: only here is it known in which order, and
/// that everything told of a call comes before its answer.
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
            let ServerNotification::ProgressNotification(progress_steps) = notification.notification else {
                return Some(JsonRpcMessage::Notification(notification));
            };
            let progress_steps = progress_steps.params;
            let progress = CallProgress {
                done: progress_steps.progress,
                total: progress_steps.total,
                message: progress_steps.message,
            };
            self.notifications.deliver(progress_steps.progress_token, progress);
        }
    }

    async fn close(&mut self) -> Result<(), Self::Error> {
        self.transport.close().await
    }
}
