//! The messages between a submitter and a worker: one JSON value per line in both directions.
//!
//! The worker speaks first: `ready`. The submitter answers with `setup`, and the worker with `started` or `refused`. Items and
//! records follow in any order. At `end` the worker finishes its items and exits. If its input ends without `end`, the connection
//! was cut: the worker cancels everything and exits.

use std::time::Duration;

use serde::{Deserialize, Serialize};

use crate::{ItemAttempt, ItemRecord, WireBytes};

/// The version of the protocol.
pub const PROTOCOL: u32 = 1;

/// A message to a worker.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum WorkerRequest {
    /// The stages and their session.
    Setup(Box<WorkerSetup>),
    /// An item to run.
    Item(ItemAttempt),
    /// Cancel all items.
    Cancel,
    /// There are no more items.
    End,
}

/// A message from a worker.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum WorkerReply {
    /// The worker runs.
    Ready(WorkerInfo),
    /// haft is not on the machine; the value is the output of `uname -sm`.
    Missing(String),
    /// The worker takes items.
    Started,
    /// The worker cannot run the stages, for this reason.
    Refused(String),
    /// An item has ended.
    Record(ItemRecord),
}

/// The greeting of a worker.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct WorkerInfo {
    /// The version of haft.
    pub version: String,
    /// The version of the protocol.
    pub protocol: u32,
    /// The name of the machine.
    pub node: String,
    /// The number of processors.
    pub processors: usize,
}

/// The stages of a fan-out, and the session they run in.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct WorkerSetup {
    /// The variable that holds the item.
    pub variable: String,
    /// The number of items to run at a time.
    pub slots: usize,
    /// The time limit of each item.
    pub timeout: Option<Duration>,
    /// The working directory.
    pub directory: WireBytes,
    /// `$0`.
    pub name: WireBytes,
    /// The positional parameters.
    pub arguments: Vec<WireBytes>,
    /// Whether the program is the text after `-c`.
    pub is_command_string: bool,
    /// `$?`.
    pub status: i32,
    /// Commands that recreate the session, each with the number of its first line.
    pub commands: Vec<(u32, WireBytes)>,
    /// The stages between the commands of the worker, with the number of their first line.
    pub pipeline: (u32, WireBytes),
}

/// A message as a line.
///
/// # Panics
/// Never: messages have no map with keys that are not strings.
#[must_use]
pub fn encode(message: &impl Serialize) -> Vec<u8> {
    let mut line = serde_json::to_vec(message).unwrap_or_default();
    line.push(b'\n');
    line
}
