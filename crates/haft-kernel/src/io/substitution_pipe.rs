//! The pipe of a process substitution.

use std::sync::Arc;

use haft_process::CancelToken;

use super::OpenFile;

/// The pipe that the commands of `<(…)` write to.
#[derive(Debug)]
pub(crate) struct SubstitutionPipe {
    output: Arc<OpenFile>,
    ended: CancelToken,
}

impl SubstitutionPipe {
    pub(crate) fn new(output: Arc<OpenFile>) -> Self {
        Self { output, ended: CancelToken::new() }
    }

    /// The end that the commands write to.
    pub(crate) fn output(&self) -> &Arc<OpenFile> {
        &self.output
    }

    /// The token to cancel when the commands have ended.
    pub(crate) fn ended(&self) -> &CancelToken {
        &self.ended
    }
}
