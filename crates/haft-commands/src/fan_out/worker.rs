//! A worker: runs items that a submitter on another machine sends.
//!
//! The worker's script is the pipeline `__items | STAGES | __records`. `__items` reads requests from standard input and runs the
//! stages as a local fan-out does; its records go to standard output.

use std::os::fd::BorrowedFd;
use std::time::Duration;

use haft_kernel::builtins::Context;
use haft_kernel::io::{OpenFile, Ready};
use haft_kernel::{Bytes, Command, FanOut, Flow, Role, TextAtLine, Transfer, Unwind};
use haft_scale::{Executor, WorkerReply, WorkerRequest, WorkerSetup, encode};

use super::local::LocalExecutor;
use crate::status::USAGE_ERROR;

/// The command that opens the pipeline of a worker.
pub(super) const ITEMS: &str = "__items";
/// The command that closes it.
pub(super) const RECORDS: &str = "__records";

/// The exit status of a worker whose submitter has gone.
const CUT: i32 = 1;
/// How much of the input is read at a time.
const READ_CHUNK_BYTES: usize = 64 * 1024;

/// The command `__items` of a worker.
#[derive(Debug)]
pub struct WorkerItems {
    variable: Bytes,
    slots: usize,
    timeout: Option<Duration>,
}

/// The command `__records` of a worker.
#[derive(Debug)]
pub struct WorkerRecords;

/// The session that a worker must recreate.
#[must_use]
pub fn transfer_of(setup: &WorkerSetup) -> Transfer {
    let part =
        |(line, text): &(u32, haft_scale::WireBytes)| TextAtLine { line: *line, text: (**text).into() };
    Transfer {
        name: (*setup.name).into(),
        arguments: setup.arguments.iter().map(|argument| (**argument).into()).collect(),
        is_command_string: setup.is_command_string,
        directory: (*setup.directory).into(),
        status: setup.status,
        commands: setup.commands.iter().map(part).collect(),
        pipeline: part(&setup.pipeline),
    }
}

impl WorkerItems {
    /// The command for this setup.
    #[must_use]
    pub fn new(setup: &WorkerSetup) -> Self {
        Self { variable: setup.variable.as_str().into(), slots: setup.slots.max(1), timeout: setup.timeout }
    }
}

impl Command for WorkerItems {
    fn name(&self) -> &str {
        ITEMS
    }

    fn run(&self, _: &mut Context<'_>, _: &[Bytes]) -> Flow {
        Ok(USAGE_ERROR)
    }

    fn role(&self) -> Role {
        Role::Opens(RECORDS)
    }

    fn fan_out(&self, context: &mut Context<'_>, fan_out: &FanOut<'_>) -> Flow {
        let Some(input) = &fan_out.input else { return Ok(CUT) };
        let Ok(executor) = LocalExecutor::new(fan_out, &self.variable, self.slots, self.timeout) else {
            return Ok(CUT);
        };
        let mut serving = Serving {
            executor,
            requests: RequestReader { input, buffer: Vec::new() },
            active: 0,
            ended: false,
        };
        let result = serving.run(context);
        serving.executor.shut_down();
        result
    }
}

impl Command for WorkerRecords {
    fn name(&self) -> &str {
        RECORDS
    }

    fn run(&self, _: &mut Context<'_>, _: &[Bytes]) -> Flow {
        Ok(USAGE_ERROR)
    }

    fn role(&self) -> Role {
        Role::Closes(ITEMS)
    }
}

/// A worker that serves a submitter.
struct Serving<'a> {
    executor: LocalExecutor<'a>,
    requests: RequestReader<'a>,
    active: usize,
    /// Whether there are no more requests.
    ended: bool,
}

impl Serving<'_> {
    fn run(&mut self, context: &mut Context<'_>) -> Flow {
        context.print(&encode(&WorkerReply::Started))?;
        while !(self.ended && self.active == 0) {
            context.flush();
            if self.wait(context)? && !self.read(context)? {
                return Ok(CUT);
            }
            for (attempt, mut record) in self.executor.collect() {
                self.active -= 1;
                record.attempts = attempt.number;
                context.print(&encode(&WorkerReply::Record(record)))?;
            }
        }
        context.flush();
        Ok(0)
    }

    /// Waits for a request or a record. Returns whether requests can be read.
    fn wait(&self, context: &mut Context<'_>) -> Result<bool, Unwind> {
        let input = self.requests.input.descriptor().filter(|_| !self.ended);
        let mut descriptors: Vec<BorrowedFd<'_>> = input.into_iter().collect();
        descriptors.push(self.executor.event());
        let ready = context.session().wait_at_most(&descriptors, self.executor.next_deadline())?;
        Ok(input.is_some() && ready == Ready::Descriptor(0))
    }

    /// Reads and carries out requests. Returns false if the submitter has gone or sends something else.
    fn read(&mut self, context: &mut Context<'_>) -> Result<bool, Unwind> {
        let Some(requests) = self.requests.read() else {
            context.check()?;
            return Ok(self.ended);
        };
        for request in requests {
            match request {
                WorkerRequest::Item(attempt) => {
                    self.active += 1;
                    self.executor.submit(attempt);
                }
                WorkerRequest::Cancel => self.executor.cancel(),
                WorkerRequest::End => self.ended = true,
                WorkerRequest::Setup(_) => return Ok(false),
            }
        }
        Ok(true)
    }
}

/// Reads requests from a file.
struct RequestReader<'a> {
    input: &'a OpenFile,
    buffer: Vec<u8>,
}

impl RequestReader<'_> {
    /// Reads once. Returns the complete requests, or `None` at the end of the input or after an error.
    fn read(&mut self) -> Option<Vec<WorkerRequest>> {
        let before = self.buffer.len();
        self.buffer.resize(before + READ_CHUNK_BYTES, 0);
        let descriptor = self.input.descriptor()?;
        let length = rustix::io::read(descriptor, &mut self.buffer[before..]).ok();
        self.buffer.truncate(before + length.unwrap_or(0));
        if length.is_none_or(|length| length == 0) {
            return None;
        }
        let end = memchr::memrchr(b'\n', &self.buffer).map_or(0, |end| end + 1);
        let lines: Vec<u8> = self.buffer.drain(..end).collect();
        let lines = lines.split(|byte| *byte == b'\n').filter(|line| !line.is_empty());
        lines.map(|line| serde_json::from_slice(line).ok()).collect()
    }
}
