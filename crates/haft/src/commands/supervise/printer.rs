//! Prints output while it is written, within the limit of `--limit-output`.
//!
//! Half of the limit goes to the beginning of each stream, printed at once, and half to its end, printed when the program
//! has ended. A mark in between says how much was left out.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use haft_process::{CancelToken, StreamKind};

use super::sink::OutputSink;
use crate::failure::print_message;
use crate::units::count;

/// Prints standard output and standard error of a run.
#[derive(Clone, Debug)]
pub(crate) struct OutputPrinter(Arc<Mutex<[StreamPrinter; 2]>>);

/// Prints one stream: the first `head` bytes at once, the last `tail_limit` bytes at the end.
#[derive(Debug)]
struct StreamPrinter {
    name: &'static str,
    sink: OutputSink,
    head: u64,
    tail_limit: u64,
    tail: VecDeque<u8>,
    total: u64,
    limited: bool,
    /// Whether the printed text is empty or ends with a newline.
    ends_line: bool,
}

impl OutputPrinter {
    /// A printer for a run that ends after `timeout`, or when it is cancelled.
    pub(crate) fn new(limit: Option<u64>, timeout: Option<Duration>, cancel: &CancelToken) -> OutputPrinter {
        let stream = |index, name| StreamPrinter {
            name,
            sink: OutputSink::new(index, timeout, cancel),
            head: limit.map_or(u64::MAX, |limit| limit - limit / 2),
            tail_limit: limit.map_or(0, |limit| limit / 2),
            tail: VecDeque::new(),
            total: 0,
            limited: limit.is_some(),
            ends_line: true,
        };
        OutputPrinter(Arc::new(Mutex::new([stream(0, "output"), stream(1, "error output")])))
    }

    /// Prints bytes of a stream, or keeps them for the end.
    pub(crate) fn take(&self, kind: StreamKind, bytes: &[u8]) {
        let mut streams = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let index = usize::from(kind == StreamKind::Stderr);
        streams[index].take(bytes);
    }

    /// Prints the end of each stream.
    pub(crate) fn finish(&self) {
        let mut streams = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        streams.iter_mut().for_each(StreamPrinter::finish);
    }
}

impl StreamPrinter {
    fn take(&mut self, bytes: &[u8]) {
        let room = usize::try_from(self.head.saturating_sub(self.total)).unwrap_or(usize::MAX);
        let (now, later) = bytes.split_at(room.min(bytes.len()));
        self.total += bytes.len() as u64;
        self.sink.write(now);
        self.ends_line = now.last().map_or(self.ends_line, |byte| *byte == b'\n');
        let keep = later.len().min(usize::try_from(self.tail_limit).unwrap_or(usize::MAX));
        let later = &later[later.len() - keep..];
        let excess = (self.tail.len() + later.len())
            .saturating_sub(usize::try_from(self.tail_limit).unwrap_or(usize::MAX));
        self.tail.drain(..excess.min(self.tail.len()));
        self.tail.extend(later);
    }

    fn finish(&mut self) {
        let shown = self.head.min(self.total) + self.tail.len() as u64;
        if self.limited && shown < self.total {
            let left_out = self.total - shown;
            let (total, name) = (count(self.total, "byte"), self.name);
            print_message(format_args!("{left_out} of {total} of {name} left out by --limit-output"));
            let end = if self.ends_line { "" } else { "\n" };
            let mark = format!("{end}[… {} left out …]\n", count(left_out, "byte"));
            self.sink.write(mark.as_bytes());
        }
        let (first, second) = self.tail.as_slices();
        self.sink.write(first);
        self.sink.write(second);
        let lost = self.sink.finish();
        if lost > 0 {
            let lost = count(lost, "byte");
            print_message(format_args!("{lost} of {} lost: the reader did not read", self.name));
        }
    }
}
