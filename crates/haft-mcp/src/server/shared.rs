//! What all clients of a server share.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use haft_kernel::Session;
use rmcp::task_manager::TaskManager;

use super::Setup;
use super::jobs::Jobs;
use super::outputs::Outputs;
use super::sessions::Sessions;

/// Sessions, jobs and outputs of all clients.
pub(crate) struct Shared {
    pub(crate) setup: Setup,
    pub(crate) sessions: Sessions<Session>,
    pub(crate) jobs: Jobs,
    pub(crate) outputs: Outputs,
    pub(crate) tasks: TaskManager,
    numbers: AtomicU64,
}

/// How often what is too old is looked for.
const SWEEP: Duration = Duration::from_secs(30);

impl Shared {
    pub(crate) fn new(setup: Setup) -> Arc<Shared> {
        Arc::new(Shared {
            sessions: Sessions::new(setup.limits.sessions),
            jobs: Jobs::new(setup.limits.jobs),
            outputs: Outputs::new(setup.limits.outputs),
            tasks: TaskManager::new(),
            numbers: AtomicU64::new(1),
            setup,
        })
    }

    /// A number that nobody else has.
    pub(crate) fn next_number(&self) -> u64 {
        self.numbers.fetch_add(1, Ordering::Relaxed)
    }

    /// Ends what belonged to somebody who has gone.
    pub(crate) fn release(&self, owner: u64) {
        self.jobs.release(owner);
        self.sessions.release(owner);
        self.outputs.release(owner);
    }

    /// Ends, again and again, what is too old.
    pub(crate) async fn sweep(self: Arc<Shared>) {
        loop {
            tokio::time::sleep(SWEEP).await;
            let now = Instant::now();
            self.sessions.sweep(now);
            self.jobs.sweep(now);
            self.outputs.sweep(now);
        }
    }
}

impl std::fmt::Debug for Shared {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.debug_struct("Shared").field("jobs", &self.jobs).finish_non_exhaustive()
    }
}
