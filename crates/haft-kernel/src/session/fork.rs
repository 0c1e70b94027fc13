//! Subshells.

use crate::jobs::Jobs;
use crate::options::SetOption;
use crate::session::Session;

impl Session {
    /// A subshell: a snapshot that changes on its own from here on. It has no jobs, and only the traps that are
    /// ignored.
    #[must_use]
    pub fn fork(&self) -> Self {
        Self {
            kernel: self.kernel.clone(),
            variables: self.variables.clone(),
            functions: self.functions.clone(),
            options: self.options,
            descriptors: self.descriptors.clone(),
            cwd: self.cwd.clone(),
            umask: self.umask,
            traps: self.traps.for_subshell(
                self.options.has(SetOption::ErrorTrace),
                self.options.has(SetOption::FunctionTrace),
            ),
            jobs: Jobs::default(),
            positional: self.positional.clone(),
            name: self.name.clone(),
            aliases: self.aliases.clone(),
            directories: self.directories.clone(),
            disabled: self.disabled.clone(),
            hashed: self.hashed.clone(),
            frames: self.frames.clone(),
            status: self.status,
            pipe_status: self.pipe_status.clone(),
            last_argument: self.last_argument.clone(),
            last_background: self.last_background,
            line: self.line,
            loops: 0,
            subshell: self.subshell + 1,
            pid: self.pid,
            started: self.started,
            getopts: self.getopts,
            cancel: self.cancel.clone(),
            dirty: self.dirty.clone(),
        }
    }
}
