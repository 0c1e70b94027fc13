//! Reads lines without an editor: from a dumb terminal, a pipe or a file.

use std::io;
use std::os::fd::BorrowedFd;

use rustix::event::{PollFd, PollFlags, poll};

use super::editor::{Assistant, EditResult, Prompts};
use super::signals::TerminalEvents;

/// Reads lines until the text is complete. It reads no byte beyond that.
pub(crate) fn read(
    input: BorrowedFd<'_>,
    output: BorrowedFd<'_>,
    events: &TerminalEvents,
    assistant: &dyn Assistant,
    prompts: Prompts<'_>,
) -> io::Result<EditResult> {
    let mut text = String::new();
    loop {
        let prompt = if text.is_empty() { prompts.first } else { prompts.next };
        let _ = rustix::io::write(output, prompt.as_bytes());
        let ended = match read_line(input, events)? {
            Some(Ok(line)) => {
                text.push_str(&String::from_utf8_lossy(&line));
                !line.ends_with(b"\n")
            }
            Some(Err(event)) => {
                // The cursor is after the "^C" that the terminal has echoed.
                let _ = rustix::io::write(output, b"\n");
                return Ok(event);
            }
            None => return Ok(if text.is_empty() { EditResult::End } else { EditResult::Text(text) }),
        };
        let line = text.strip_suffix('\n').unwrap_or(&text);
        if ended || assistant.is_complete(line) {
            return Ok(EditResult::Text(line.to_owned()));
        }
    }
}

/// Reads a line with its newline; `None` at the end of input. An event interrupts it.
fn read_line(
    input: BorrowedFd<'_>,
    events: &TerminalEvents,
) -> io::Result<Option<Result<Vec<u8>, EditResult>>> {
    let mut line = Vec::new();
    let mut byte = [0];
    loop {
        let mut polled = [
            PollFd::new(&input, PollFlags::IN),
            PollFd::from_borrowed_fd(events.waker.as_fd(), PollFlags::IN),
        ];
        match poll(&mut polled, None) {
            Ok(_) | Err(rustix::io::Errno::INTR) => {}
            Err(error) => return Err(error.into()),
        }
        if !polled[1].revents().is_empty() {
            events.waker.clear();
            if events.is_hung_up() {
                return Ok(Some(Err(EditResult::Gone)));
            }
            if events.take_interrupted() {
                return Ok(Some(Err(EditResult::Interrupted)));
            }
        }
        if polled[0].revents().is_empty() {
            continue;
        }
        match rustix::io::read(input, &mut byte) {
            Ok(0) => return Ok((!line.is_empty()).then_some(Ok(line))),
            Ok(_) => line.push(byte[0]),
            Err(rustix::io::Errno::INTR) => {}
            Err(rustix::io::Errno::IO) => return Ok(Some(Err(EditResult::Gone))),
            Err(error) => return Err(error.into()),
        }
        if byte[0] == b'\n' {
            return Ok(Some(Ok(line)));
        }
    }
}
