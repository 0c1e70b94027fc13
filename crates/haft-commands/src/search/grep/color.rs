//! Colours of `grep`.

use crate::text::streams::{Stop, TextRun};

/// Matches.
pub(super) const MATCH: &str = "01;31";
/// Names of files.
pub(super) const NAME: &str = "35";
/// Numbers of lines, and offsets.
pub(super) const NUMBER: &str = "32";
/// Separators.
pub(super) const SEPARATOR: &str = "36";

/// The end of a coloured part.
const END: &[u8] = b"\x1b[m\x1b[K";

/// A part in a colour.
pub(super) fn painted(text: &[u8], color: &str) -> Vec<u8> {
    [format!("\x1b[{color}m\x1b[K").as_bytes(), text, END].concat()
}

/// Whether `--color` with this value asks for colours.
pub(super) fn is_wanted(run: &mut TextRun<'_, '_>, when: &[u8]) -> Result<bool, Stop> {
    let wanted = match when {
        b"always" | b"yes" | b"force" => true,
        b"never" | b"no" | b"none" => false,
        b"" | b"auto" | b"tty" | b"if-tty" => is_color_terminal(run),
        _ => {
            let shown = run.quote(when);
            return run.usage(format_args!("invalid argument {shown} for '--color'"));
        }
    };
    let is_set = |name: &[u8]| run.context.value(name).is_some_and(|value| !value.is_empty());
    if wanted && (is_set(b"GREP_COLORS") || is_set(b"GREP_COLOR")) {
        return run.fail("--color: GREP_COLORS is not supported");
    }
    Ok(wanted)
}

fn is_color_terminal(run: &TextRun<'_, '_>) -> bool {
    let terminal = run.context.value(b"TERM").unwrap_or_default();
    let is_terminal = run.context.file(1).is_some_and(|file| file.is_terminal());
    is_terminal && !terminal.is_empty() && terminal != "dumb"
}
