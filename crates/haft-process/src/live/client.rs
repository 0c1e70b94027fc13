//! The side of a process that looks at the runs of another one.

use std::io::{self, BufRead as _, BufReader, Read as _, Write as _};
use std::os::unix::net::UnixStream;
use std::time::Duration;

use rustix::process::Pid;

use super::messages::{LiveReply, LiveRequest, LiveStatus};
use super::{address, peer};
use crate::capture::{Growth, OutputWindow, Recording};

/// How long a reply may take.
const REPLY_TIMEOUT: Duration = Duration::from_secs(5);

/// A process with live runs. Each request uses a connection of its own.
#[derive(Clone, Copy, Debug)]
pub struct LiveClient {
    pid: i32,
    started: u64,
}

impl LiveClient {
    /// A client of the process with this pid and start time, in clock ticks since boot.
    #[must_use]
    pub fn new(pid: i32, started: u64) -> LiveClient {
        LiveClient { pid, started }
    }

    /// The state of a run.
    ///
    /// # Errors
    /// If the process cannot be asked, or does not know the run.
    pub fn status(&self, run: &str) -> io::Result<LiveStatus> {
        match self.ask(&LiveRequest::Status { run: run.to_owned() })?.reply()? {
            LiveReply::Status(status) => Ok(status),
            _ => Err(unexpected()),
        }
    }

    /// Calls `changed` with the state of a run each time its output has grown, and at least twice a second, until the
    /// run has ended or `changed` returns false.
    ///
    /// # Errors
    /// If the process cannot be asked, or does not know the run.
    pub fn follow(&self, run: &str, mut changed: impl FnMut(LiveStatus) -> bool) -> io::Result<()> {
        let mut connection = self.ask(&LiveRequest::Follow { run: run.to_owned() })?;
        connection.stream.get_ref().set_read_timeout(None)?;
        loop {
            match connection.reply() {
                Ok(LiveReply::Status(status)) => {
                    let running = status.running;
                    if !changed(status) || !running {
                        return Ok(());
                    }
                }
                // The process has ended, perhaps before it could tell.
                Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => return Ok(()),
                Err(error) => return Err(error),
                Ok(_) => return Err(unexpected()),
            }
        }
    }

    /// Up to `count` lines of an output.
    ///
    /// # Errors
    /// If the process cannot be asked, or does not have the output.
    pub fn window(&self, output: &str, first: u64, count: u64) -> io::Result<OutputWindow> {
        let request = LiveRequest::Window { output: output.to_owned(), first, count };
        match self.ask(&request)?.reply()? {
            LiveReply::Window(window) => Ok(window),
            _ => Err(unexpected()),
        }
    }

    /// Up to `limit` bytes of an output.
    ///
    /// # Errors
    /// If the process cannot be asked, or does not have the output.
    pub fn read(&self, output: &str, from: u64, limit: usize) -> io::Result<Growth> {
        let mut connection = self.ask(&LiveRequest::Read { output: output.to_owned(), from, limit })?;
        let LiveReply::Bytes { length, next, lost, finished } = connection.reply()? else {
            return Err(unexpected());
        };
        let mut bytes = vec![0; length];
        connection.stream.read_exact(&mut bytes)?;
        Ok(Growth { start: next - length as u64, bytes, next, lost, finished })
    }

    /// Returns when the bytes of an output arrived, if it is that of a terminal.
    ///
    /// # Errors
    /// If the process cannot be asked, or does not have the output.
    pub fn recording(&self, output: &str) -> io::Result<Option<Recording>> {
        match self.ask(&LiveRequest::Recording { output: output.to_owned() })?.reply()? {
            LiveReply::Recording(recording) => Ok(recording),
            _ => Err(unexpected()),
        }
    }

    /// Ends a run with all its processes. Returns at once.
    ///
    /// # Errors
    /// If the process cannot be asked, or the run has ended.
    pub fn kill(&self, run: &str) -> io::Result<()> {
        self.ask(&LiveRequest::Kill { run: run.to_owned() })?.reply().map(drop)
    }

    /// Types text on the terminal of a run.
    ///
    /// # Errors
    /// If the process cannot be asked, or the run has no terminal of its own.
    pub fn input(&self, run: &str, text: &str) -> io::Result<()> {
        self.ask(&LiveRequest::Input { run: run.to_owned(), text: text.to_owned() })?.reply().map(drop)
    }

    fn ask(&self, request: &LiveRequest) -> io::Result<LiveConnection> {
        let mut stream = UnixStream::connect_addr(&address(self.pid, self.started)?)?;
        if Pid::as_raw(Some(peer(&stream)?.pid)) != self.pid {
            return Err(io::Error::new(
                io::ErrorKind::PermissionDenied,
                "another process has taken the address",
            ));
        }
        stream.set_read_timeout(Some(REPLY_TIMEOUT))?;
        stream.set_write_timeout(Some(REPLY_TIMEOUT))?;
        let mut line = serde_json::to_vec(request)?;
        line.push(b'\n');
        stream.write_all(&line)?;
        Ok(LiveConnection { stream: BufReader::new(stream) })
    }
}

/// A connection with a request.
struct LiveConnection {
    stream: BufReader<UnixStream>,
}

impl LiveConnection {
    fn reply(&mut self) -> io::Result<LiveReply> {
        let mut line = String::new();
        if self.stream.read_line(&mut line)? == 0 {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
        match serde_json::from_str(&line)? {
            LiveReply::Error(message) => Err(io::Error::other(message)),
            reply => Ok(reply),
        }
    }
}

fn unexpected() -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, "unexpected reply")
}
