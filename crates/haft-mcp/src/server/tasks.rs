//! The Tasks extension: a call that takes long becomes a task that the client asks for later.

use std::sync::Arc;
use std::time::Duration;

use rmcp::RoleServer;
use rmcp::model::{CreateTaskResult, ServerNotification, TaskStatusNotificationParams};
use rmcp::service::RequestContext;
use rmcp::task_manager::{TaskExit, TaskOptions};
use tokio_util::sync::CancellationToken;

use super::handler::result;
use super::reply::ToolReply;
use super::server_state::ServerState;
use super::tool_request::ToolRequest;

/// A call that takes longer becomes a task.
const TASK_THRESHOLD: Duration = Duration::from_secs(5);
/// A task's result is kept for so long; the longest call fits in.
const TASK_TTL: Duration = Duration::from_secs(25 * 3600);
const TASK_POLL_INTERVAL: Duration = Duration::from_millis(500);

/// What a call has come to.
pub(crate) enum CallAnswer {
    Immediate(Option<Result<ToolReply, String>>),
    Task(CreateTaskResult),
}

/// Answers at once, or with a task if that takes long and the client knows tasks.
pub(crate) async fn answer<F>(
    state: &Arc<ServerState>,
    context: &RequestContext<RoleServer>,
    call: ToolRequest,
    answer: impl FnOnce(ToolRequest) -> F,
) -> CallAnswer
where
    F: Future<Output = Option<Result<ToolReply, String>>> + Send + 'static,
{
    let knows_tasks = context.client_capabilities().is_some_and(|capabilities| capabilities.supports_tasks());
    if !knows_tasks {
        return CallAnswer::Immediate(answer(call).await);
    }
    // The request ends before the task does: from then on only the task's own cancellation counts.
    let cancelled = CancellationToken::new();
    let mut work = tokio::spawn(answer(call.with_cancellation(cancelled.clone())));
    tokio::select! {
        done = &mut work => return CallAnswer::Immediate(done.ok().flatten()),
        () = call.cancelled() => {
            cancelled.cancel();
            return CallAnswer::Immediate(work.await.ok().flatten());
        }
        () = tokio::time::sleep(TASK_THRESHOLD) => {}
    }
    let milliseconds = |time: Duration| u64::try_from(time.as_millis()).unwrap_or(u64::MAX);
    let options = TaskOptions::new()
        .with_ttl_ms(milliseconds(TASK_TTL))
        .with_poll_interval_ms(milliseconds(TASK_POLL_INTERVAL));
    let task = state.tasks.spawn(options, |task| {
        Box::pin(async move {
            tokio::select! {
                done = &mut work => Ok(result(done.ok().flatten().unwrap_or_else(|| Err("the call has failed".to_owned())))),
                () = task.cancelled() => {
                    cancelled.cancel();
                    let _ = work.await;
                    Err(TaskExit::Cancelled)
                }
            }
        })
    });
    tokio::spawn(announce(state.clone(), context.clone(), task.task_id.clone()));
    CallAnswer::Task(CreateTaskResult::new(task))
}

/// Tells the client when the task is over, so that it need not ask.
async fn announce(state: Arc<ServerState>, context: RequestContext<RoleServer>, id: String) {
    loop {
        tokio::time::sleep(TASK_POLL_INTERVAL).await;
        let Ok(task) = state.tasks.get_task(&id) else { return };
        if task.status().is_terminal() {
            let told = rmcp::model::TaskStatusNotification::new(TaskStatusNotificationParams::new(task));
            let _ = context.peer.send_notification(ServerNotification::TaskStatusNotification(told)).await;
            return;
        }
        if context.peer.is_transport_closed() {
            return;
        }
    }
}
