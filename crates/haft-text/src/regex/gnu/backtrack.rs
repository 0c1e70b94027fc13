//! Searches for expressions with back-references, with a limited number of steps.

use std::ops::Range;

use super::char_set::{decode, upper};
use super::error::GnuSearchError;
use super::program::Instruction;
use super::registers::{GroupEvent, replay};
use super::subject::Subject;

/// The most steps of one search.
const MAX_STEPS: usize = 4_000_000;

/// Work that is left to do.
enum Task {
    Try {
        instruction: usize,
        at: usize,
    },
    /// Sets the last position of a loop back.
    RestoreLoop {
        instruction: usize,
        at: usize,
    },
    /// Sets a group back.
    RestoreGroup {
        number: usize,
        group: (usize, usize),
    },
    /// Removes the last event.
    RemoveEvent,
}

/// Marks a position that has not been set.
const UNSET: usize = usize::MAX;

/// A backtracking search.
pub(super) struct Backtracker<'a> {
    program: &'a [Instruction],
    subject: Subject<'a>,
    groups: Vec<(usize, usize)>,
    events: Vec<GroupEvent>,
    /// The position at which each split was last entered.
    entered: Vec<usize>,
    tasks: Vec<Task>,
    steps: usize,
}

impl<'a> Backtracker<'a> {
    pub(super) fn new(program: &'a [Instruction], subject: Subject<'a>, groups: usize) -> Self {
        Self {
            program,
            subject,
            groups: vec![(UNSET, UNSET); groups + 1],
            events: Vec::new(),
            entered: vec![UNSET; program.len()],
            tasks: Vec::new(),
            steps: 0,
        }
    }

    /// The longest match that starts at `start`: its groups, the whole match first.
    pub(super) fn match_at(
        &mut self,
        start: usize,
    ) -> Result<Option<Vec<Option<Range<usize>>>>, GnuSearchError> {
        let mut best: Option<(usize, Vec<GroupEvent>)> = None;
        self.tasks.push(Task::Try { instruction: 0, at: start });
        while let Some(task) = self.tasks.pop() {
            match task {
                Task::RestoreLoop { instruction, at } => self.entered[instruction] = at,
                Task::RestoreGroup { number, group } => self.groups[number] = group,
                Task::RemoveEvent => {
                    self.events.pop();
                }
                Task::Try { instruction, at } => {
                    let end = self.advance(instruction, at)?;
                    if let Some(end) = end.filter(|end| best.as_ref().is_none_or(|(best, _)| end > best)) {
                        best = Some((end, self.events.clone()));
                    }
                }
            }
        }
        let groups = self.groups.len() - 1;
        Ok(best.map(|(end, events)| replay(self.program, &events, start..end, groups)))
    }

    /// Follows the instructions until they match or fail. Returns the end of a match.
    fn advance(&mut self, mut index: usize, mut at: usize) -> Result<Option<usize>, GnuSearchError> {
        loop {
            self.steps += 1;
            if self.steps > MAX_STEPS {
                return Err(GnuSearchError);
            }
            match &self.program[index] {
                Instruction::Match => return Ok(Some(at)),
                Instruction::Set(set) => match self.subject.step(at, set) {
                    Some(length) => at += length,
                    None => return Ok(None),
                },
                Instruction::Split(first, second) => {
                    index = self.split(index, at, *first, *second);
                    continue;
                }
                Instruction::Jump(target) => {
                    index = *target;
                    continue;
                }
                Instruction::OpenGroup(number) => {
                    self.set_group(*number, (at, UNSET));
                    self.add_event(index, at);
                }
                Instruction::CloseGroup { number, .. } => {
                    self.set_group(*number, (self.groups[*number].0, at));
                    self.add_event(index, at);
                }
                Instruction::Assertion(assertion) if self.subject.holds(at, *assertion) => {}
                Instruction::Assertion(_) => return Ok(None),
                Instruction::BackReference(number) => match self.repeat_group(*number, at) {
                    Some(end) => at = end,
                    None => return Ok(None),
                },
            }
            index += 1;
        }
    }

    /// Chooses a way. A loop that has not moved since it was entered ends.
    fn split(&mut self, index: usize, at: usize, first: usize, second: usize) -> usize {
        if self.entered[index] == at {
            return second;
        }
        self.tasks.push(Task::Try { instruction: second, at });
        self.tasks.push(Task::RestoreLoop { instruction: index, at: self.entered[index] });
        self.entered[index] = at;
        first
    }

    fn set_group(&mut self, number: usize, group: (usize, usize)) {
        self.tasks.push(Task::RestoreGroup { number, group: self.groups[number] });
        self.groups[number] = group;
    }

    fn add_event(&mut self, instruction: usize, at: usize) {
        self.tasks.push(Task::RemoveEvent);
        self.events.push(GroupEvent { instruction, at });
    }

    /// Matches the text of a group again. Returns the end.
    fn repeat_group(&mut self, number: usize, at: usize) -> Option<usize> {
        let (start, end) = self.groups[number];
        if start == UNSET || end == UNSET || end < start {
            return None;
        }
        let text = self.subject.text;
        self.steps += end - start;
        let (referred, rest) = (&text[start..end], &text[at..]);
        if !self.subject.options.ignore_case {
            return rest.starts_with(referred).then_some(at + referred.len());
        }
        let encoding = self.subject.options.encoding;
        let (mut left, mut right) = (0, 0);
        while left < referred.len() {
            let [(a, a_length), (b, b_length)] =
                [decode(&referred[left..], encoding), decode(&rest[right..], encoding)];
            if b_length == 0 || upper(a, encoding) != upper(b, encoding) {
                return None;
            }
            (left, right) = (left + a_length, right + b_length);
        }
        Some(at + right)
    }
}
