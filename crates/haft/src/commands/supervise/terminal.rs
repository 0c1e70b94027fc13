//! Our own terminal, when a program on one of its own is typed to through it.

use haft_process::TerminalSize;
use rustix::stdio::{stdin, stdout};
use rustix::termios::{OptionalActions, Termios, isatty, tcgetattr, tcgetwinsize, tcsetattr};

use crate::failure::Failure;

/// The size that was asked for, as `COLUMNSxROWS`; else that of our own terminal; else the usual one.
pub(crate) fn size(text: &str) -> Result<TerminalSize, Failure> {
    if !text.is_empty() {
        let parsed = text
            .split_once('x')
            .and_then(|(columns, rows)| Some((columns.parse().ok()?, rows.parse().ok()?)));
        let positive = parsed.filter(|&(columns, rows): &(u16, u16)| columns > 0 && rows > 0);
        return positive.map(|(columns, rows)| TerminalSize { rows, columns }).ok_or_else(|| {
            Failure::usage(format_args!("'{text}' is no terminal size; write it like 120x40"))
        });
    }
    Ok(own_size().unwrap_or_default())
}

/// The size of our own terminal, if we are on one.
pub(crate) fn own_size() -> Option<TerminalSize> {
    let own = tcgetwinsize(stdout()).or_else(|_| tcgetwinsize(stdin())).ok()?;
    (own.ws_row > 0 && own.ws_col > 0).then_some(TerminalSize { rows: own.ws_row, columns: own.ws_col })
}

/// Our terminal in raw mode, so that every key reaches the program; set back when dropped.
#[derive(Debug)]
pub(crate) struct RawMode(Option<Termios>);

impl RawMode {
    pub(crate) fn enter(wanted: bool) -> RawMode {
        if !wanted || !isatty(stdin()) {
            return RawMode(None);
        }
        let Ok(settings) = tcgetattr(stdin()) else { return RawMode(None) };
        let mut raw = settings.clone();
        raw.make_raw();
        let _ = tcsetattr(stdin(), OptionalActions::Drain, &raw);
        RawMode(Some(settings))
    }
}

impl Drop for RawMode {
    fn drop(&mut self) {
        if let Some(settings) = &self.0 {
            let _ = tcsetattr(stdin(), OptionalActions::Drain, settings);
        }
    }
}
