//! Plays a recorded output on the terminal.

use std::io::{self, Write as _};
use std::os::fd::BorrowedFd;
use std::time::{Duration, Instant};

use haft_process::CancelToken;
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::stdio::{stdin, stdout};
use rustix::termios::{QueueSelector, isatty, tcflush};

use super::modes::TerminalModes;
use super::{Playback, PlaybackStep};
use crate::commands::supervise::terminal::{RawMode, own_size};
use crate::failure::{Failure, print_message};
use crate::host::SignalHandler;
use crate::units::count;

/// How long the terminal may take to answer to the last bytes.
const ANSWER_TIME: Duration = Duration::from_millis(50);
const CTRL_C: u8 = 3;
const BELL: u8 = 7;
const ESCAPE: u8 = 27;

/// Writes the output to standard output at its speed, until its end or until the user ends it.
pub(super) fn play(playback: &Playback, speed: f64) -> Result<io::Result<()>, Failure> {
    let signals = SignalHandler::start()?;
    let is_shown = isatty(stdout());
    if is_shown {
        explain_size(playback);
    }
    let raw = RawMode::enter(is_shown);
    let mut player = Player {
        clock: PlaybackClock::new(speed, Instant::now()),
        cancel: signals.cancel,
        has_keys: raw.is_entered(),
        modes: TerminalModes::default(),
    };
    let played = playback.each(|pause, step| player.step(pause, step));
    let ended = if is_shown { player.end() } else { Ok(()) };
    drop(raw);
    Ok(played.and(ended))
}

/// Prints that the terminal is too small for the recording.
fn explain_size(playback: &Playback) {
    let recorded = playback.recording.size;
    if let Some(own) = own_size()
        && (own.columns < recorded.columns || own.rows < recorded.rows)
    {
        let (columns, rows) = (count(recorded.columns, "column"), count(recorded.rows, "row"));
        print_message(format_args!("the recording needs a terminal with {columns} and {rows}"));
    }
}

struct Player {
    clock: PlaybackClock,
    cancel: CancelToken,
    /// Whether keys can be read.
    has_keys: bool,
    modes: TerminalModes,
}

impl Player {
    /// Writes the bytes of a step when they are due. Returns false if the user has ended the playback.
    fn step(&mut self, pause: Duration, step: PlaybackStep<'_>) -> io::Result<bool> {
        self.clock.add(pause);
        if !self.wait()? {
            return Ok(false);
        }
        // The size of the user's own terminal stays.
        if let PlaybackStep::Bytes(bytes) = step {
            self.modes.push(bytes);
            let mut stdout = io::stdout().lock();
            stdout.write_all(bytes)?;
            stdout.flush()?;
        }
        Ok(true)
    }

    /// Waits until the next step is due, and handles keys. Returns false if the user has ended the playback.
    fn wait(&mut self) -> io::Result<bool> {
        while !self.cancel.is_cancelled() {
            if self.is_key_ready(self.clock.left(Instant::now()))? && !self.take_keys()? {
                return Ok(false);
            }
            if self.clock.left(Instant::now()) == Some(Duration::ZERO) {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// Waits for a key, a signal or the end of the time. Returns whether there is a key.
    fn is_key_ready(&self, left: Option<Duration>) -> io::Result<bool> {
        let limit = left.map(|left| Timespec {
            tv_sec: left.as_secs().min(3600) as i64,
            tv_nsec: left.subsec_nanos().into(),
        });
        let cancelled = self.cancel.descriptor().map_err(io::Error::other)?;
        let mut set = vec![PollFd::from_borrowed_fd(cancelled, PollFlags::IN)];
        let keys: BorrowedFd<'_> = stdin();
        if self.has_keys {
            set.push(PollFd::from_borrowed_fd(keys, PollFlags::IN));
        }
        match poll(&mut set, limit.as_ref()) {
            Ok(_) | Err(rustix::io::Errno::INTR) => {}
            Err(error) => return Err(error.into()),
        }
        Ok(set.get(1).is_some_and(|keys| !keys.revents().is_empty()))
    }

    /// Handles the keys that were typed. Other input, such as answers of the terminal, is dropped. Returns false if the
    /// playback ends.
    fn take_keys(&mut self) -> io::Result<bool> {
        let mut typed = [0; 256];
        match rustix::io::read(stdin(), &mut typed)? {
            0 => self.has_keys = false,
            count => {
                for key in without_answers(&typed[..count]) {
                    match key {
                        b' ' => self.clock.toggle(Instant::now()),
                        b'q' | CTRL_C => return Ok(false),
                        _ => {}
                    }
                }
            }
        }
        Ok(true)
    }

    /// Brings the terminal back to its defaults.
    fn end(&self) -> io::Result<()> {
        let mut stdout = io::stdout().lock();
        stdout.write_all(self.modes.reset().as_bytes())?;
        stdout.flush()?;
        if self.has_keys {
            // The output may have asked the terminal for something, and the shell must not get the answer.
            std::thread::sleep(ANSWER_TIME);
            tcflush(stdin(), QueueSelector::IFlush)?;
        }
        Ok(())
    }
}

/// Removes escape sequences, such as answers of the terminal, from what was typed.
fn without_answers(typed: &[u8]) -> Vec<u8> {
    let mut keys = Vec::new();
    let mut rest = typed;
    while let [first, tail @ ..] = rest {
        let skipped = match (*first, tail) {
            (ESCAPE, [b'[', parameters @ ..]) => {
                let end = parameters.iter().position(|byte| (0x40..0x7f).contains(byte));
                end.map_or(tail.len(), |end| end + 2)
            }
            (ESCAPE, [b'P' | b']' | b'_', text @ ..]) => {
                let end = text.iter().position(|byte| matches!(*byte, BELL | ESCAPE));
                end.map_or(tail.len(), |end| end + 1 + usize::from(text[end] == BELL))
            }
            (ESCAPE, _) => tail.len().min(1),
            (key, _) => {
                keys.push(key);
                0
            }
        };
        rest = &tail[skipped..];
    }
    keys
}

/// Says when a step is due. Deadlines instead of pauses, so that the time of writing does not add up.
struct PlaybackClock {
    speed: f64,
    begun: Instant,
    due: Duration,
    paused: Option<Instant>,
}

impl PlaybackClock {
    fn new(speed: f64, begun: Instant) -> PlaybackClock {
        PlaybackClock { speed, begun, due: Duration::ZERO, paused: None }
    }

    /// Makes the next step due after a recorded pause.
    fn add(&mut self, pause: Duration) {
        let pause = Duration::try_from_secs_f64(pause.as_secs_f64() / self.speed).unwrap_or(Duration::MAX);
        self.due = self.due.saturating_add(pause);
    }

    /// Returns the time until the next step; `None` while the playback is paused.
    fn left(&self, now: Instant) -> Option<Duration> {
        match self.paused {
            Some(_) => None,
            None => Some(self.due.saturating_sub(now - self.begun)),
        }
    }

    /// Pauses or continues.
    fn toggle(&mut self, now: Instant) {
        match self.paused.take() {
            None => self.paused = Some(now),
            Some(paused) => self.begun += now - paused,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn answers_of_the_terminal_are_no_keys() {
        assert_eq!(without_answers(b" \x1b[1;6Rq\x1b[?62;c"), b" q");
        assert_eq!(without_answers(b"\x1b]11;rgb:0/0/0\x07a\x1bP1$r q\x1b\\b\x1bOAc"), b"abAc");
        assert_eq!(without_answers(b"a\x1b"), b"a");
        assert_eq!(without_answers(b"\x1b[12"), b"");
    }

    #[test]
    fn a_paused_playback_continues_where_it_was() {
        let (begun, second) = (Instant::now(), Duration::from_secs(1));
        let mut clock = PlaybackClock::new(2.0, begun);
        clock.add(10 * second);
        assert_eq!(clock.left(begun + second), Some(4 * second));
        clock.toggle(begun + second);
        assert_eq!(clock.left(begun + 100 * second), None);
        clock.toggle(begun + 100 * second);
        assert_eq!(clock.left(begun + 101 * second), Some(3 * second));
        clock.add(2 * second);
        assert_eq!(clock.left(begun + 200 * second), Some(Duration::ZERO));
    }
}
