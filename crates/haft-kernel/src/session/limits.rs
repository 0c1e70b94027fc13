//! Limits of a session: cancellation, nesting, and the resource limits of its programs.

use std::sync::{Arc, OnceLock};

use haft_process::{CancelToken, Resource, ResourceLimit};
use rustix::process::Resource as SystemResource;

/// Cancellation, nesting depth and `ulimit`.
#[derive(Debug, Default)]
pub(crate) struct ExecutionLimits {
    /// Cancels the session; its traps still run.
    cancel: CancelToken,
    /// Stops even the traps that run when the session ends.
    stop: CancelToken,
    stack: StackUse,
    /// The limits of programs that `ulimit` has set.
    program_limits: Arc<Vec<ResourceLimit>>,
}

/// How much of the thread's stack nested commands use.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct StackUse {
    /// Nesting, in units of about a kilobyte of stack.
    pub(crate) depth: u32,
    /// Whether the session runs on a stack made for deep nesting.
    pub(crate) is_large: bool,
}

impl ExecutionLimits {
    /// A subshell on the same thread has the same limits; `cancel` cancels it.
    pub(super) fn for_subshell(&self, cancel: CancelToken) -> Self {
        Self {
            cancel,
            stop: self.stop.clone(),
            stack: self.stack,
            program_limits: self.program_limits.clone(),
        }
    }

    /// Whether programs have limits of resources that a process can run out of.
    pub(crate) fn limits_programs(&self) -> bool {
        static INHERITED: OnceLock<bool> = OnceLock::new();
        let inherited = || {
            let limits =
                [SystemResource::Fsize, SystemResource::As, SystemResource::Data, SystemResource::Cpu];
            limits.into_iter().any(|limit| rustix::process::getrlimit(limit).current.is_some())
        };
        !self.program_limits.is_empty() || *INHERITED.get_or_init(inherited)
    }

    /// The token that cancels the session.
    #[inline]
    pub(crate) fn cancel(&self) -> &CancelToken {
        &self.cancel
    }

    /// Whether the session is cancelled.
    #[inline]
    pub(crate) fn is_cancelled(&self) -> bool {
        self.cancel.is_cancelled()
    }

    /// Makes a token cancel the session; returns the previous token.
    pub(crate) fn set_cancel(&mut self, token: CancelToken) -> CancelToken {
        std::mem::replace(&mut self.cancel, token)
    }

    /// The token that stops the session with its traps.
    pub(crate) fn stop(&self) -> &CancelToken {
        &self.stop
    }

    /// Makes a token stop the session with its traps; returns the previous token.
    pub(crate) fn set_stop(&mut self, token: CancelToken) -> CancelToken {
        std::mem::replace(&mut self.stop, token)
    }

    /// Lets the traps run that are due at the end of a cancelled session: from now on only `stop` cancels it.
    pub(crate) fn cancel_only_by_stop(&mut self) {
        self.cancel = self.stop.clone();
    }

    /// How much of the thread's stack is used.
    #[inline]
    pub(crate) fn stack(&self) -> StackUse {
        self.stack
    }

    /// How much of the thread's stack is used, to be changed.
    #[inline]
    pub(crate) fn stack_mut(&mut self) -> &mut StackUse {
        &mut self.stack
    }

    /// Says that the session runs on a new thread of its own.
    pub(crate) fn begin_thread(&mut self) {
        self.stack = StackUse::default();
    }

    /// The limits of programs that `ulimit` has set.
    pub(crate) fn program_limits(&self) -> &[ResourceLimit] {
        &self.program_limits
    }

    /// Whether `ulimit -n` allows a file descriptor of this number.
    pub(crate) fn allows_descriptor(&self, number: u32) -> bool {
        /// Lower numbers are not checked, because they are what scripts use.
        const MIN_CHECKED: u32 = 256;
        if number < MIN_CHECKED {
            return true;
        }
        self.has_room_for(number)
    }

    /// The same for every number.
    pub(crate) fn has_room_for(&self, number: u32) -> bool {
        let own = self.program_limits.iter().rev().find(|limit| limit.resource == Resource::OpenFiles);
        let limit = match own {
            Some(limit) => limit.soft,
            None => rustix::process::getrlimit(rustix::process::Resource::Nofile).current,
        };
        limit.is_none_or(|limit| u64::from(number) < limit)
    }

    /// The limits of programs that `ulimit` has set, to be changed.
    pub(crate) fn program_limits_mut(&mut self) -> &mut Vec<ResourceLimit> {
        Arc::make_mut(&mut self.program_limits)
    }
}
