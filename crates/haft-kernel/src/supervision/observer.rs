//! Observing a run while it goes on.

use std::fmt::Debug;
use std::path::Path;

use haft_process::JobController;

use super::Stage;

/// Is told about a run while it goes on, on the thread of the script, which waits meanwhile.
pub trait RunObserver: Debug + Send + Sync {
    /// The script is about to start, in this directory. The controller is that of the run.
    fn started(&self, run: &JobController, directory: &Path);

    /// A stage of one of the script's own pipelines has ended.
    fn stage_ended(&self, stage: &Stage);
}
