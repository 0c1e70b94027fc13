//! The table of background processes.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard};
use std::time::{Duration, Instant};

use haft_process::capture::Output;
use haft_process::{Exit, JobController, JobHandle, JobOutcome};
use serde_json::{Value, json};

use crate::envelope::CallError;
use crate::sync::lock;
use crate::text;

/// Maximum number of ended processes in the table.
const MAX_ENDED_PROCESSES: usize = 64;

/// All background processes. They end when the table is dropped.
#[derive(Debug, Default)]
pub(super) struct ProcessTable {
    processes: Mutex<BTreeMap<u64, Arc<BackgroundProcess>>>,
}

/// A background process.
#[derive(Debug)]
pub(super) struct BackgroundProcess {
    pub(super) number: u64,
    /// The command as requested: a shell script or a list of arguments.
    pub(super) command: Value,
    pub(super) started: Instant,
    pub(super) time_to_live: Duration,
    pub(super) controller: JobController,
    state: Mutex<ProcessState>,
}

#[derive(Debug)]
struct ProcessState {
    /// Present until the process has ended.
    handle: Option<JobHandle>,
    ended: Option<ProcessEnd>,
    /// Position up to which the output was read.
    cursor: u64,
}

#[derive(Clone, Debug)]
struct ProcessEnd {
    exit: Exit,
    timed_out: bool,
    after: Duration,
}

impl ProcessTable {
    pub(super) fn add(
        &self,
        command: Value,
        time_to_live: Duration,
        handle: JobHandle,
    ) -> Arc<BackgroundProcess> {
        let mut processes = lock(&self.processes);
        let number = processes.last_key_value().map_or(1, |(last, _)| last + 1);
        let controller = handle.controller().clone();
        let state = Mutex::new(ProcessState { handle: Some(handle), ended: None, cursor: 0 });
        let process = Arc::new(BackgroundProcess {
            number,
            command,
            started: Instant::now(),
            time_to_live,
            controller,
            state,
        });
        let over: Vec<u64> = processes
            .iter()
            .filter(|(_, process)| !process.is_running())
            .map(|(number, _)| *number)
            .collect();
        for old in over.iter().take(over.len().saturating_sub(MAX_ENDED_PROCESSES)) {
            processes.remove(old);
        }
        processes.insert(number, process.clone());
        process
    }

    pub(super) fn get(&self, id: &str) -> Result<Arc<BackgroundProcess>, CallError> {
        let processes = lock(&self.processes);
        let number = id.strip_prefix('p').and_then(|number| number.parse().ok());
        number.and_then(|number: u64| processes.get(&number).cloned()).ok_or_else(|| {
            let all: Vec<String> = processes.values().map(|process| process.id()).collect();
            let all = if all.is_empty() {
                "none was started".to_owned()
            } else {
                format!("known processes: {}", all.join(", "))
            };
            CallError::invalid(format!("unknown process '{id}'; {all}"))
        })
    }

    pub(super) fn all(&self) -> Vec<Arc<BackgroundProcess>> {
        lock(&self.processes).values().cloned().collect()
    }
}

impl BackgroundProcess {
    pub(super) fn id(&self) -> String {
        format!("p{}", self.number)
    }

    pub(super) fn is_running(&self) -> bool {
        self.update_state().ended.is_none()
    }

    /// The output, with both streams in order.
    pub(super) fn output(&self) -> Option<&Output> {
        self.controller.captured().output.as_ref()
    }

    /// Reads new output, at most `budget` bytes. Also returns how many bytes were lost.
    pub(super) fn read_new(&self, budget: usize) -> Result<(Vec<u8>, u64), CallError> {
        let Some(output) = self.output() else { return Ok((Vec::new(), 0)) };
        let mut state = lock(&self.state);
        let (mut bytes, mut lost) = (Vec::new(), 0);
        // The output may be stored in several parts, and each read returns one of them.
        loop {
            let growth = output
                .read_since(state.cursor, budget - bytes.len())
                .map_err(|error| CallError::failed(error.to_string()))?;
            state.cursor = growth.next;
            lost += growth.lost;
            bytes.extend_from_slice(&growth.bytes);
            if growth.bytes.is_empty() || bytes.len() >= budget {
                return Ok((bytes, lost));
            }
        }
    }

    /// Position up to which the output was read.
    pub(super) fn cursor(&self) -> u64 {
        lock(&self.state).cursor
    }

    /// Terminates the process and all its descendants, and waits for them.
    pub(super) fn end(&self) {
        let handle = lock(&self.state).handle.take();
        if let Some(outcome) = handle.and_then(JobHandle::end) {
            lock(&self.state).ended = Some(self.ended(&outcome));
        }
    }

    /// The state of the process as JSON.
    pub(super) fn report(&self) -> Value {
        let ended = self.update_state().ended.clone();
        let mut report = json!({
            "id": self.id(),
            "pid": self.controller.pid(),
            "command": self.command,
            "running": ended.is_none(),
            "age": round(self.started.elapsed()),
        });
        match ended {
            None => {
                let left = self.time_to_live.saturating_sub(self.started.elapsed());
                report["time_to_live"] = round(left).into();
                report["needs_input"] = self.controller.needs_input().is_some().into();
            }
            Some(ended) => {
                report["ran"] = round(ended.after).into();
                report["timed_out"] = ended.timed_out.into();
                match ended.exit {
                    Exit::Code(code) => report["exit_code"] = code.into(),
                    Exit::Signal(signal) => {
                        report["signal"] = text::signal(signal).into();
                    }
                }
            }
        }
        report
    }

    /// Records the end of the process if it has ended.
    fn update_state(&self) -> MutexGuard<'_, ProcessState> {
        let mut state = lock(&self.state);
        if state.handle.as_ref().is_some_and(JobHandle::is_finished)
            && let Some(outcome) = state.handle.take().and_then(JobHandle::wait)
        {
            state.ended = Some(self.ended(&outcome));
        }
        state
    }

    fn ended(&self, outcome: &JobOutcome) -> ProcessEnd {
        ProcessEnd { exit: outcome.exit, timed_out: outcome.timed_out, after: outcome.wall }
    }
}

fn round(duration: Duration) -> f64 {
    duration.as_millis() as f64 / 1e3
}
