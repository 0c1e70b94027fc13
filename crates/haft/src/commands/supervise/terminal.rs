//! haft's own terminal, when its keys go to a program on another one.

use haft_process::TerminalSize;
use rustix::stdio::{stdin, stdout};
use rustix::termios::{OptionalActions, Termios, isatty, tcgetattr, tcgetwinsize, tcsetattr};

use crate::failure::Failure;

/// The size in a text such as `120x40`. For an empty text, the size of haft's terminal, or the default size.
///
/// # Errors
/// If the text is not a size.
pub(crate) fn size(text: &str) -> Result<TerminalSize, Failure> {
    if text.is_empty() {
        return Ok(own_size().unwrap_or_default());
    }
    let parsed =
        text.split_once('x').and_then(|(columns, rows)| Some((columns.parse().ok()?, rows.parse().ok()?)));
    let positive = parsed.filter(|&(columns, rows): &(u16, u16)| columns > 0 && rows > 0);
    positive
        .map(|(columns, rows)| TerminalSize { rows, columns })
        .ok_or_else(|| Failure::usage(format_args!("invalid terminal size '{text}' (expected 120x40)")))
}

/// The size of haft's terminal, if it has one.
pub(crate) fn own_size() -> Option<TerminalSize> {
    let own = tcgetwinsize(stdout()).or_else(|_| tcgetwinsize(stdin())).ok()?;
    (own.ws_row > 0 && own.ws_col > 0).then_some(TerminalSize { rows: own.ws_row, columns: own.ws_col })
}

/// Keeps haft's terminal in raw mode, so that every key reaches the program. Restores the settings when dropped.
#[derive(Debug)]
pub(crate) struct RawMode(Option<Termios>);

impl RawMode {
    /// Enters raw mode if `wanted` and standard input is a terminal.
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

    /// Whether the terminal is in raw mode.
    pub(crate) fn is_entered(&self) -> bool {
        self.0.is_some()
    }
}

impl Drop for RawMode {
    fn drop(&mut self) {
        if let Some(settings) = &self.0 {
            let _ = tcsetattr(stdin(), OptionalActions::Drain, settings);
        }
    }
}
