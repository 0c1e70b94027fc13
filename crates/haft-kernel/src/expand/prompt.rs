//! Prompt expansion: `PS1`, `PS4` and other prompts, `${name@P}`.

use std::time::{SystemTime, UNIX_EPOCH};

use haft_text::Bytes;
use haft_text::printf::strftime;

use crate::flow::Unwind;
use crate::options::ShellOption;
use crate::session::{HostIdentity, Session};

/// The stack that a nested prompt expansion takes, in the units of [`Session::nested`].
const PROMPT_STACK_UNITS: u32 = 25;

impl Session {
    /// Expands a prompt: its backslash escapes, then parameters, commands and arithmetic as in double quotes.
    ///
    /// # Errors
    /// An unwind of a command in the prompt, or cancellation.
    pub fn prompt(&mut self, text: &[u8]) -> Result<Bytes, Unwind> {
        let decoded = self.prompt_escapes(text);
        if !self.options.shell(ShellOption::PromptVariables) {
            return Ok(decoded.into());
        }
        // A prompt can contain itself: `x='${x@P}'`.
        let mut expanded = Ok(Bytes::new());
        self.nested(PROMPT_STACK_UNITS, |session| {
            expanded = session.expand_text(&decoded);
            Ok(0)
        })?;
        expanded
    }

    fn prompt_escapes(&self, text: &[u8]) -> Vec<u8> {
        let mut result = Vec::with_capacity(text.len());
        let mut rest = text;
        while let Some((&byte, after)) = rest.split_first() {
            rest = after;
            if byte != b'\\' {
                result.push(byte);
                continue;
            }
            let Some((&escape, after)) = rest.split_first() else {
                result.push(b'\\');
                break;
            };
            rest = after;
            if matches!(escape, b'0'..=b'7') {
                let (value, used) = octal(escape, rest);
                result.push(value);
                rest = &rest[used..];
            } else if let (b'D', Some((format, after))) = (escape, braced(rest)) {
                let format = if format.is_empty() { b"%H:%M:%S" } else { format };
                result.extend(self.clock(format));
                rest = after;
            } else {
                self.prompt_escape(escape, &mut result);
            }
        }
        result
    }

    fn prompt_escape(&self, escape: u8, result: &mut Vec<u8>) {
        match escape {
            b'a' => result.push(7),
            b'e' => result.push(27),
            b'n' => result.push(b'\n'),
            b'r' => result.push(b'\r'),
            b'[' | b']' => {}
            b'\\' => result.push(b'\\'),
            b'$' => result.push(if HostIdentity::of(&self.kernel).effective_user == 0 { b'#' } else { b'$' }),
            b'u' => result.extend_from_slice(&self.user_name().unwrap_or_else(|| "I have no name!".into())),
            b'h' => {
                let host = self.value(b"HOSTNAME").unwrap_or_default();
                let end = memchr::memchr(b'.', &host).unwrap_or(host.len());
                result.extend_from_slice(&host[..end]);
            }
            b'H' => result.extend_from_slice(&self.value(b"HOSTNAME").unwrap_or_default()),
            b'w' => result.extend(self.short_directory()),
            b'W' => result.extend(self.base_directory()),
            b's' => {
                result.extend_from_slice(
                    self.parameters.zero().rsplit(|byte| *byte == b'/').next().unwrap_or_default(),
                );
            }
            b'v' => result.extend_from_slice(b"5.2"),
            b'V' => result.extend_from_slice(b"5.2.15"),
            b'j' => result.extend_from_slice(self.jobs.iter().count().to_string().as_bytes()),
            b'l' => result.extend(self.terminal_name()),
            b'!' => {
                let number = self.interactive.history_number().unwrap_or_else(|| self.history_number());
                result.extend_from_slice(number.to_string().as_bytes());
            }
            b'#' => result.extend_from_slice(self.interactive.command_number().to_string().as_bytes()),
            b't' => result.extend(self.clock(b"%H:%M:%S")),
            b'T' => result.extend(self.clock(b"%I:%M:%S")),
            b'@' => result.extend(self.clock(b"%I:%M %p")),
            b'A' => result.extend(self.clock(b"%H:%M")),
            b'd' => result.extend(self.clock(b"%a %b %d")),
            _ => result.extend_from_slice(&[b'\\', escape]),
        }
    }

    /// The base name of the terminal that is standard input; `tty` if there is none.
    fn terminal_name(&self) -> Vec<u8> {
        let input = self.open_files.get(0).filter(|file| file.descriptor().is_some());
        let path = input.and_then(|file| rustix::termios::ttyname(file.descriptor()?, Vec::new()).ok());
        let name = path.as_ref().and_then(|path| path.to_bytes().rsplit(|byte| *byte == b'/').next());
        name.map_or_else(|| b"tty".to_vec(), <[u8]>::to_vec)
    }

    /// Formats the current time in the time zone of the session.
    fn clock(&self, format: &[u8]) -> Vec<u8> {
        let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default().as_secs();
        let time = self.time_zone().local_time(i64::try_from(now).unwrap_or(0));
        strftime::format(format, &time)
    }

    fn short_directory(&self) -> Vec<u8> {
        match self.value(b"HOME") {
            Some(home) if !home.is_empty() && self.working_directory.path().starts_with(&home) => {
                let rest = &self.working_directory.path()[home.len()..];
                if rest.is_empty() || rest.starts_with(b"/") {
                    return [b"~", rest].concat();
                }
                self.working_directory.path().to_vec()
            }
            _ => self.working_directory.path().to_vec(),
        }
    }

    fn base_directory(&self) -> Vec<u8> {
        let short = self.short_directory();
        match short.rsplit(|byte| *byte == b'/').next() {
            Some(base) if !base.is_empty() => base.to_vec(),
            _ => short,
        }
    }
}

fn octal(first: u8, rest: &[u8]) -> (u8, usize) {
    let more = rest.iter().take(2).take_while(|byte| matches!(byte, b'0'..=b'7')).count();
    let value =
        rest[..more].iter().fold(u32::from(first - b'0'), |value, byte| value * 8 + u32::from(byte - b'0'));
    (u8::try_from(value & 0xff).unwrap_or(0), more)
}

/// Splits `{…}` off the beginning of a text. Returns the text in the braces, and the rest. Unclosed braces extend to the end.
fn braced(text: &[u8]) -> Option<(&[u8], &[u8])> {
    let inner = text.strip_prefix(b"{")?;
    let end = memchr::memchr(b'}', inner).unwrap_or(inner.len());
    Some((&inner[..end], inner.get(end + 1..).unwrap_or_default()))
}
