//! What a client with a connection wants to hear without asking, and telling it.
#![expect(
    deprecated,
    reason = "older revisions have a log and subscriptions, which the newest one has no more"
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

/// How often it is looked whether the client is still there.
const CONNECTION_CHECK_INTERVAL: Duration = Duration::from_secs(30);

/// What it has asked for.
#[derive(Debug, Default)]
pub(crate) struct ClientSubscriptions(Mutex<SubscriptionState>);

#[derive(Debug, Default)]
struct SubscriptionState {
    /// Whether it wants no messages but those of trouble.
    only_trouble: bool,
    /// Resources that it follows.
    followed: HashSet<String>,
}

impl ClientSubscriptions {
    pub(crate) fn set_level(&self, level: LoggingLevel) {
        self.state().only_trouble = !matches!(level, LoggingLevel::Debug | LoggingLevel::Info);
    }

    pub(crate) fn subscribe(&self, uri: String) {
        self.state().followed.insert(uri);
    }

    pub(crate) fn unsubscribe(&self, uri: &str) {
        self.state().followed.remove(uri);
    }

    fn state(&self) -> MutexGuard<'_, SubscriptionState> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Tells a client, as long as it is there, that tools have changed and jobs are over.
pub(crate) async fn send_notifications(
    peer: Peer<RoleServer>,
    mut changes: watch::Receiver<u64>,
    mut news: broadcast::Receiver<JobEnded>,
    owner: u64,
    subscriptions: Arc<ClientSubscriptions>,
) {
    changes.mark_unchanged();
    while !peer.is_transport_closed() {
        let told = tokio::select! {
            Ok(()) = changes.changed() => peer.notify_tool_list_changed().await,
            news = news.recv() => match news {
                Ok(news) => notify(&peer, news, owner, &subscriptions).await,
                Err(broadcast::error::RecvError::Lagged(_)) => Ok(()),
                Err(broadcast::error::RecvError::Closed) => return,
            },
            () = tokio::time::sleep(CONNECTION_CHECK_INTERVAL) => Ok(()),
        };
        if told.is_err() {
            return;
        }
    }
}

async fn notify(
    peer: &Peer<RoleServer>,
    news: JobEnded,
    owner: u64,
    subscriptions: &ClientSubscriptions,
) -> Result<(), rmcp::ServiceError> {
    let (followed, logged) = {
        let wanted = subscriptions.state();
        (wanted.followed.contains(&news.uri), news.owner == owner && !wanted.only_trouble)
    };
    if followed {
        peer.notify_resource_updated(ResourceUpdatedNotificationParam::new(news.uri)).await?;
    }
    if logged {
        let mut message = LoggingMessageNotificationParam::new(LoggingLevel::Info, news.data);
        message.logger = Some("jobs".to_owned());
        peer.notify_logging_message(message).await?;
    }
    Ok(())
}
