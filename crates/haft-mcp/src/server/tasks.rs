//! The Tasks extension: a call that takes long becomes a task that the client asks for later.

use std::sync::Arc;
use std::time::Duration;

use rmcp::RoleServer;
use rmcp::model::{CreateTaskResult, ServerNotification, TaskStatusNotificationParams};
use rmcp::service::RequestContext;
use rmcp::task_manager::{TaskExit, TaskOptions};
use tokio_util::sync::CancellationToken;

use super::call::Call;
use super::handler::result;
use super::reply::Reply;
use super::shared::Shared;

/// A call that takes longer becomes a task.
const PATIENCE: Duration = Duration::from_secs(5);
/// A task's result is kept for so long; the longest call fits in.
const KEPT: Duration = Duration::from_secs(25 * 3600);
const POLL: Duration = Duration::from_millis(500);

/// What a call has come to.
pub(crate) enum Answer {
    Now(Option<Result<Reply, String>>),
    Later(CreateTaskResult),
}

/// Answers at once, or with a task if that takes long and the client knows tasks.
pub(crate) async fn answer<F>(
    shared: &Arc<Shared>,
    context: &RequestContext<RoleServer>,
    call: Call,
    answer: impl FnOnce(Call) -> F,
) -> Answer
where
    F: Future<Output = Option<Result<Reply, String>>> + Send + 'static,
{
    let knows_tasks = context.client_capabilities().is_some_and(|capabilities| capabilities.supports_tasks());
    if !knows_tasks {
        return Answer::Now(answer(call).await);
    }
    // The request ends before the task does: from then on only the task's own cancellation counts.
    let cancelled = CancellationToken::new();
    let mut work = tokio::spawn(answer(call.with_cancellation(cancelled.clone())));
    tokio::select! {
        done = &mut work => return Answer::Now(done.ok().flatten()),
        () = call.cancelled() => {
            cancelled.cancel();
            return Answer::Now(work.await.ok().flatten());
        }
        () = tokio::time::sleep(PATIENCE) => {}
    }
    let milliseconds = |time: Duration| u64::try_from(time.as_millis()).unwrap_or(u64::MAX);
    let options =
        TaskOptions::new().with_ttl_ms(milliseconds(KEPT)).with_poll_interval_ms(milliseconds(POLL));
    let task = shared.tasks.spawn(options, |task| {
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
    tokio::spawn(announce(shared.clone(), context.clone(), task.task_id.clone()));
    Answer::Later(CreateTaskResult::new(task))
}

/// Tells the client when the task is over, so that it need not ask.
async fn announce(shared: Arc<Shared>, context: RequestContext<RoleServer>, id: String) {
    loop {
        tokio::time::sleep(POLL).await;
        let Ok(task) = shared.tasks.get_task(&id) else { return };
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
