//! A host: its connection, and the items that it runs.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::{Duration, Instant};

use haft_process::Error;

use super::connection::{Connection, ConnectionEvent};
use super::{SshSettings, WaitingItem};
use crate::events::EventQueue;
use crate::hosts::HostSlots;
use crate::{ItemRecord, WorkerInfo, WorkerRequest, WorkerSetup, encode};

/// A host that has run no item since this many connections is given up.
const MAX_FAILURES: u32 = 4;
/// The pause before the first new connection. Each further one is four times as long.
const FIRST_PAUSE: Duration = Duration::from_millis(200);
/// How long a connection may take to end after its input was closed: the worker's own grace period and more.
const END_PATIENCE: Duration = Duration::from_secs(15);
/// Items that end within this time are sent ahead, so that a host does not wait for the next one.
const SHORT_ITEM: Duration = Duration::from_millis(250);

/// The state of a host.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum HostState {
    /// The connection is being made, or the worker is being set up.
    Starting,
    /// The worker takes items.
    Running,
    /// There will be another connection.
    Pausing(Instant),
    /// The host is not used any more.
    GivenUp,
}

/// A host.
#[derive(Debug)]
pub(super) struct Host {
    number: usize,
    slots: HostSlots,
    pub(super) state: HostState,
    connection: Option<Connection>,
    generation: u32,
    /// Connections in a row that ended before any item did.
    failures: u32,
    /// The number of processors, once it is known.
    processors: Option<usize>,
    /// The name that the machine has for itself.
    node: String,
    items: BTreeMap<u64, WaitingItem>,
    /// The average time of recent items.
    average: Option<Duration>,
    /// The reason why the host is given up when the connection has ended.
    refusal: Option<String>,
}

impl Host {
    pub(super) fn new(number: usize, slots: HostSlots) -> Self {
        Self {
            number,
            node: slots.name.clone(),
            slots,
            state: HostState::Starting,
            connection: None,
            generation: 0,
            failures: 0,
            processors: None,
            items: BTreeMap::new(),
            average: None,
            refusal: None,
        }
    }

    pub(super) fn name(&self) -> &str {
        &self.slots.name
    }

    /// Connects.
    pub(super) fn connect(
        &mut self,
        settings: &SshSettings,
        events: &Arc<EventQueue<ConnectionEvent>>,
    ) -> Result<(), Error> {
        self.generation += 1;
        self.state = HostState::Starting;
        let origin = (self.number, self.generation);
        self.connection = Some(Connection::open(settings, &self.slots.name, origin, events)?);
        Ok(())
    }

    /// Whether an event comes from the current connection.
    pub(super) fn is_current(&self, generation: u32) -> bool {
        self.connection.is_some() && self.generation == generation
    }

    /// Sends the stages to the worker.
    pub(super) fn set_up(&mut self, setup: &WorkerSetup, info: WorkerInfo) {
        self.node = info.node;
        self.processors = Some(info.processors);
        let setup = WorkerSetup { slots: self.slots(), ..setup.clone() };
        self.request(&WorkerRequest::Setup(Box::new(setup)));
    }

    /// Copies haft to the host, if that is allowed and the host can run it.
    pub(super) fn bootstrap(&mut self, settings: &SshSettings, system: &str) {
        let own = own_system();
        let program = settings.bootstrap.as_ref();
        let size = program.and_then(|path| std::fs::metadata(path).ok()).map(|found| found.len());
        match (program, size, &self.connection) {
            (None, ..) => {
                self.refuse(format!(
                    "haft {} was not found there; '--bootstrap' copies it",
                    settings.version
                ));
            }
            (Some(_), ..) if system != own => {
                self.refuse(format!(
                    "haft was not found there, and the copy for {own} does not run on {system}"
                ));
            }
            (Some(path), Some(size), Some(connection)) => {
                connection.send(format!("{size}\n").into_bytes());
                connection.send_file(path.clone());
            }
            (Some(path), ..) => self.refuse(format!("cannot read '{}'", path.display())),
        }
    }

    /// Gives the host up, for a reason.
    pub(super) fn refuse(&mut self, reason: String) {
        self.refusal.get_or_insert(reason);
        match &mut self.connection {
            Some(connection) => connection.close(),
            None => self.state = HostState::GivenUp,
        }
    }

    /// Handles a line that is not a message. Start-up files of the shell there may print something before the worker starts.
    pub(super) fn handle_noise(&mut self, line: &str) {
        if self.state == HostState::Running {
            let shown: String = line.chars().take(80).collect();
            self.refuse(format!("the worker sent '{shown}'"));
        }
    }

    /// Handles the end of the connection. Returns the items that were lost, and the reason.
    pub(super) fn end(&mut self) -> (Vec<WaitingItem>, String) {
        let reason =
            self.connection.take().map(|connection| connection.finish(END_PATIENCE)).unwrap_or_default();
        self.failures += 1;
        let never_worked = self.processors.is_none();
        let is_given_up = self.refusal.is_some() || never_worked || self.failures >= MAX_FAILURES;
        let pause = FIRST_PAUSE * 4u32.pow(self.failures.min(MAX_FAILURES));
        self.state =
            if is_given_up { HostState::GivenUp } else { HostState::Pausing(Instant::now() + pause) };
        let lost = std::mem::take(&mut self.items).into_values().collect();
        (lost, self.refusal.clone().unwrap_or(reason))
    }

    /// Removes a finished item; returns it with its record. `None` if the host does not have the item.
    pub(super) fn finish(&mut self, record: ItemRecord) -> Option<(WaitingItem, ItemRecord)> {
        let item = self.items.remove(&record.index)?;
        self.failures = 0;
        let average = self.average.map_or(record.duration, |average| (average * 7 + record.duration) / 8);
        self.average = Some(average);
        let node = Some(self.node.clone());
        Some((item, ItemRecord { node, ..record }))
    }

    pub(super) fn send(&mut self, item: WaitingItem) {
        self.request(&WorkerRequest::Item(item.attempt.clone()));
        self.items.insert(item.attempt.index, item);
    }

    fn request(&self, request: &WorkerRequest) {
        if let Some(connection) = &self.connection {
            connection.send(encode(request));
        }
    }

    /// Cancels the items that run.
    pub(super) fn cancel(&mut self) {
        self.request(&WorkerRequest::Cancel);
    }

    /// Ends the worker: at once if it has items, which are cancelled then.
    pub(super) fn close(&mut self) {
        if self.items.is_empty() && self.state == HostState::Running {
            self.request(&WorkerRequest::End);
        }
        if let Some(connection) = &mut self.connection {
            connection.close();
        }
    }

    /// Waits until the connection has ended.
    pub(super) fn wait(&mut self) {
        if let Some(connection) = self.connection.take() {
            connection.finish(END_PATIENCE);
        }
    }

    /// The number of items that it runs at a time: one until the number of processors is known.
    pub(super) fn slots(&self) -> usize {
        match self.state {
            HostState::GivenUp => 0,
            _ => self.slots.slots.or(self.processors).unwrap_or(1).max(1),
        }
    }

    /// The number of items to send beyond those that run.
    pub(super) fn ahead(&self) -> usize {
        match self.average {
            Some(average) if average < SHORT_ITEM && self.state == HostState::Running => self.slots(),
            _ => 0,
        }
    }

    /// How many items it takes now.
    pub(super) fn room(&self) -> usize {
        match self.state {
            HostState::Running => (self.slots() + self.ahead()).saturating_sub(self.items.len()),
            _ => 0,
        }
    }

    pub(super) fn in_flight(&self) -> usize {
        self.items.len()
    }

    /// The number of items that run.
    pub(super) fn running(&self) -> usize {
        self.items.len().min(self.slots())
    }

    /// When to connect again.
    pub(super) fn due(&self) -> Option<Instant> {
        match self.state {
            HostState::Pausing(until) => Some(until),
            _ => None,
        }
    }

    pub(super) fn is_due(&self) -> bool {
        self.due().is_some_and(|due| due <= Instant::now())
    }

    pub(super) fn is_given_up(&self) -> bool {
        self.state == HostState::GivenUp
    }
}

/// The operating system and processor of this machine, as `uname -sm` prints them.
fn own_system() -> String {
    let names = rustix::system::uname();
    format!("{} {}", names.sysname().to_string_lossy(), names.machine().to_string_lossy())
}
