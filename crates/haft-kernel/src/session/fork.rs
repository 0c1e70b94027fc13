//! Subshells.

use haft_process::CancelToken;

use crate::jobs::next_number;
use crate::options::SetOption;
use crate::run::{Leftovers, TERMINATE};
use crate::session::moment::Moment;
use crate::session::{Random, Session};
use crate::traps::Trap;

impl Session {
    /// A subshell: a snapshot that changes on its own from here on. It has no jobs, and only the traps that are
    /// ignored.
    #[must_use]
    pub fn fork(&mut self) -> Self {
        self.variables.share();
        self.frames.lend();
        self.positional.lend();
        self.snapshot()
    }

    /// The same of a session that has lent already what it shares with subshells; of another it costs copies.
    pub(crate) fn snapshot(&self) -> Self {
        Self {
            kernel: self.kernel.clone(),
            variables: self.variables.clone(),
            functions: self.functions.clone(),
            options: self.options,
            descriptors: self.descriptors.clone(),
            cwd: self.cwd.clone(),
            held_directory: self.held_directory.clone(),
            umask: self.umask,
            traps: self.traps.for_subshell(
                self.options.has(SetOption::ErrorTrace),
                self.options.has(SetOption::FunctionTrace),
            ),
            signals: None,
            jobs: self.jobs.for_subshell(),
            positional: self.positional.clone(),
            name: self.name.clone(),
            aliases: self.aliases.clone(),
            completions: self.completions.clone(),
            directories: self.directories.clone(),
            disabled: self.disabled.clone(),
            hashed: self.hashed.clone(),
            frames: self.frames.clone(),
            status: self.status,
            pipe_status: self.pipe_status.clone(),
            last_argument: self.last_argument.clone(),
            last_background: self.last_background,
            line: self.line,
            under_command: self.under_command,
            subshell: self.subshell + 1,
            pid: self.pid,
            started: self.started,
            limits: self.limits.clone(),
            getopts: self.getopts,
            cancel: self.cancel_of_fork(),
            stop: self.stop.clone(),
            seconds_offset: self.seconds_offset,
            random: Random::new(self.random.fork()),
            own_pid: next_number(),
            leads: false,
            command_string: self.command_string,
            standard_input: self.standard_input,
            script: self.script.clone(),
            source_text: self.source_text.clone(),
            command_span: self.command_span,
            trapped_command: self.trapped_command.clone(),
            regard: self.regard,
            captures: self.captures.clone(),
            stdin_redirected: self.stdin_redirected,
            is_branch: self.is_branch,
            depth: self.depth,
            fresh_stack: self.fresh_stack,
            trace_depth: self.trace_depth,
            hashed_for: self.hashed_for.clone(),
            last_environment: self.last_environment.clone(),
            run: self.run.clone(),
            leftovers: Leftovers::default(),
            orphans: self.orphans.clone(),
            group: self.group.clone(),
            interactive: self.interactive,
            prompt_numbers: self.prompt_numbers,
            beside: Vec::new(),
            substitution: self.substitution.clone(),
            moment: Moment::default(),
            memory: self.memory.clone(),
            dirty: self.dirty.clone(),
        }
    }

    /// What ends a subshell: all that ends this session does, and a signal to the whole run that this session has a trap
    /// for.
    fn cancel_of_fork(&self) -> CancelToken {
        match &self.signals {
            Some(signals) if self.run.is_some() && self.traps.get(Trap::Signal(TERMINATE)).is_some() => {
                signals.nested(&self.cancel)
            }
            _ => self.cancel.clone(),
        }
    }
}
