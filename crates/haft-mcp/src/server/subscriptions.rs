//! The notifications that a connected client wants, and sending them.
#![expect(
    deprecated,
    reason = "the newest protocol revision has no logging or resource subscriptions, older ones do"
)]

use std::collections::HashSet;
use std::sync::Arc;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use rmcp::RoleServer;
use rmcp::model::{LoggingLevel, LoggingMessageNotificationParam, ResourceUpdatedNotificationParam};
use rmcp::service::Peer;
use tokio::sync::{broadcast, watch};

use super::job_notifications::JobEnded;

/// Interval between checks whether the client is still connected.
const CONNECTION_CHECK_INTERVAL: Duration = Duration::from_secs(30);

/// The subscriptions and the log level of a client.
#[derive(Debug, Default)]
pub(crate) struct ClientSubscriptions(Mutex<SubscriptionState>);

#[derive(Debug, Default)]
struct SubscriptionState {
    /// Whether the log level excludes informational messages.
    warnings_only: bool,
    /// The URIs of subscribed resources.
    resources: HashSet<String>,
}

impl ClientSubscriptions {
    pub(crate) fn set_level(&self, level: LoggingLevel) {
        self.state().warnings_only = !matches!(level, LoggingLevel::Debug | LoggingLevel::Info);
    }

    pub(crate) fn subscribe(&self, uri: String) {
        self.state().resources.insert(uri);
    }

    pub(crate) fn unsubscribe(&self, uri: &str) {
        self.state().resources.remove(uri);
    }

    fn state(&self) -> MutexGuard<'_, SubscriptionState> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Sends notifications of changed tools, changed prompts and ended jobs until the client disconnects.
pub(crate) async fn send_notifications(
    peer: Peer<RoleServer>,
    [mut tool_changes, mut prompt_changes]: [watch::Receiver<u64>; 2],
    mut ended_jobs: broadcast::Receiver<JobEnded>,
    owner: u64,
    subscriptions: Arc<ClientSubscriptions>,
) {
    tool_changes.mark_unchanged();
    while !peer.is_transport_closed() {
        let sent = tokio::select! {
            Ok(()) = tool_changes.changed() => peer.notify_tool_list_changed().await,
            Ok(()) = prompt_changes.changed() => peer.notify_prompt_list_changed().await,
            ended = ended_jobs.recv() => match ended {
                Ok(job) => notify(&peer, job, owner, &subscriptions).await,
                Err(broadcast::error::RecvError::Lagged(_)) => Ok(()),
                Err(broadcast::error::RecvError::Closed) => return,
            },
            () = tokio::time::sleep(CONNECTION_CHECK_INTERVAL) => Ok(()),
        };
        if sent.is_err() {
            return;
        }
    }
}

async fn notify(
    peer: &Peer<RoleServer>,
    job: JobEnded,
    owner: u64,
    subscriptions: &ClientSubscriptions,
) -> Result<(), rmcp::ServiceError> {
    let (subscribed, logged) = {
        let state = subscriptions.state();
        (state.resources.contains(&job.uri), job.owner == owner && !state.warnings_only)
    };
    if subscribed {
        peer.notify_resource_updated(ResourceUpdatedNotificationParam::new(job.uri)).await?;
    }
    if logged {
        let mut message = LoggingMessageNotificationParam::new(LoggingLevel::Info, job.data);
        message.logger = Some("jobs".to_owned());
        peer.notify_logging_message(message).await?;
    }
    Ok(())
}
