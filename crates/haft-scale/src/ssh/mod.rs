//! Items on other machines over ssh: one connection and one worker per host.

mod connection;
mod host;
mod script;

use std::collections::VecDeque;
use std::os::fd::BorrowedFd;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Duration, Instant};

use haft_process::{Command, StartPermission};

use crate::events::EventQueue;
use crate::hosts::HostSlots;
use crate::{Capacity, Executor, ItemAttempt, ItemRecord, PROTOCOL, WorkerInfo, WorkerReply, WorkerSetup};
use connection::ConnectionEvent;
use host::{Host, HostState};

/// An item that is lost with its host this many times does not run again.
const MAX_LOSSES: u32 = 3;
/// The status of an item that was cancelled before it started: as if ended by SIGTERM.
const CANCELLED: i32 = 143;

/// Settings of an [`SshExecutor`].
#[derive(Clone, Debug)]
pub struct SshSettings {
    /// The program `ssh`, with the environment and the options of its session.
    pub program: Command,
    /// The permission to start it.
    pub permission: StartPermission,
    /// The hosts.
    pub hosts: Vec<HostSlots>,
    /// The largest number of items at a time, on all hosts together.
    pub limit: Option<usize>,
    /// haft's own program, to be copied to hosts that lack it. `None` means that it is not copied.
    pub bootstrap: Option<PathBuf>,
    /// The version of haft.
    pub version: String,
    /// The stages and their session.
    pub setup: WorkerSetup,
}

/// An item that waits for a host.
#[derive(Debug)]
struct WaitingItem {
    attempt: ItemAttempt,
    /// How often it was lost with its host.
    losses: u32,
}

/// Runs items on hosts.
#[derive(Debug)]
pub struct SshExecutor {
    settings: Arc<SshSettings>,
    hosts: Vec<Host>,
    waiting: VecDeque<WaitingItem>,
    ended: Vec<(ItemAttempt, ItemRecord)>,
    events: Arc<EventQueue<ConnectionEvent>>,
    messages: Vec<String>,
    cancelled: bool,
}

impl SshExecutor {
    /// Connects to all hosts, without waiting for them.
    ///
    /// # Errors
    /// If `ssh` cannot be started.
    pub fn start(settings: SshSettings) -> Result<Self, haft_process::Error> {
        let settings = Arc::new(settings);
        let events = Arc::new(
            EventQueue::new().map_err(|error| haft_process::Error::system("create an event", error))?,
        );
        let hosts = settings.hosts.iter().enumerate().map(|(number, slots)| Host::new(number, slots.clone()));
        let mut executor = Self {
            hosts: hosts.collect(),
            settings,
            waiting: VecDeque::new(),
            ended: Vec::new(),
            events,
            messages: Vec::new(),
            cancelled: false,
        };
        for host in &mut executor.hosts {
            host.connect(&executor.settings, &executor.events)?;
        }
        Ok(executor)
    }

    fn handle(&mut self, event: ConnectionEvent) {
        let Some(host) = self.hosts.get(event.host) else { return };
        if !host.is_current(event.generation) {
            return;
        }
        for reply in event.replies {
            match reply {
                Ok(reply) => self.handle_reply(event.host, reply),
                Err(line) => self.hosts[event.host].handle_noise(&line),
            }
        }
        if event.ended {
            self.handle_end(event.host);
        }
    }

    fn handle_reply(&mut self, number: usize, reply: WorkerReply) {
        let host = &mut self.hosts[number];
        match reply {
            WorkerReply::Ready(info) => match version_problem(&info, &self.settings.version) {
                Some(problem) => host.refuse(problem),
                None => host.set_up(&self.settings.setup, info),
            },
            WorkerReply::Missing(system) => host.bootstrap(&self.settings, &system),
            WorkerReply::Started => host.state = HostState::Running,
            WorkerReply::Refused(reason) => host.refuse(reason),
            WorkerReply::Record(record) => {
                if let Some((item, record)) = host.finish(record) {
                    self.ended.push((item.attempt, record));
                }
            }
        }
    }

    /// Handles the end of a connection: items that were running wait again, and the host is tried again if that makes sense.
    fn handle_end(&mut self, number: usize) {
        let host = &mut self.hosts[number];
        let (lost, reason) = host.end();
        let name = host.name().to_owned();
        for mut item in lost.into_iter().rev() {
            item.losses += 1;
            if self.cancelled || item.losses >= MAX_LOSSES {
                let message = format!("lost with host '{name}': {reason}");
                let record = ItemRecord::not_run(item.attempt.index, &message);
                self.ended.push((item.attempt, ItemRecord { node: Some(name.clone()), ..record }));
            } else {
                self.waiting.push_front(item);
            }
        }
        let outcome = if host.is_given_up() { "it is not used any more" } else { "trying again" };
        self.messages.push(format!("host '{name}': {reason}; {outcome}"));
    }

    /// Connects again to hosts whose pause is over.
    fn reconnect(&mut self) {
        for host in &mut self.hosts {
            if self.cancelled || !host.is_due() {
                continue;
            }
            if let Err(error) = host.connect(&self.settings, &self.events) {
                host.refuse(error.to_string());
            }
        }
    }

    /// Sends waiting items to hosts with room, the freest host first.
    fn dispatch(&mut self) {
        let limit = self.settings.limit.unwrap_or(usize::MAX);
        while !self.waiting.is_empty() && self.in_flight() < limit.saturating_add(self.ahead()) {
            let freest = self.hosts.iter_mut().filter(|host| host.room() > 0).max_by_key(|host| host.room());
            let Some(host) = freest else { return };
            let Some(item) = self.waiting.pop_front() else { return };
            host.send(item);
        }
    }

    fn in_flight(&self) -> usize {
        self.hosts.iter().map(Host::in_flight).sum()
    }

    fn ahead(&self) -> usize {
        self.hosts.iter().map(Host::ahead).sum()
    }

    fn limited(&self, slots: usize) -> usize {
        slots.min(self.settings.limit.unwrap_or(usize::MAX))
    }
}

fn version_problem(info: &WorkerInfo, version: &str) -> Option<String> {
    (info.protocol != PROTOCOL)
        .then(|| format!("it has haft {}, which does not work together with haft {version}", info.version))
}

impl Executor for SshExecutor {
    fn capacity(&self) -> Capacity {
        let slots: usize = self.hosts.iter().map(Host::slots).sum();
        Capacity { running: self.limited(slots).max(1), ahead: self.limited(slots).max(1) }
    }

    fn submit(&mut self, attempt: ItemAttempt) {
        self.waiting.push_back(WaitingItem { attempt, losses: 0 });
        self.dispatch();
    }

    fn event(&self) -> BorrowedFd<'_> {
        self.events.descriptor()
    }

    fn next_deadline(&self) -> Option<Duration> {
        let due = self.hosts.iter().filter_map(Host::due).min()?;
        Some(due.saturating_duration_since(Instant::now()))
    }

    fn collect(&mut self) -> Vec<(ItemAttempt, ItemRecord)> {
        for event in self.events.take() {
            self.handle(event);
        }
        self.reconnect();
        self.dispatch();
        std::mem::take(&mut self.ended)
    }

    fn cancel(&mut self) {
        self.cancelled = true;
        for item in std::mem::take(&mut self.waiting) {
            let record = ItemRecord::not_run(item.attempt.index, "cancelled");
            self.ended.push((item.attempt, ItemRecord { status: CANCELLED, ..record }));
        }
        self.hosts.iter_mut().for_each(Host::cancel);
    }

    fn shut_down(&mut self) {
        self.hosts.iter_mut().for_each(Host::close);
        self.hosts.iter_mut().for_each(Host::wait);
    }

    fn running(&self) -> Option<usize> {
        Some(self.limited(self.hosts.iter().map(Host::running).sum()))
    }

    fn take_messages(&mut self) -> Vec<String> {
        std::mem::take(&mut self.messages)
    }

    fn failure(&self) -> Option<String> {
        self.hosts.iter().all(Host::is_given_up).then(|| "no host is left".to_owned())
    }
}

impl Drop for SshExecutor {
    fn drop(&mut self) {
        self.shut_down();
    }
}
