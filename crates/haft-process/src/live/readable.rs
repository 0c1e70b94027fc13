use std::io;

use super::LiveClient;
use crate::capture::{Growth, Output, OutputWindow, Recording};

/// An output that was stored, or that the process of its run still has.
#[derive(Clone, Debug)]
pub enum ReadableOutput {
    /// An output that was stored.
    Stored(Output),
    /// The output with this id, in another process.
    Live(LiveClient, String),
}

impl ReadableOutput {
    /// Returns up to `count` lines.
    ///
    /// # Errors
    /// If the file cannot be read, or the process does not have the output any more.
    pub fn window(&self, first: u64, count: u64) -> io::Result<OutputWindow> {
        match self {
            ReadableOutput::Stored(output) => output.window(first, count).map_err(io::Error::other),
            ReadableOutput::Live(client, id) => client.window(id, first, count),
        }
    }

    /// Returns up to `limit` bytes.
    ///
    /// # Errors
    /// If the file cannot be read, or the process does not have the output any more.
    pub fn read(&self, from: u64, limit: usize) -> io::Result<Growth> {
        match self {
            ReadableOutput::Stored(output) => output.read_since(from, limit).map_err(io::Error::other),
            ReadableOutput::Live(client, id) => client.read(id, from, limit),
        }
    }

    /// Returns when the bytes arrived, if the output is that of a terminal.
    ///
    /// # Errors
    /// If the process does not have the output any more.
    pub fn recording(&self) -> io::Result<Option<Recording>> {
        match self {
            ReadableOutput::Stored(output) => Ok(output.recording()),
            ReadableOutput::Live(client, id) => client.recording(id),
        }
    }
}
