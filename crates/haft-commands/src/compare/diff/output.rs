//! The formats of differences.

use super::hunks::{LineChange, hunks};
use super::{DiffSettings, DiffStyle};
use crate::text::streams::{Stop, TextRun};

/// The lines of both files, and what the headers show of them.
pub(super) struct DiffText<'a> {
    pub(super) lines: [&'a [&'a [u8]]; 2],
    pub(super) headers: [Vec<u8>; 2],
}

/// Writes changes. Returns whether there was anything to write.
pub(super) fn write(
    run: &mut TextRun<'_, '_>,
    text: &DiffText<'_>,
    changes: &[LineChange],
    settings: &DiffSettings,
) -> Result<bool, Stop> {
    let context = if settings.style == DiffStyle::Normal { 0 } else { settings.context };
    let hunks = hunks(changes, context);
    if hunks.is_empty() {
        return Ok(false);
    }
    match settings.style {
        DiffStyle::Normal => {
            for change in hunks.into_iter().flatten().filter(|change| !change.is_ignored) {
                normal(run, text, change)?;
            }
        }
        DiffStyle::Unified => {
            run.write(&[b"--- ", text.headers[0].as_slice(), b"\n+++ ", &text.headers[1], b"\n"].concat())?;
            for hunk in hunks {
                unified(run, text, hunk, context)?;
            }
        }
        DiffStyle::Context => {
            run.write(&[b"*** ", text.headers[0].as_slice(), b"\n--- ", &text.headers[1], b"\n"].concat())?;
            for hunk in hunks {
                context_hunk(run, text, hunk, context)?;
            }
        }
    }
    Ok(true)
}

fn write_lines(run: &mut TextRun<'_, '_>, prefix: &[u8], lines: &[&[u8]]) -> Result<(), Stop> {
    for line in lines {
        run.write(prefix)?;
        run.write(line)?;
        if !line.ends_with(b"\n") {
            run.write(b"\n\\ No newline at end of file\n")?;
        }
    }
    Ok(())
}

/// A range of line numbers: the last line only if there are several.
fn range(start: usize, count: usize) -> String {
    match count {
        0 => start.to_string(),
        1 => (start + 1).to_string(),
        _ => format!("{},{}", start + 1, start + count),
    }
}

fn normal(run: &mut TextRun<'_, '_>, text: &DiffText<'_>, change: &LineChange) -> Result<(), Stop> {
    let letter = match (change.deleted, change.inserted) {
        (0, _) => 'a',
        (_, 0) => 'd',
        _ => 'c',
    };
    let (old, new) = (range(change.first, change.deleted), range(change.second, change.inserted));
    run.write(format!("{old}{letter}{new}\n").as_bytes())?;
    write_lines(run, b"< ", &text.lines[0][change.first..change.first + change.deleted])?;
    if letter == 'c' {
        run.write(b"---\n")?;
    }
    write_lines(run, b"> ", &text.lines[1][change.second..change.second + change.inserted])
}

/// The first line and the line after the last of a hunk with its context, in both files.
fn extent(text: &DiffText<'_>, hunk: &[LineChange], context: usize) -> [(usize, usize); 2] {
    let (Some(first), Some(last)) = (hunk.first(), hunk.last()) else { return [(0, 0); 2] };
    let end = |at: usize, file: usize| at.saturating_add(context).min(text.lines[file].len());
    [
        (first.first.saturating_sub(context), end(last.first + last.deleted, 0)),
        (first.second.saturating_sub(context), end(last.second + last.inserted, 1)),
    ]
}

fn unified(
    run: &mut TextRun<'_, '_>,
    text: &DiffText<'_>,
    hunk: &[LineChange],
    context: usize,
) -> Result<(), Stop> {
    let [old, new] = extent(text, hunk, context);
    let shown = |(start, end): (usize, usize)| match end - start {
        0 => format!("{start},0"),
        1 => format!("{}", start + 1),
        count => format!("{},{count}", start + 1),
    };
    run.write(format!("@@ -{} +{} @@\n", shown(old), shown(new)).as_bytes())?;
    let mut at = old.0;
    for change in hunk {
        write_lines(run, b" ", &text.lines[0][at..change.first])?;
        at = change.first + change.deleted;
        write_lines(run, b"-", &text.lines[0][change.first..at])?;
        write_lines(run, b"+", &text.lines[1][change.second..change.second + change.inserted])?;
    }
    write_lines(run, b" ", &text.lines[0][at..old.1])
}

fn context_hunk(
    run: &mut TextRun<'_, '_>,
    text: &DiffText<'_>,
    hunk: &[LineChange],
    context: usize,
) -> Result<(), Stop> {
    let [old, new] = extent(text, hunk, context);
    run.write(format!("***************\n*** {} ****\n", range(old.0, old.1 - old.0)).as_bytes())?;
    if hunk.iter().any(|change| change.deleted > 0) {
        let mut at = old.0;
        for change in hunk {
            write_lines(run, b"  ", &text.lines[0][at..change.first])?;
            at = change.first + change.deleted;
            let prefix: &[u8] = if change.inserted > 0 { b"! " } else { b"- " };
            write_lines(run, prefix, &text.lines[0][change.first..at])?;
        }
        write_lines(run, b"  ", &text.lines[0][at..old.1])?;
    }
    run.write(format!("--- {} ----\n", range(new.0, new.1 - new.0)).as_bytes())?;
    if hunk.iter().any(|change| change.inserted > 0) {
        let mut at = new.0;
        for change in hunk {
            write_lines(run, b"  ", &text.lines[1][at..change.second])?;
            at = change.second + change.inserted;
            let prefix: &[u8] = if change.deleted > 0 { b"! " } else { b"+ " };
            write_lines(run, prefix, &text.lines[1][change.second..at])?;
        }
        write_lines(run, b"  ", &text.lines[1][at..new.1])?;
    }
    Ok(())
}
