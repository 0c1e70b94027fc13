//! The groups of a match.

use std::ops::Range;

use super::error::GnuSearchError;
use super::program::Instruction;
use super::subject::Subject;

/// The most memory for the search of the groups of one match.
const MAX_BYTES: usize = 64 << 20;

/// The most times that the search may come to each instruction at each position.
const MAX_VISITS: usize = 16;

const WORD_BITS: usize = 64;

/// A group that was opened or closed at a position.
#[derive(Clone, Copy, Debug)]
pub(super) struct GroupEvent {
    pub(super) instruction: usize,
    pub(super) at: usize,
}

/// Finds the groups of the match `range`. Like GNU's library this takes the first way through the expression that leads to the
/// end of the match.
pub(super) fn find(
    program: &[Instruction],
    subject: Subject<'_>,
    range: Range<usize>,
    groups: usize,
) -> Result<Vec<Option<Range<usize>>>, GnuSearchError> {
    let live = LiveStates::new(program, subject, range.clone())?;
    let events = Walk { program, subject, live: &live, range: range.clone() }.run()?;
    Ok(replay(program, &events, range, groups))
}

/// The instructions at each position from which the end of the match can be reached.
struct LiveStates {
    start: usize,
    words_per_row: usize,
    bits: Vec<u64>,
}

impl LiveStates {
    fn new(
        program: &[Instruction],
        subject: Subject<'_>,
        range: Range<usize>,
    ) -> Result<Self, GnuSearchError> {
        let words_per_row = program.len().div_ceil(WORD_BITS);
        let words = words_per_row.saturating_mul(range.len() + 1);
        if words.saturating_mul(size_of::<u64>()) > MAX_BYTES {
            return Err(GnuSearchError);
        }
        let mut live = Self { start: range.start, words_per_row, bits: vec![0; words] };
        for at in (range.start..=range.end).rev() {
            while live.update(program, subject, at, range.end) {}
        }
        Ok(live)
    }

    /// Marks instructions at a position. Returns whether an instruction was marked.
    fn update(&mut self, program: &[Instruction], subject: Subject<'_>, at: usize, end: usize) -> bool {
        let mut has_changed = false;
        for (index, instruction) in program.iter().enumerate().rev() {
            if self.contains(index, at) {
                continue;
            }
            let is_live = match instruction {
                Instruction::Match => at == end,
                Instruction::Set(set) => subject
                    .step(at, set)
                    .is_some_and(|length| at + length <= end && self.contains(index + 1, at + length)),
                Instruction::Split(first, second) => self.contains(*first, at) || self.contains(*second, at),
                Instruction::Jump(target) => self.contains(*target, at),
                Instruction::Assertion(assertion) => {
                    self.contains(index + 1, at) && subject.holds(at, *assertion)
                }
                Instruction::OpenGroup(_) | Instruction::CloseGroup { .. } => self.contains(index + 1, at),
                Instruction::BackReference(_) => false,
            };
            if is_live {
                let bit = (at - self.start) * self.words_per_row * WORD_BITS + index;
                self.bits[bit / WORD_BITS] |= 1 << (bit % WORD_BITS);
                has_changed = true;
            }
        }
        has_changed
    }

    fn contains(&self, index: usize, at: usize) -> bool {
        let bit = (at - self.start) * self.words_per_row * WORD_BITS + index;
        self.bits[bit / WORD_BITS] >> (bit % WORD_BITS) & 1 == 1
    }
}

/// A way not yet taken.
struct Alternative {
    instruction: usize,
    at: usize,
    events: usize,
    passed: Vec<usize>,
}

/// The way through the expression.
struct Walk<'a> {
    program: &'a [Instruction],
    subject: Subject<'a>,
    live: &'a LiveStates,
    range: Range<usize>,
}

impl Walk<'_> {
    fn run(&self) -> Result<Vec<GroupEvent>, GnuSearchError> {
        let mut budget = MAX_VISITS * (self.program.len() + 1) * (self.range.len() + 1);
        let (mut index, mut at) = (0, self.range.start);
        let (mut events, mut alternatives, mut passed) = (Vec::new(), Vec::<Alternative>::new(), Vec::new());
        loop {
            budget = budget.checked_sub(1).ok_or(GnuSearchError)?;
            match &self.program[index] {
                Instruction::Match => return Ok(events),
                Instruction::Set(set) => {
                    at += self.subject.step(at, set).ok_or(GnuSearchError)?;
                    passed.clear();
                    index += 1;
                }
                Instruction::Split(first, second) => {
                    let is_again = passed.contains(&index);
                    let takes_first = !is_again && self.live.contains(*first, at);
                    let takes_second = self.live.contains(*second, at);
                    passed.push(index);
                    index = match (takes_first, takes_second) {
                        (true, true) => {
                            let passed = passed.clone();
                            alternatives.push(Alternative {
                                instruction: *second,
                                at,
                                events: events.len(),
                                passed,
                            });
                            *first
                        }
                        (true, false) => *first,
                        (false, true) => *second,
                        (false, false) => {
                            let other = alternatives.pop().ok_or(GnuSearchError)?;
                            (at, passed) = (other.at, other.passed);
                            events.truncate(other.events);
                            other.instruction
                        }
                    };
                }
                Instruction::Jump(target) => index = *target,
                Instruction::OpenGroup(_) | Instruction::CloseGroup { .. } => {
                    events.push(GroupEvent { instruction: index, at });
                    index += 1;
                }
                Instruction::Assertion(_) | Instruction::BackReference(_) => index += 1,
            }
        }
    }
}

/// A group while the events are replayed.
#[derive(Clone, Copy, Default)]
struct Register {
    start: Option<usize>,
    end: Option<usize>,
}

/// Sets the groups as GNU's library does. An empty repetition of an optional group restores the groups of the repetition before.
pub(super) fn replay(
    program: &[Instruction],
    events: &[GroupEvent],
    range: Range<usize>,
    groups: usize,
) -> Vec<Option<Range<usize>>> {
    let mut registers = vec![Register::default(); groups + 1];
    let mut previous = registers.clone();
    for event in events {
        match program[event.instruction] {
            Instruction::OpenGroup(number) => {
                registers[number] = Register { start: Some(event.at), end: None };
            }
            Instruction::CloseGroup { number, is_optional } => {
                let is_empty = registers[number].start.is_none_or(|start| start >= event.at);
                if is_empty && is_optional && previous[number].start.is_some() {
                    registers.clone_from(&previous);
                } else {
                    registers[number].end = Some(event.at);
                    if !is_empty {
                        previous.clone_from(&registers);
                    }
                }
            }
            _ => {}
        }
    }
    let found = registers.iter().skip(1).map(|register| Some(register.start?..register.end?));
    [Some(range)].into_iter().chain(found).collect()
}
