//! Items and their records.

use std::time::{Duration, SystemTime};

use serde::{Deserialize, Serialize};

use crate::WireBytes;

/// The exit status of an item that could not be started.
const CANNOT_EXECUTE: i32 = 126;

/// One attempt to run an item.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ItemAttempt<I = WireBytes> {
    /// The position of the item in the input, from 0.
    pub index: u64,
    /// The item.
    pub item: I,
    /// The number of this attempt, from 1.
    pub number: u64,
}

/// The result of one attempt at an item, with its output.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ItemRecord {
    /// The position of the item in the input, from 0.
    pub index: u64,
    /// The item. A worker leaves it out, because the submitter knows it.
    #[serde(default, skip_serializing_if = "WireBytes::is_blank")]
    pub item: WireBytes,
    /// The number of attempts so far.
    pub attempts: u64,
    /// The exit status, as `$?` would show it.
    pub status: i32,
    /// Its standard output.
    pub stdout: WireBytes,
    /// Its standard error.
    pub stderr: WireBytes,
    /// When it started.
    pub started: SystemTime,
    /// How long it took.
    pub duration: Duration,
    /// How it ended, if not by itself.
    #[serde(default, skip_serializing_if = "ItemEnd::is_ordinary")]
    pub end: ItemEnd,
    /// The machine that it ran on. `None` for this one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub node: Option<String>,
    /// The batch job that it ran in.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub job: Option<String>,
}

/// How an item ended.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ItemEnd {
    /// By itself.
    #[default]
    Ordinary,
    /// Its timeout expired.
    TimedOut,
    /// Ctrl-C ended it.
    Interrupted,
}

impl ItemEnd {
    fn is_ordinary(&self) -> bool {
        *self == ItemEnd::Ordinary
    }
}

impl ItemRecord {
    /// The record of an item that did not run, with a message as its standard error.
    #[must_use]
    pub fn not_run(index: u64, message: &str) -> Self {
        Self {
            index,
            item: WireBytes::default(),
            attempts: 0,
            status: CANNOT_EXECUTE,
            stdout: WireBytes::default(),
            stderr: format!("{message}\n").into_bytes().into(),
            started: SystemTime::now(),
            duration: Duration::ZERO,
            end: ItemEnd::Ordinary,
            node: None,
            job: None,
        }
    }
}
