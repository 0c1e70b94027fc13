//! Lines from a terminal that cannot be edited on, or from no terminal at all.

use std::io;
use std::os::fd::BorrowedFd;

use rustix::event::{PollFd, PollFlags, poll};

use super::editor::{Assistant, Line, Prompts};
use super::signals::Watch;

/// Reads a text, line by line until it is complete. Not a byte is taken that belongs to what follows.
pub(crate) fn read(
    input: BorrowedFd<'_>,
    output: BorrowedFd<'_>,
    watch: &Watch,
    assistant: &dyn Assistant,
    prompts: Prompts<'_>,
) -> io::Result<Line> {
    let mut text = String::new();
    loop {
        let prompt = if text.is_empty() { prompts.first } else { prompts.next };
        let _ = rustix::io::write(output, prompt.as_bytes());
        let ended = match read_line(input, watch)? {
            Some(Ok(line)) => {
                text.push_str(&String::from_utf8_lossy(&line));
                !line.ends_with(b"\n")
            }
            Some(Err(happened)) => {
                // The terminal has shown "^C", if anything.
                let _ = rustix::io::write(output, b"\n");
                return Ok(happened);
            }
            None => return Ok(if text.is_empty() { Line::End } else { Line::Text(text) }),
        };
        let line = text.strip_suffix('\n').unwrap_or(&text);
        if ended || assistant.is_complete(line) {
            return Ok(Line::Text(line.to_owned()));
        }
    }
}

/// A line with its newline; `None` at the end, and what else may have happened.
fn read_line(input: BorrowedFd<'_>, watch: &Watch) -> io::Result<Option<Result<Vec<u8>, Line>>> {
    let mut line = Vec::new();
    let mut byte = [0];
    loop {
        let mut polled =
            [PollFd::new(&input, PollFlags::IN), PollFd::from_borrowed_fd(watch.bell.as_fd(), PollFlags::IN)];
        match poll(&mut polled, None) {
            Ok(_) | Err(rustix::io::Errno::INTR) => {}
            Err(error) => return Err(error.into()),
        }
        if !polled[1].revents().is_empty() {
            watch.bell.answer();
            if watch.is_gone() {
                return Ok(Some(Err(Line::Gone)));
            }
            if watch.take_interrupted() {
                return Ok(Some(Err(Line::Interrupted)));
            }
        }
        if polled[0].revents().is_empty() {
            continue;
        }
        match rustix::io::read(input, &mut byte) {
            Ok(0) => return Ok((!line.is_empty()).then_some(Ok(line))),
            Ok(_) => line.push(byte[0]),
            Err(rustix::io::Errno::INTR) => {}
            Err(rustix::io::Errno::IO) => return Ok(Some(Err(Line::Gone))),
            Err(error) => return Err(error.into()),
        }
        if byte[0] == b'\n' {
            return Ok(Some(Ok(line)));
        }
    }
}
