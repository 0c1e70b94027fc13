//! Limits in the result of a run.

use serde::Serialize;

/// The limited resource.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, schemars::JsonSchema)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum LimitKind {
    /// The memory of all processes together.
    Memory,
    /// The number of processes and threads.
    Processes,
    /// The CPU time of each process.
    Cpu,
    /// The bytes that a run writes to files, or the space of the files that it changes in its overlay.
    Disk,
    /// The bytes of output.
    Output,
}

/// How a limit is enforced.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, schemars::JsonSchema)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum EnforcedBy {
    /// By a control group: by the kernel, for all processes together, without delay.
    Cgroup,
    /// By a resource limit: by the kernel, for each process.
    Rlimit,
    /// By haft, which checks all processes every few milliseconds and kills processes above the limit.
    Sampling,
    /// Not at all.
    None,
}

/// One limit of a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, schemars::JsonSchema)]
#[non_exhaustive]
pub struct LimitState {
    /// The requested value: bytes, a number of processes, or seconds.
    pub asked: u64,
    /// How it is enforced.
    pub enforced_by: EnforcedBy,
    /// Whether it was reached, so that a process was refused or killed.
    pub hit: bool,
    /// Number of processes that were killed because of it, as far as known.
    pub killed: u64,
}

/// The requested limits of a run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, schemars::JsonSchema)]
#[non_exhaustive]
pub struct RunLimits {
    /// Bytes of memory of all processes together.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub memory: Option<LimitState>,
    /// Number of threads at once.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub processes: Option<LimitState>,
    /// Seconds of CPU time of each process.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cpu: Option<LimitState>,
    /// Bytes that the run writes to files, or of the files that it changes in its overlay.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub disk: Option<LimitState>,
    /// Bytes of output.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub output: Option<LimitState>,
    /// The limit that ended the whole run, if one did.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ended_by: Option<LimitKind>,
}

impl LimitKind {
    /// Returns the name for messages.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            LimitKind::Memory => "memory",
            LimitKind::Processes => "process",
            LimitKind::Cpu => "CPU time",
            LimitKind::Disk => "disk",
            LimitKind::Output => "output",
        }
    }
}

impl RunLimits {
    /// Whether no limit was requested.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.all().next().is_none()
    }

    /// Returns the requested limits.
    pub fn all(&self) -> impl Iterator<Item = (LimitKind, LimitState)> {
        let all = [
            (LimitKind::Memory, self.memory),
            (LimitKind::Processes, self.processes),
            (LimitKind::Cpu, self.cpu),
            (LimitKind::Disk, self.disk),
            (LimitKind::Output, self.output),
        ];
        all.into_iter().filter_map(|(kind, state)| Some((kind, state?)))
    }

    /// Returns the limit that ended the run, or else the first that was reached.
    #[must_use]
    pub fn hit(&self) -> Option<LimitKind> {
        self.ended_by.or_else(|| self.all().find(|(_, state)| state.hit).map(|(kind, _)| kind))
    }

    /// Records that a limit ended the run, if that limit was requested.
    pub fn note_end(&mut self, kind: LimitKind) {
        let state = match kind {
            LimitKind::Memory => &mut self.memory,
            LimitKind::Processes => &mut self.processes,
            LimitKind::Cpu => &mut self.cpu,
            LimitKind::Disk => &mut self.disk,
            LimitKind::Output => &mut self.output,
        };
        if let Some(state) = state {
            state.hit = true;
            self.ended_by = Some(kind);
        }
    }

    /// Returns the number of processes that were killed because of limits.
    #[must_use]
    pub fn killed(&self) -> usize {
        self.all().map(|(_, state)| usize::try_from(state.killed).unwrap_or(usize::MAX)).sum()
    }

    /// Returns a message for each limit that was reached or is not enforced.
    #[must_use]
    pub fn messages(&self) -> Vec<String> {
        self.all().filter_map(|(kind, state)| self.message(kind, state)).collect()
    }

    fn message(&self, kind: LimitKind, state: LimitState) -> Option<String> {
        let limit = format!("{} limit of {}", kind.name(), asked(kind, state.asked));
        if self.ended_by == Some(kind) {
            return Some(format!("{limit} exceeded; the run was ended"));
        }
        match (state.hit, state.killed) {
            (false, _) if state.enforced_by == EnforcedBy::None => Some(format!("{limit} is not enforced")),
            (false, _) => None,
            (true, 0) => Some(format!("{limit} reached")),
            (true, 1) => Some(format!("{limit} reached; 1 process was killed")),
            (true, count) => Some(format!("{limit} reached; {count} processes were killed")),
        }
    }
}

fn asked(kind: LimitKind, value: u64) -> String {
    match kind {
        LimitKind::Memory | LimitKind::Disk | LimitKind::Output => format!("{value} bytes"),
        LimitKind::Processes => value.to_string(),
        LimitKind::Cpu => format!("{value} s"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn state(hit: bool, killed: u64) -> LimitState {
        LimitState { asked: 5, enforced_by: EnforcedBy::Sampling, hit, killed }
    }

    #[test]
    fn messages_name_the_limit_and_its_effect() {
        let limits = RunLimits {
            memory: Some(state(true, 2)),
            processes: Some(state(true, 0)),
            cpu: Some(state(false, 0)),
            disk: None,
            output: None,
            ended_by: None,
        };
        let expected =
            ["memory limit of 5 bytes reached; 2 processes were killed", "process limit of 5 reached"];
        assert_eq!(limits.messages(), expected);
        assert_eq!((limits.hit(), limits.killed()), (Some(LimitKind::Memory), 2));
        let ended = RunLimits { ended_by: Some(LimitKind::Processes), ..limits };
        assert_eq!(ended.messages()[1], "process limit of 5 exceeded; the run was ended");
        assert!(RunLimits::default().is_empty() && RunLimits::default().messages().is_empty());
    }
}
