//! The terminal while a line is edited: raw, with its bytes read one at a time.

use std::io;
use std::os::fd::BorrowedFd;
use std::time::Duration;

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::termios::{
    InputModes, LocalModes, OptionalActions, SpecialCodeIndex, Termios, tcgetattr, tcgetwinsize, tcsetattr,
};

use super::keys::Byte;
use crate::repl::signals::Watch;

/// Where keys come from.
pub(crate) struct Input<'a> {
    pub(crate) terminal: BorrowedFd<'a>,
    /// What else may happen meanwhile.
    pub(crate) watch: &'a Watch,
}

impl Input<'_> {
    /// The next byte. `None` says that the time is over, or without a time, that something else has happened.
    pub(crate) fn byte(&self, timeout: Option<Duration>) -> io::Result<Option<Byte>> {
        let limit = timeout.and_then(|timeout| Timespec::try_from(timeout).ok());
        loop {
            let mut polled = [
                PollFd::new(&self.terminal, PollFlags::IN),
                PollFd::from_borrowed_fd(self.watch.bell.as_fd(), PollFlags::IN),
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
                self.watch.bell.answer();
                return Ok(None);
            }
        }
    }

    /// Whether more keys wait to be read.
    pub(crate) fn has_more(&self) -> bool {
        let mut polled = [PollFd::new(&self.terminal, PollFlags::IN)];
        let now = Timespec { tv_sec: 0, tv_nsec: 0 };
        poll(&mut polled, Some(&now)).is_ok_and(|ready| ready > 0)
    }

    fn take(&self) -> io::Result<Option<Byte>> {
        let mut byte = [0];
        loop {
            match rustix::io::read(self.terminal, &mut byte) {
                // A terminal that hung up reads as its end, or as an error.
                Ok(0) | Err(rustix::io::Errno::IO) => return Ok(Some(Byte::End)),
                Ok(_) => return Ok(Some(Byte::Is(byte[0]))),
                Err(rustix::io::Errno::INTR) => {}
                Err(error) => return Err(error.into()),
            }
        }
    }
}

/// Makes the terminal raw, and as it was again when dropped.
pub(crate) struct Raw<'a> {
    terminal: BorrowedFd<'a>,
    before: Termios,
}

impl<'a> Raw<'a> {
    pub(crate) fn enter(terminal: BorrowedFd<'a>) -> io::Result<Self> {
        let before = tcgetattr(terminal)?;
        let mut raw = before.clone();
        // Enter stays a newline, so that lines typed ahead are lines to the program that reads them.
        raw.input_modes &= !(InputModes::BRKINT | InputModes::INPCK | InputModes::ISTRIP | InputModes::IXON);
        raw.local_modes &= !(LocalModes::ECHO | LocalModes::ICANON | LocalModes::IEXTEN | LocalModes::ISIG);
        raw.special_codes[SpecialCodeIndex::VMIN] = 1;
        raw.special_codes[SpecialCodeIndex::VTIME] = 0;
        tcsetattr(terminal, OptionalActions::Drain, &raw)?;
        Ok(Self { terminal, before })
    }
}

impl Drop for Raw<'_> {
    fn drop(&mut self) {
        let _ = tcsetattr(self.terminal, OptionalActions::Drain, &self.before);
    }
}

/// Columns and rows of the window.
pub(crate) fn size(terminal: BorrowedFd<'_>) -> (usize, usize) {
    match tcgetwinsize(terminal) {
        Ok(size) if size.ws_col > 1 && size.ws_row > 0 => (size.ws_col.into(), size.ws_row.into()),
        _ => (80, 24),
    }
}

/// Writes all of a text; a terminal that takes no more is not our concern here.
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
