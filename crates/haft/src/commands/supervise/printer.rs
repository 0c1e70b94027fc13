//! Showing output as it comes, within a limit.
//!
//! Half of the limit goes to the beginning, as it comes, and half to the end, once it is known what the end is. The rest
//! is counted, and a mark is shown in its place.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use haft_process::{CancelToken, StreamKind};

use super::sink::OutputSink;
use crate::failure::print_message;

/// What was shown of each stream, and what is kept for the end.
#[derive(Clone, Debug)]
pub(crate) struct OutputPrinter(Arc<Mutex<[StreamPrinter; 2]>>);

#[derive(Debug)]
struct StreamPrinter {
    name: &'static str,
    sink: OutputSink,
    head: u64,
    tail_limit: u64,
    tail: VecDeque<u8>,
    total: u64,
    limited: bool,
    /// Whether what was shown so far ends with a newline, or is nothing.
    ends_line: bool,
}

impl OutputPrinter {
    /// Nothing yet; the program may run for `timeout`, and until it is cancelled.
    pub(crate) fn new(limit: Option<u64>, timeout: Option<Duration>, cancel: &CancelToken) -> OutputPrinter {
        let part = |index, name| StreamPrinter {
            name,
            sink: OutputSink::new(index, timeout, cancel),
            head: limit.map_or(u64::MAX, |limit| limit - limit / 2),
            tail_limit: limit.map_or(0, |limit| limit / 2),
            tail: VecDeque::new(),
            total: 0,
            limited: limit.is_some(),
            ends_line: true,
        };
        OutputPrinter(Arc::new(Mutex::new([part(0, "output"), part(1, "error output")])))
    }

    /// Shows bytes of a stream, or keeps them for the end.
    pub(crate) fn take(&self, kind: StreamKind, bytes: &[u8]) {
        let mut parts = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let index = usize::from(kind == StreamKind::Stderr);
        parts[index].take(bytes);
    }

    /// Shows the end of each stream.
    pub(crate) fn finish(&self) {
        let mut parts = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        parts.iter_mut().for_each(StreamPrinter::finish);
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
            print_message(format_args!(
                "{left_out} of {} bytes of {} left out by --limit-output",
                self.total, self.name
            ));
            let end = if self.ends_line { "" } else { "\n" };
            self.sink.write(format!("{end}[… {left_out} bytes left out …]\n").as_bytes());
        }
        let (first, second) = self.tail.as_slices();
        self.sink.write(first);
        self.sink.write(second);
        let lost = self.sink.finish();
        if lost > 0 {
            print_message(format_args!("{lost} bytes of {} were not read by anybody", self.name));
        }
    }
}
