//! Input and output of a job.

use std::os::fd::BorrowedFd;
use std::sync::Arc;
use std::time::{Duration, Instant};

use rustix::event::PollFlags;

use super::OutputCallback;
use super::input_writer::InputWriter;
use super::output_reader::{OutputReader, ReadProgress};
use super::poll_loop::PollSource;
use crate::command::DescriptorSource;

/// The descriptors through which a job's processes are fed and read.
#[derive(Debug, Default)]
pub(super) struct JobIo {
    input: Option<InputWriter>,
    outputs: Vec<OutputReader>,
    /// The slave side of the job's terminal. It stays open here until the foreground ends, because the terminal would
    /// hang up whenever no process has it open.
    slave: Option<DescriptorSource>,
    callback: Option<OutputCallback>,
    buffer: Vec<u8>,
    drain: Option<Drain>,
}

/// Time limits for reading output after the foreground has ended.
#[derive(Clone, Copy, Debug)]
struct Drain {
    /// When the output has been quiet long enough.
    quiet_at: Instant,
    /// When the drain ends even if the output is not quiet.
    ends_at: Instant,
}

impl Drain {
    /// The drain ends after this time without output.
    const QUIET_PERIOD: Duration = Duration::from_millis(100);
    /// The drain ends after this time in any case.
    const MAX_DURATION: Duration = Duration::from_millis(200);

    fn start(now: Instant) -> Drain {
        Drain { quiet_at: now + Drain::QUIET_PERIOD, ends_at: now + Drain::MAX_DURATION }
    }

    fn due(self) -> Instant {
        self.quiet_at.min(self.ends_at)
    }
}

impl JobIo {
    pub(super) fn new(
        input: Option<InputWriter>,
        outputs: Vec<OutputReader>,
        slave: Option<DescriptorSource>,
        callback: Option<OutputCallback>,
    ) -> JobIo {
        JobIo { input, outputs, slave, callback, buffer: Vec::new(), drain: None }
    }

    /// Calls `add` for every descriptor to poll.
    pub(super) fn poll_sources<'a>(&'a self, mut add: impl FnMut(BorrowedFd<'a>, PollFlags, PollSource)) {
        for (index, output) in self.outputs.iter().enumerate() {
            if let Some(source) = output.source() {
                add(source, PollFlags::IN, PollSource::Output(index));
            }
        }
        if let Some(target) = self.input.as_ref().and_then(|input| input.writable()) {
            add(target, PollFlags::OUT, PollSource::InputTarget);
        }
        if let Some(source) = self.input.as_ref().and_then(|input| input.readable()) {
            add(source, PollFlags::IN, PollSource::InputFile);
        }
    }

    /// Writes pending input.
    pub(super) fn write_input(&mut self) {
        self.input.iter_mut().for_each(|input| input.write());
    }

    /// Reads from the file that is forwarded as input.
    pub(super) fn read_input_file(&mut self) {
        self.input.iter_mut().for_each(|input| input.read());
    }

    /// Adds input, ends it if `close` is set, and writes as much as possible.
    pub(super) fn add_input(&mut self, bytes: impl IntoIterator<Item = Arc<[u8]>>, close: bool) {
        let Some(input) = &mut self.input else { return };
        bytes.into_iter().for_each(|bytes| input.push(bytes));
        if close {
            input.finish();
        }
        input.write();
    }

    /// Whether the job is on a terminal whose input has ended.
    pub(super) fn is_input_exhausted(&self) -> bool {
        self.input.as_ref().is_some_and(|input| input.is_exhausted())
    }

    /// Reads one output. Bytes extend the quiet period of the drain.
    pub(super) fn read_output(&mut self, index: usize) {
        let progress = self.outputs[index].read(&mut self.buffer, self.callback.as_mut());
        if let (ReadProgress::Bytes, Some(drain)) = (progress, &mut self.drain) {
            drain.quiet_at = Instant::now() + Drain::QUIET_PERIOD;
        }
    }

    /// Whether a process still has an output open.
    pub(super) fn has_open_output(&self) -> bool {
        self.outputs.iter().any(|output| output.source().is_some())
    }

    /// Whether all outputs have ended, or the drain has.
    pub(super) fn is_drained(&self) -> bool {
        !self.has_open_output() || self.drain.is_some_and(|drain| Instant::now() >= drain.due())
    }

    /// Closes the input and starts the drain, because the foreground has ended.
    pub(super) fn note_end(&mut self, now: Instant) {
        self.start_drain(now);
        self.slave = None;
        self.input.iter_mut().for_each(|input| input.close());
    }

    /// Starts the drain, or starts it again.
    pub(super) fn start_drain(&mut self, now: Instant) {
        self.drain = Some(Drain::start(now));
    }

    /// When the drain ends, if it has started.
    pub(super) fn drain_due(&self) -> Option<Instant> {
        self.drain.map(Drain::due)
    }

    /// Drops the callback, so that it is not called again.
    pub(super) fn drop_callback(&mut self) {
        self.callback = None;
    }

    /// Stops reading all outputs and finishes them.
    pub(super) fn end_outputs(&mut self) {
        for output in &mut self.outputs {
            output.end();
        }
    }

    /// Takes the outputs for an adopted job, without the input and the callback.
    pub(super) fn take_outputs(&mut self) -> JobIo {
        JobIo { outputs: std::mem::take(&mut self.outputs), ..JobIo::default() }
    }
}
