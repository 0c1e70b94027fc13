//! The terminal during editing: raw mode, single bytes, output.

use std::cell::{Cell, RefCell};
use std::collections::VecDeque;
use std::io;
use std::os::fd::BorrowedFd;
use std::time::Duration;

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::termios::{
    InputModes, LocalModes, OptionalActions, SpecialCodeIndex, Termios, tcgetattr, tcgetwinsize, tcsetattr,
};

use super::keys::Byte;
use crate::repl::signals::TerminalEvents;

/// The source of key bytes.
pub(crate) struct KeyInput<'a> {
    pub(crate) terminal: BorrowedFd<'a>,
    /// Events that interrupt the wait for a byte.
    pub(crate) events: &'a TerminalEvents,
    /// Bytes that are read again before new ones.
    pending: RefCell<VecDeque<u8>>,
    /// How many macros were replayed since the last typed byte.
    macros: Cell<usize>,
}

impl<'a> KeyInput<'a> {
    pub(crate) fn new(terminal: BorrowedFd<'a>, events: &'a TerminalEvents) -> Self {
        Self { terminal, events, pending: RefCell::default(), macros: Cell::new(0) }
    }

    /// Reads these bytes before all others.
    pub(super) fn push_back(&self, bytes: &[u8]) {
        let mut pending = self.pending.borrow_mut();
        bytes.iter().rev().for_each(|byte| pending.push_front(*byte));
    }

    /// Forgets the bytes that were to be read again.
    pub(super) fn drop_pending(&self) {
        self.pending.borrow_mut().clear();
    }

    /// Counts a macro. Returns the number of macros since the last typed byte.
    pub(super) fn count_macro(&self) -> usize {
        self.macros.set(self.macros.get() + 1);
        self.macros.get()
    }
}

impl KeyInput<'_> {
    /// Reads the next byte. Returns `None` after the timeout; without a timeout, at another event.
    pub(crate) fn byte(&self, timeout: Option<Duration>) -> io::Result<Option<Byte>> {
        if let Some(byte) = self.pending.borrow_mut().pop_front() {
            return Ok(Some(Byte::Is(byte)));
        }
        let limit = timeout.and_then(|timeout| Timespec::try_from(timeout).ok());
        loop {
            let mut polled = [
                PollFd::new(&self.terminal, PollFlags::IN),
                PollFd::from_borrowed_fd(self.events.waker.as_fd(), PollFlags::IN),
            ];
            match poll(&mut polled, limit.as_ref()) {
                Ok(0) => return Ok(None),
                Ok(_) => {}
                Err(rustix::io::Errno::INTR) => continue,
                Err(error) => return Err(error.into()),
            }
            if !polled[0].revents().is_empty() {
                return self.take();
            }
            if timeout.is_none() {
                self.events.waker.clear();
                return Ok(None);
            }
        }
    }

    /// Whether more input is pending.
    pub(crate) fn has_more(&self) -> bool {
        if !self.pending.borrow().is_empty() {
            return true;
        }
        let mut polled = [PollFd::new(&self.terminal, PollFlags::IN)];
        let now = Timespec { tv_sec: 0, tv_nsec: 0 };
        poll(&mut polled, Some(&now)).is_ok_and(|ready| ready > 0)
    }

    fn take(&self) -> io::Result<Option<Byte>> {
        self.macros.set(0);
        let mut byte = [0];
        loop {
            match rustix::io::read(self.terminal, &mut byte) {
                // A terminal that has hung up reads as end of file or EIO.
                Ok(0) | Err(rustix::io::Errno::IO) => return Ok(Some(Byte::End)),
                Ok(_) => return Ok(Some(Byte::Is(byte[0]))),
                Err(rustix::io::Errno::INTR) => {}
                Err(error) => return Err(error.into()),
            }
        }
    }
}

/// Keeps the terminal in raw mode. Restores the settings when dropped.
pub(crate) struct RawTerminal<'a> {
    terminal: BorrowedFd<'a>,
    before: Termios,
    raw: Termios,
}

impl<'a> RawTerminal<'a> {
    pub(crate) fn enter(terminal: BorrowedFd<'a>) -> io::Result<Self> {
        let before = tcgetattr(terminal)?;
        let mut raw = before.clone();
        // ICRNL stays set: a program that reads input typed ahead sees lines.
        raw.input_modes &= !(InputModes::BRKINT | InputModes::INPCK | InputModes::ISTRIP | InputModes::IXON);
        raw.local_modes &= !(LocalModes::ECHO | LocalModes::ICANON | LocalModes::IEXTEN | LocalModes::ISIG);
        raw.special_codes[SpecialCodeIndex::VMIN] = 1;
        raw.special_codes[SpecialCodeIndex::VTIME] = 0;
        tcsetattr(terminal, OptionalActions::Drain, &raw)?;
        Ok(Self { terminal, before, raw })
    }

    /// Runs something while Ctrl-C sends a signal; other keys stay raw.
    pub(crate) fn with_signals<T>(&self, run: impl FnOnce() -> T) -> T {
        let mut settings = self.raw.clone();
        settings.local_modes |= LocalModes::ISIG;
        let _ = tcsetattr(self.terminal, OptionalActions::Now, &settings);
        let result = run();
        let _ = tcsetattr(self.terminal, OptionalActions::Now, &self.raw);
        result
    }

    /// Runs something with the settings from before.
    pub(crate) fn suspended<T>(&self, run: impl FnOnce() -> T) -> T {
        let _ = tcsetattr(self.terminal, OptionalActions::Drain, &self.before);
        let result = run();
        let _ = tcsetattr(self.terminal, OptionalActions::Drain, &self.raw);
        result
    }
}

impl Drop for RawTerminal<'_> {
    fn drop(&mut self) {
        let _ = tcsetattr(self.terminal, OptionalActions::Drain, &self.before);
    }
}

/// The columns and rows of the window.
pub(crate) fn size(terminal: BorrowedFd<'_>) -> (usize, usize) {
    match tcgetwinsize(terminal) {
        Ok(size) if size.ws_col > 1 && size.ws_row > 0 => (size.ws_col.into(), size.ws_row.into()),
        _ => (80, 24),
    }
}

/// Writes a text; errors are ignored.
pub(crate) fn write(terminal: BorrowedFd<'_>, text: &str) {
    let mut rest = text.as_bytes();
    while !rest.is_empty() {
        match rustix::io::write(terminal, rest) {
            Ok(0) => return,
            Ok(count) => rest = &rest[count..],
            Err(rustix::io::Errno::INTR) => {}
            Err(rustix::io::Errno::AGAIN) => {
                let mut polled = [PollFd::new(&terminal, PollFlags::OUT)];
                let _ = poll(&mut polled, None);
            }
            Err(_) => return,
        }
    }
}
