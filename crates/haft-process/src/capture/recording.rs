use std::time::Instant;

use serde::{Deserialize, Serialize};

use crate::pty::TerminalSize;

/// Bytes that arrive within this time, in microseconds, are one event.
const MIN_INTERVAL: u64 = 2_000;
/// Maximum number of events. Beyond it, the interval is doubled until half of them are left.
const MAX_EVENTS: usize = 50_000;
/// Maximum number of changes of the size. Later ones are not recorded.
const MAX_RESIZES: usize = 5_000;

/// When the bytes of an output arrived, and the sizes of the terminal that they were written for.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Recording {
    /// The size at the beginning.
    pub size: TerminalSize,
    /// The events in order.
    pub events: Vec<RecordedEvent>,
}

/// An event on a recorded terminal.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct RecordedEvent {
    /// Time since the beginning, in microseconds.
    pub time: u64,
    /// The change.
    pub change: TerminalChange,
}

/// A change of a recorded terminal.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum TerminalChange {
    /// The output grew to this number of bytes.
    Output(u64),
    /// The terminal got another size.
    Resize(TerminalSize),
}

impl RecordedEvent {
    /// Adds a later event that happened within an interval. Returns whether that was possible.
    fn absorb(&mut self, next: &RecordedEvent, interval: u64) -> bool {
        match (&mut self.change, next.change) {
            (TerminalChange::Output(end), TerminalChange::Output(total)) => {
                let is_soon = next.time < self.time.saturating_add(interval);
                if is_soon {
                    *end = total;
                }
                is_soon
            }
            (TerminalChange::Resize(size), TerminalChange::Resize(later)) => {
                *size = later;
                true
            }
            _ => false,
        }
    }
}

/// Makes a [`Recording`].
#[derive(Debug)]
pub(super) struct Recorder {
    begun: Instant,
    recording: Recording,
    /// The current size of the terminal.
    size: TerminalSize,
    resizes: usize,
    interval: u64,
}

impl Recorder {
    pub(super) fn new(size: TerminalSize) -> Recorder {
        let recording = Recording { size, events: Vec::new() };
        Recorder { begun: Instant::now(), recording, size, resizes: 0, interval: MIN_INTERVAL }
    }

    /// Records that the output grew to this number of bytes.
    pub(super) fn grow(&mut self, total: u64) {
        self.add(self.elapsed(), TerminalChange::Output(total));
    }

    /// Records that the terminal got this size.
    pub(super) fn resize(&mut self, size: TerminalSize) {
        if size == self.size || self.resizes >= MAX_RESIZES {
            return;
        }
        (self.size, self.resizes) = (size, self.resizes + 1);
        self.add(self.elapsed(), TerminalChange::Resize(size));
    }

    /// Makes the recorder of an output that is complete.
    pub(super) fn restore(recording: Recording) -> Recorder {
        Recorder { recording, ..Recorder::new(TerminalSize::default()) }
    }

    pub(super) fn recording(&self) -> Recording {
        self.recording.clone()
    }

    fn elapsed(&self) -> u64 {
        u64::try_from(self.begun.elapsed().as_micros()).unwrap_or(u64::MAX)
    }

    fn add(&mut self, time: u64, change: TerminalChange) {
        let event = RecordedEvent { time, change };
        let events = &mut self.recording.events;
        if events.last_mut().is_some_and(|last| last.absorb(&event, self.interval)) {
            return;
        }
        events.push(event);
        if events.len() > MAX_EVENTS {
            self.thin();
        }
    }

    /// Joins events until half of the maximum is left. In the end, there is one event between two changes of the size.
    fn thin(&mut self) {
        let events = &mut self.recording.events;
        while events.len() > MAX_EVENTS / 2 && self.interval < u64::MAX {
            self.interval = self.interval.saturating_mul(2);
            events.dedup_by(|next, last| last.absorb(next, self.interval));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SIZE: TerminalSize = TerminalSize { rows: 24, columns: 80 };

    fn wider(columns: u16) -> TerminalChange {
        TerminalChange::Resize(TerminalSize { columns, ..SIZE })
    }

    #[test]
    fn bytes_that_arrive_together_are_one_event() {
        let mut recorder = Recorder::new(SIZE);
        for (time, total) in [(0, 3), (1_999, 5), (2_000, 6), (9_000, 7)] {
            recorder.add(time, TerminalChange::Output(total));
        }
        let events: Vec<_> =
            recorder.recording().events.into_iter().map(|event| (event.time, event.change)).collect();
        let expected = [(0, 5), (2_000, 6), (9_000, 7)];
        assert_eq!(events, expected.map(|(time, total)| (time, TerminalChange::Output(total))));
    }

    #[test]
    fn only_changes_of_the_size_are_recorded() {
        let mut recorder = Recorder::new(SIZE);
        recorder.resize(SIZE);
        recorder.resize(TerminalSize { columns: 90, ..SIZE });
        recorder.resize(TerminalSize { columns: 90, ..SIZE });
        let changes: Vec<_> = recorder.recording().events.iter().map(|event| event.change).collect();
        assert_eq!(changes, [wider(90)]);
    }

    #[test]
    fn long_recordings_get_coarser_but_lose_no_bytes_and_no_sizes() {
        let mut recorder = Recorder::new(SIZE);
        for number in 0..200_000 {
            recorder.add(number * 5_000, TerminalChange::Output(number + 1));
            if number == 100_000 {
                recorder.add(number * 5_000, wider(90));
            }
        }
        let events = recorder.recording().events;
        assert!(events.len() <= MAX_EVENTS, "{}", events.len());
        assert!(events.len() >= MAX_EVENTS / 8, "{}", events.len());
        assert_eq!(events.last().map(|event| event.change), Some(TerminalChange::Output(200_000)));
        let place = events.iter().position(|event| event.change == wider(90)).expect("the size is there");
        assert_eq!(events[place - 1].change, TerminalChange::Output(100_001));
    }

    #[test]
    fn a_terminal_that_always_changes_its_size_is_bounded() {
        let mut recorder = Recorder::new(SIZE);
        for number in 0..3 * MAX_RESIZES as u64 {
            recorder.add(number * 10_000, TerminalChange::Output(number + 1));
            recorder.resize(TerminalSize { columns: 80 + (number % 2) as u16, ..SIZE });
        }
        assert!(recorder.recording().events.len() <= MAX_EVENTS);
    }
}
