//! Finds the lines of two sorted files that have the same key.

use std::cmp::Ordering;

use super::super::streams::{Stop, TextInput, TextRun};
use super::fields::{FieldLayout, JoinFormat, JoinLine};

/// Whether the order of lines is checked.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum OrderCheck {
    /// Only after a line without a partner.
    Default,
    Always,
    Never,
}

/// One of the two files.
pub(super) struct Side {
    input: TextInput,
    /// Lines with the same key, and perhaps one after them.
    lines: Vec<JoinLine>,
    /// The last line that was read, for the check of the order.
    previous: Option<JoinLine>,
    number: u64,
    /// A line was not in order, which was reported.
    is_unsorted: bool,
}

impl Side {
    pub(super) fn new(input: TextInput) -> Self {
        Self { input, lines: Vec::new(), previous: None, number: 0, is_unsorted: false }
    }
}

/// Joins two files.
pub(super) struct Joiner {
    pub(super) layout: FieldLayout,
    pub(super) format: JoinFormat,
    /// Whether lines of each file without a partner are written.
    pub(super) unpaired: [bool; 2],
    /// Whether pairs are written.
    pub(super) paired: bool,
    pub(super) check: OrderCheck,
    pub(super) ignore_case: bool,
    pub(super) seen_unpairable: bool,
    pub(super) sides: [Side; 2],
}

impl Joiner {
    /// Reads both files and writes what they have in common.
    pub(super) fn join(
        mut self,
        run: &mut TextRun<'_, '_>,
        has_header: bool,
        is_auto: bool,
    ) -> Result<(), Stop> {
        for file in [0, 1] {
            self.read(run, file)?;
        }
        if is_auto {
            let count = |side: &Side| side.lines.first().map_or(0, JoinLine::len);
            self.format.counts = Some([count(&self.sides[0]), count(&self.sides[1])]);
        }
        if has_header {
            self.write_header(run)?;
        }
        while let (Some(first), Some(second)) = (self.sides[0].lines.first(), self.sides[1].lines.first()) {
            match self.compare([first, second], self.format.keys) {
                Ordering::Less => self.pass(run, 0)?,
                Ordering::Greater => self.pass(run, 1)?,
                Ordering::Equal => self.join_group(run)?,
            }
        }
        self.finish(run)
    }

    fn write_header(&mut self, run: &mut TextRun<'_, '_>) -> Result<(), Stop> {
        let lines = [self.sides[0].lines.first(), self.sides[1].lines.first()];
        if lines.iter().all(Option::is_none) {
            return Ok(());
        }
        self.format.write(run, lines)?;
        for file in [0, 1] {
            self.sides[file].previous = None;
            if self.sides[file].lines.pop().is_some() {
                self.read(run, file)?;
            }
        }
        Ok(())
    }

    /// Passes a line without a partner.
    fn pass(&mut self, run: &mut TextRun<'_, '_>, file: usize) -> Result<(), Stop> {
        if self.unpaired[file] {
            self.write_single(run, file, &self.sides[file].lines[0])?;
        }
        self.sides[file].lines.clear();
        self.read(run, file)?;
        self.seen_unpairable = true;
        Ok(())
    }

    /// Reads all lines of both files with the current key, and writes all their pairs.
    fn join_group(&mut self, run: &mut TextRun<'_, '_>) -> Result<(), Stop> {
        let mut next = [None, None];
        for file in [0, 1] {
            while self.read(run, file)? {
                let key = &self.sides[1 - file].lines[0];
                let lines = &self.sides[file].lines;
                let last = &lines[lines.len() - 1];
                let pair = if file == 0 { [last, key] } else { [key, last] };
                if self.compare(pair, self.format.keys).is_ne() {
                    next[file] = self.sides[file].lines.pop();
                    break;
                }
            }
        }
        if self.paired {
            for first in &self.sides[0].lines {
                for second in &self.sides[1].lines {
                    self.format.write(run, [Some(first), Some(second)])?;
                }
            }
        }
        for (side, next) in self.sides.iter_mut().zip(next) {
            side.lines.clear();
            side.lines.extend(next);
        }
        Ok(())
    }

    /// Passes the rest of the file that is not at its end. It is read only if a line of it is written or checked.
    fn finish(&mut self, run: &mut TextRun<'_, '_>) -> Result<(), Stop> {
        let checks_rest = self.check != OrderCheck::Never && !self.sides.iter().all(|side| side.is_unsorted);
        let has_rest = [0, 1].map(|file: usize| !self.sides[file].lines.is_empty());
        for file in [0, 1] {
            if has_rest[file] && (self.unpaired[file] || checks_rest) {
                self.seen_unpairable |= has_rest[1 - file];
                self.pass_rest(run, file)?;
            }
        }
        match self.sides.iter().any(|side| side.is_unsorted) {
            true => run.fail("input is not in sorted order"),
            false => Ok(()),
        }
    }

    fn pass_rest(&mut self, run: &mut TextRun<'_, '_>, file: usize) -> Result<(), Stop> {
        let is_written = self.unpaired[file];
        loop {
            if is_written {
                self.write_single(run, file, &self.sides[file].lines[0])?;
            }
            self.sides[file].lines.clear();
            if !self.read(run, file)? || (self.sides[file].is_unsorted && !is_written) {
                return Ok(());
            }
        }
    }

    fn write_single(&self, run: &mut TextRun<'_, '_>, file: usize, line: &JoinLine) -> Result<(), Stop> {
        let lines = if file == 0 { [Some(line), None] } else { [None, Some(line)] };
        self.format.write(run, lines)
    }

    /// Reads the next line of a file, and checks its order. Returns whether there is one.
    fn read(&mut self, run: &mut TextRun<'_, '_>, file: usize) -> Result<bool, Stop> {
        let side = &mut self.sides[file];
        let mut text = Vec::new();
        if !side.input.read_line(run, self.layout.end, &mut text)? {
            return if side.input.has_failed() { Err(Stop::Exit(1)) } else { Ok(false) };
        }
        if text.last() == Some(&self.layout.end) {
            text.pop();
        }
        side.number += 1;
        let line = JoinLine::new(text, &self.layout);
        self.check_order(run, file, &line)?;
        let side = &mut self.sides[file];
        if self.check != OrderCheck::Never {
            side.previous = Some(line.clone());
        }
        side.lines.push(line);
        Ok(true)
    }

    fn check_order(&mut self, run: &mut TextRun<'_, '_>, file: usize, line: &JoinLine) -> Result<(), Stop> {
        let is_checked = match self.check {
            OrderCheck::Always => true,
            OrderCheck::Default => self.seen_unpairable,
            OrderCheck::Never => false,
        };
        let side = &self.sides[file];
        let Some(previous) = side.previous.as_ref().filter(|_| is_checked && !side.is_unsorted) else {
            return Ok(());
        };
        let key = self.format.keys[file];
        if self.compare([previous, line], [key, key]).is_gt() {
            // GNU's `join` shows the line up to a NUL byte.
            let shown = line.text.split(|byte| *byte == 0).next().unwrap_or_default();
            let shown = shown.strip_suffix(b"\n").unwrap_or(shown);
            let number = side.number.to_string();
            let place = [&side.input.name, b":".as_slice(), number.as_bytes()].concat();
            run.complain_bytes(&[place.as_slice(), b": is not sorted: ", shown].concat());
            self.sides[file].is_unsorted = true;
            if self.check == OrderCheck::Always {
                return Err(Stop::Exit(1));
            }
        }
        Ok(())
    }

    /// Compares two lines by key. An empty key comes first.
    fn compare(&self, lines: [&JoinLine; 2], keys: [usize; 2]) -> Ordering {
        let [first, second] = [lines[0].field(keys[0]), lines[1].field(keys[1])];
        match self.ignore_case {
            true => first.to_ascii_uppercase().cmp(&second.to_ascii_uppercase()),
            false => first.cmp(second),
        }
    }
}
