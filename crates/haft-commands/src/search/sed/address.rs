//! Decides which lines a command applies to.

use super::execute::{Executor, fail};
use super::script::{Address, SedCommand};
use crate::text::streams::{Stop, TextRun};

/// The state of a range of addresses.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum RangeState {
    Inactive,
    /// The range has started. Its last line is known if its second address is a number.
    Active(Option<u64>),
    /// The range started at a line number. It does not start again.
    Closed,
}

impl RangeState {
    /// The state before the first line. `0,/x/` and `0r` have started already.
    pub(super) fn initial(command: &SedCommand) -> Self {
        match command.addresses.first {
            Some(Address::Line(0)) => Self::Active(None),
            _ => Self::Inactive,
        }
    }
}

impl Executor<'_> {
    /// Whether the command applies to the current line.
    pub(super) fn matches(&mut self, run: &mut TextRun<'_, '_>, index: usize) -> Result<bool, Stop> {
        let script = self.script();
        let addresses = &script.commands[index].addresses;
        let is_match = match (&addresses.first, &addresses.second) {
            (None, _) => true,
            (Some(Address::Line(0)), None) => {
                std::mem::replace(&mut self.ranges[index], RangeState::Inactive) != RangeState::Inactive
            }
            (Some(first), None) => self.is_at(run, first)?,
            (Some(first), Some(second)) => self.in_range(run, index, first, second)?,
        };
        Ok(is_match != addresses.is_negated)
    }

    /// Whether the range of a command goes on after this line.
    pub(super) fn is_in_range(&self, index: usize) -> bool {
        matches!(self.ranges[index], RangeState::Active(_))
    }

    fn is_at(&mut self, run: &mut TextRun<'_, '_>, address: &Address) -> Result<bool, Stop> {
        Ok(match address {
            Address::Line(line) => self.line_number == *line,
            Address::Step(first, step) => {
                self.line_number >= *first && (self.line_number - first).is_multiple_of(*step)
            }
            Address::Last => self.files.is_last(run)?,
            Address::Regex(regex) => {
                let regex = self.regex(run, regex)?;
                match regex.is_match(&self.pattern.text) {
                    Ok(is_match) => is_match,
                    Err(error) => return fail(run, &error.to_string()),
                }
            }
            Address::Plus(_) | Address::Multiple(_) => false,
        })
    }

    fn in_range(
        &mut self,
        run: &mut TextRun<'_, '_>,
        index: usize,
        first: &Address,
        second: &Address,
    ) -> Result<bool, Stop> {
        let line = self.line_number;
        let ended = match first {
            Address::Line(_) => RangeState::Closed,
            _ => RangeState::Inactive,
        };
        match self.ranges[index] {
            RangeState::Closed => Ok(false),
            RangeState::Active(Some(end)) => {
                if line >= end {
                    self.ranges[index] = ended;
                }
                // `+N` and `~N` also match the first line after the range if lines were skipped.
                Ok(line <= end || !matches!(second, Address::Line(_)))
            }
            RangeState::Active(None) => {
                if self.is_at(run, second)? {
                    self.ranges[index] = ended;
                }
                Ok(true)
            }
            RangeState::Inactive => {
                if !self.starts_range(run, first, second)? {
                    return Ok(false);
                }
                let end = match second {
                    Address::Line(end) => Some(*end),
                    Address::Plus(count) => Some(line.saturating_add(*count)),
                    Address::Multiple(0) => Some(line),
                    Address::Multiple(count) => Some(line.div_ceil(*count).saturating_mul(*count)),
                    _ => None,
                };
                self.ranges[index] = match end.is_none_or(|end| end > line) {
                    true => RangeState::Active(end),
                    false => ended,
                };
                Ok(true)
            }
        }
    }

    /// Whether a range starts at the current line. A line number may have been skipped, but not the whole range.
    fn starts_range(
        &mut self,
        run: &mut TextRun<'_, '_>,
        first: &Address,
        second: &Address,
    ) -> Result<bool, Stop> {
        match (first, second) {
            (Address::Line(start), Address::Line(end)) if self.line_number > *start => {
                Ok(self.line_number <= *end)
            }
            (Address::Line(start), _) => Ok(self.line_number >= *start),
            _ => self.is_at(run, first),
        }
    }
}
