//! `printf`.

use std::time::{SystemTime, UNIX_EPOCH};

use haft_text::Bytes;
use haft_text::encoding::Encoding;
use haft_text::printf::time_zone::LocalZone;
use haft_text::printf::{LocalTime, PrintfHost, PrintfTime, print};

use super::{Context, options};
use crate::flow::Flow;
use crate::session::Session;

pub(super) fn run(context: &mut Context<'_>, arguments: &[Bytes]) -> Flow {
    let (flags, operands) = match options::parse(context, arguments, "v:") {
        Ok(parsed) => parsed,
        Err(end) => return end,
    };
    let Some((format, rest)) = operands.split_first() else { return context.synopsis() };
    let mut printed = print(format, rest, &mut SessionHost { session: context.session_mut(), zone: None });
    context.check()?;
    for message in &printed.errors {
        context.error(String::from_utf8_lossy(message));
    }
    let mut status = printed.status;
    for (name, count) in printed.counts {
        status |= assign(context, &name, count.to_string().into());
    }
    match flags.last() {
        Some(flag) if !is_assignable(flag.text()) => {
            let shown = Bytes::from(flag.text());
            context.error(format_args!("`{shown}': not a valid identifier"));
            return Ok(2);
        }
        // A value cannot contain NUL bytes.
        Some(flag) => {
            let end = memchr::memchr(0, &printed.output).unwrap_or(printed.output.len());
            printed.output.truncate(end);
            status |= assign(context, flag.text(), printed.output.into());
        }
        None => {
            status |= context.print(&printed.output)?;
        }
    }
    Ok(status)
}

fn is_assignable(name: &[u8]) -> bool {
    crate::variables::is_name(name) || crate::session::split_reference(name).is_some()
}

fn assign(context: &mut Context<'_>, name: &[u8], value: Bytes) -> i32 {
    match context.session_mut().assign_reference(name, value) {
        Ok(()) => 0,
        Err(error) => {
            context.error(error);
            1
        }
    }
}

/// Gives `printf` the time, encoding and limits of a session.
struct SessionHost<'a> {
    session: &'a Session,
    zone: Option<LocalZone>,
}

impl PrintfHost for SessionHost<'_> {
    fn local_time(&mut self, time: PrintfTime) -> LocalTime {
        let now = SystemTime::now();
        let seconds = |time: SystemTime| {
            time.duration_since(UNIX_EPOCH).map_or(0, |elapsed| i64::try_from(elapsed.as_secs()).unwrap_or(0))
        };
        let epoch = match time {
            PrintfTime::Now => seconds(now),
            PrintfTime::Start => seconds(now.checked_sub(self.session.clock.elapsed()).unwrap_or(now)),
            PrintfTime::At(epoch) => epoch,
        };
        let session = self.session;
        let zone = self.zone.get_or_insert_with(|| session.time_zone());
        zone.local_time(epoch)
    }

    fn encoding(&self) -> Encoding {
        self.session.encoding()
    }

    fn decimal_point(&self) -> &'static [u8] {
        self.session.decimal_point()
    }

    fn is_cancelled(&mut self) -> bool {
        self.session.is_stopping() || self.session.check().is_err()
    }

    fn reserve(&mut self, bytes: usize) -> bool {
        self.session.memory.note_growth(bytes);
        self.session.reserve_memory("the output of printf", bytes).is_ok()
    }
}
