//! The Tasks extension: a long call becomes a task whose result the client fetches later.

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

/// How long the result of a task is available. Longer than the longest call.
const TASK_TTL: Duration = Duration::from_secs(25 * 3600);
const TASK_POLL_INTERVAL: Duration = Duration::from_millis(500);

/// The answer to a call.
pub(crate) enum CallAnswer {
    Immediate(Option<Result<ToolReply, String>>),
    Task(CreateTaskResult),
}

/// Runs a call. Answers with a task if the call takes long and the client supports tasks.
pub(crate) async fn answer<F>(
    state: &Arc<ServerState>,
    context: &RequestContext<RoleServer>,
    call: ToolRequest,
    answer: impl FnOnce(ToolRequest) -> F,
) -> CallAnswer
where
    F: Future<Output = Option<Result<ToolReply, String>>> + Send + 'static,
{
    let supports_tasks =
        context.client_capabilities().is_some_and(|capabilities| capabilities.supports_tasks());
    if !supports_tasks {
        return CallAnswer::Immediate(answer(call).await);
    }
    // The request ends before the task does, so the task has its own cancellation token.
    let cancelled = CancellationToken::new();
    let mut work = tokio::spawn(answer(call.with_cancellation(cancelled.clone())));
    tokio::select! {
        done = &mut work => return CallAnswer::Immediate(done.ok().flatten()),
        () = call.cancelled() => {
            cancelled.cancel();
            return CallAnswer::Immediate(work.await.ok().flatten());
        }
        () = tokio::time::sleep(state.setup.task_after) => {}
    }
    let milliseconds = |time: Duration| u64::try_from(time.as_millis()).unwrap_or(u64::MAX);
    let options = TaskOptions::new()
        .with_ttl_ms(milliseconds(TASK_TTL))
        .with_poll_interval_ms(milliseconds(TASK_POLL_INTERVAL));
    let detail = state.setup.detail;
    let task = state.tasks.spawn(options, move |task| {
        Box::pin(async move {
            tokio::select! {
                done = &mut work => {
                    let done = done.ok().flatten().unwrap_or_else(|| Err("the call failed".to_owned()));
                    Ok(result(done, detail, false))
                }
                () = task.cancelled() => {
                    cancelled.cancel();
                    let _ = work.await;
                    Err(TaskExit::Cancelled)
                }
            }
        })
    });
    tokio::spawn(notify_when_ended(state.clone(), context.clone(), task.task_id.clone()));
    CallAnswer::Task(CreateTaskResult::new(task))
}

/// Notifies the client when the task has ended, so that it need not poll.
async fn notify_when_ended(state: Arc<ServerState>, context: RequestContext<RoleServer>, id: String) {
    loop {
        tokio::time::sleep(TASK_POLL_INTERVAL).await;
        let Ok(task) = state.tasks.get_task(&id) else { return };
        if task.status().is_terminal() {
            let notification =
                rmcp::model::TaskStatusNotification::new(TaskStatusNotificationParams::new(task));
            let _ = context
                .peer
                .send_notification(ServerNotification::TaskStatusNotification(notification))
                .await;
            return;
        }
        if context.peer.is_transport_closed() {
            return;
        }
    }
}
