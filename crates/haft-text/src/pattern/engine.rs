//! Matching on sets of positions.

use std::collections::HashMap;

use super::bracket::{decode, lower, sequence_length};
use super::parse::{GroupOperator, PatternGroup, PatternItem};
use super::positions::Positions;

/// The direction in which a subject is matched.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum MatchDirection {
    /// From where items begin to where they end.
    Forward,
    /// From where items end to where they begin.
    Backward,
}

/// Matches items against one subject. All positions are between characters.
pub(super) struct PatternMatcher<'a> {
    pub(super) subject: &'a [u8],
    direction: MatchDirection,
    pub(super) ignore_case: bool,
    pub(super) bytewise: bool,
    /// Whether the subject is a file name with a leading period, which only a literal period matches.
    pub(super) protect_period: bool,
    /// The positions that each `!(…)` reaches from each position. The cache keeps nested groups from multiplying the cost.
    negations: HashMap<(*const PatternGroup, usize), Positions>,
}

impl<'a> PatternMatcher<'a> {
    /// The subject must be UTF-8 unless `bytewise` is set.
    pub(super) fn new(
        subject: &'a [u8],
        direction: MatchDirection,
        ignore_case: bool,
        bytewise: bool,
    ) -> Self {
        let negations = HashMap::new();
        Self { subject, direction, ignore_case, bytewise, protect_period: false, negations }
    }

    /// Returns every position.
    pub(super) fn everywhere(&self) -> Positions {
        self.span(0, self.subject.len())
    }

    /// Returns the positions that a sequence of items reaches.
    pub(super) fn sequence(&mut self, items: &[PatternItem], from: Positions) -> Positions {
        self.walk(items, from, false)
    }

    /// Like [`PatternMatcher::sequence`], for items that must match up to the end of the subject. As in bash, a group after a `*` then does
    /// not begin at the end, although it could match an empty text there, unless it is optional.
    pub(super) fn whole(&mut self, items: &[PatternItem], from: Positions) -> Positions {
        self.walk(items, from, true)
    }

    fn walk(&mut self, items: &[PatternItem], from: Positions, whole: bool) -> Positions {
        let end = self.subject.len();
        let mut reached = from;
        // Whether a `*` begins at the end: then the next item may begin there too.
        let mut exhausted = false;
        for step in 0..items.len() {
            if reached.is_empty() && !exhausted {
                break;
            }
            let index = match self.direction {
                MatchDirection::Forward => step,
                MatchDirection::Backward => items.len() - 1 - step,
            };
            let required = whole && is_required_after_star(items, index);
            match self.direction {
                MatchDirection::Forward => {
                    if required && !exhausted {
                        reached = self.before_end(reached);
                    }
                    exhausted = reached.contains(end);
                    reached = self.item(&items[index], reached);
                }
                MatchDirection::Backward => {
                    reached = self.item(&items[index], reached);
                    if std::mem::take(&mut exhausted) {
                        reached = self.union([reached, Positions::one(end)]);
                    }
                    if required {
                        exhausted = reached.contains(end);
                        reached = self.before_end(reached);
                    }
                }
            }
        }
        reached
    }

    /// Removes the end of the subject from a set.
    fn before_end(&self, reach: Positions) -> Positions {
        let end = self.subject.len();
        if !reach.contains(end) {
            return reach;
        }
        Positions::list(self.positions(reach).filter(|at| *at < end).collect())
    }

    fn item(&mut self, item: &PatternItem, from: Positions) -> Positions {
        match item {
            PatternItem::Literal(text) => self.literal(text, from),
            PatternItem::Any => self.step_all(from, |_, _| true),
            PatternItem::Star => self.star(&from),
            PatternItem::Set(set) => {
                self.step_all(from, |matcher, code| set.contains(code, matcher.ignore_case))
            }
            PatternItem::Group(group) => self.group(group, from),
        }
    }

    fn star(&self, from: &Positions) -> Positions {
        let (Some(first), Some(last)) = (from.first(), from.last()) else { return Positions::none() };
        match self.direction {
            MatchDirection::Forward if self.protect_period && first == 0 => {
                let beyond = from.first_from(self.subject, 1).map(|at| self.span(at, self.subject.len()));
                beyond.unwrap_or_else(Positions::none)
            }
            MatchDirection::Forward => self.span(first, self.subject.len()),
            MatchDirection::Backward => self.span(0, last),
        }
    }

    fn literal(&self, text: &[u8], from: Positions) -> Positions {
        if let (Positions::Span(first, last), false) = (&from, self.ignore_case) {
            return self.search(text, *first, *last);
        }
        Positions::list(self.positions(from).filter_map(|at| self.literal_at(text, at)).collect())
    }

    /// Returns where a text ends (forward) or begins (backward) if it may begin or end anywhere in a span.
    fn search(&self, text: &[u8], first: usize, last: usize) -> Positions {
        let (start, stop, offset) = match self.direction {
            MatchDirection::Forward => (first, last.saturating_add(text.len()), text.len()),
            MatchDirection::Backward => (first.saturating_sub(text.len()), last, 0),
        };
        let stop = stop.min(self.subject.len());
        let finder = memchr::memmem::Finder::new(text);
        let mut found = Vec::new();
        let mut at = start;
        while let Some(offset_in_rest) = self.subject.get(at..stop).and_then(|rest| finder.find(rest)) {
            let hit = at + offset_in_rest;
            if self.direction == MatchDirection::Forward || hit + text.len() >= first {
                found.push(hit + offset);
            }
            at = hit + 1;
        }
        Positions::list(found)
    }

    /// Returns the position after a text at `at` (forward), or the position before one that ends at `at` (backward).
    pub(super) fn literal_at(&self, text: &[u8], at: usize) -> Option<usize> {
        if self.ignore_case {
            return self.folded_literal_at(text, at);
        }
        match self.direction {
            MatchDirection::Forward => self.subject[at..].starts_with(text).then(|| at + text.len()),
            MatchDirection::Backward => self.subject[..at].ends_with(text).then(|| at - text.len()),
        }
    }

    fn folded_literal_at(&self, text: &[u8], at: usize) -> Option<usize> {
        let mut position = at;
        let mut characters = Vec::with_capacity(text.len());
        let mut rest = text;
        while !rest.is_empty() {
            let (code, length) = decode(rest, self.bytewise);
            characters.push(lower(code));
            rest = &rest[length..];
        }
        if self.direction == MatchDirection::Backward {
            characters.reverse();
        }
        for wanted in characters {
            let (next, found) = self.step(position)?;
            if lower(found) != wanted {
                return None;
            }
            position = next;
        }
        Some(position)
    }

    /// Returns the next position in the match direction, and the character in between.
    pub(super) fn step(&self, at: usize) -> Option<(usize, u32)> {
        match self.direction {
            MatchDirection::Forward => {
                let (code, length) = decode(self.subject.get(at..)?, self.bytewise);
                (length > 0).then_some((at + length, code))
            }
            MatchDirection::Backward => {
                let mut start = at.checked_sub(1)?;
                while !self.bytewise && start > 0 && self.subject[start] & 0xC0 == 0x80 {
                    start -= 1;
                }
                Some((start, decode(&self.subject[start..], self.bytewise).0))
            }
        }
    }

    fn step_all(&self, from: Positions, accepts: impl Fn(&Self, u32) -> bool) -> Positions {
        let protected = self.protect_period;
        let next = |at| match self.step(at) {
            Some((next, code)) if !(protected && at == 0) && accepts(self, code) => Some(next),
            _ => None,
        };
        Positions::list(self.positions(from).filter_map(next).collect())
    }

    /// Iterates over the positions of a set.
    fn positions(&self, reach: Positions) -> Box<dyn Iterator<Item = usize> + 'a> {
        match reach {
            Positions::List(positions) => Box::new(positions.into_iter()),
            Positions::Span(first, last) => {
                let (subject, bytewise) = (self.subject, self.bytewise);
                let mut next = Some(first);
                Box::new(std::iter::from_fn(move || {
                    let at = next.filter(|at| *at <= last)?;
                    let length = match subject.get(at) {
                        Some(&byte) if !bytewise => sequence_length(byte),
                        _ => 1,
                    };
                    next = Some(at + length);
                    Some(at)
                }))
            }
        }
    }

    /// Returns the positions from `first` to `last`. A span contains only positions between characters, so the positions of a subject
    /// that is matched bytewise and has bytes that look like UTF-8 continuation bytes are listed one by one.
    fn span(&self, first: usize, last: usize) -> Positions {
        if self.bytewise && !self.subject.is_ascii() {
            return Positions::list((first..=last).collect());
        }
        Positions::Span(first, last)
    }

    fn group(&mut self, group: &PatternGroup, from: Positions) -> Positions {
        let protected = self.protect_period && from.contains(0);
        let reached = match group.operator {
            GroupOperator::One => self.alternatives(group, from),
            GroupOperator::ZeroOrOne => {
                let skipped = from.clone();
                let taken = self.alternatives(group, from);
                self.union([skipped, taken])
            }
            GroupOperator::ZeroOrMore => self.repeat(group, from),
            GroupOperator::OneOrMore => {
                let once = self.alternatives(group, from);
                self.repeat(group, once)
            }
            GroupOperator::Not => self.negation(group, from),
        };
        // Only after an optional group may the next item match the leading period.
        let optional = matches!(group.operator, GroupOperator::ZeroOrOne | GroupOperator::ZeroOrMore);
        if !protected || optional {
            return reached;
        }
        Positions::list(self.positions(reached).filter(|at| *at > 0).collect())
    }

    fn alternatives(&mut self, group: &PatternGroup, from: Positions) -> Positions {
        if let [only] = group.alternatives.as_slice() {
            return self.sequence(only, from);
        }
        let reached: Vec<Positions> =
            group.alternatives.iter().map(|items| self.sequence(items, from.clone())).collect();
        self.union(reached)
    }

    /// Applies a group any number of times. Each position is tried once.
    fn repeat(&mut self, group: &PatternGroup, from: Positions) -> Positions {
        let mut seen = vec![false; self.subject.len() + 1];
        let mut frontier = from;
        while !frontier.is_empty() {
            let fresh: Vec<usize> =
                self.positions(frontier).filter(|&at| !std::mem::replace(&mut seen[at], true)).collect();
            if fresh.is_empty() {
                break;
            }
            frontier = self.alternatives(group, Positions::list(fresh));
        }
        collect(&seen)
    }

    fn negation(&mut self, group: &PatternGroup, from: Positions) -> Positions {
        let starts: Vec<usize> = self.positions(from).collect();
        let reached: Vec<Positions> = starts.into_iter().map(|at| self.negation_from(group, at)).collect();
        self.union(reached)
    }

    fn negation_from(&mut self, group: &PatternGroup, at: usize) -> Positions {
        let key = (std::ptr::from_ref(group), at);
        if let Some(known) = self.negations.get(&key) {
            return known.clone();
        }
        let refused = self.alternatives(group, Positions::one(at));
        let candidates = match self.direction {
            MatchDirection::Forward if self.protect_period && at == 0 => Positions::one(0),
            MatchDirection::Forward => self.span(at, self.subject.len()),
            MatchDirection::Backward => self.span(0, at),
        };
        let allowed = self.positions(candidates).filter(|&end| !refused.contains(end)).collect();
        let reached = Positions::list(allowed);
        self.negations.insert(key, reached.clone());
        reached
    }

    fn union(&self, sets: impl IntoIterator<Item = Positions>) -> Positions {
        let mut sets: Vec<Positions> = sets.into_iter().filter(|set| !set.is_empty()).collect();
        if sets.len() < 2 {
            return sets.pop().unwrap_or_else(Positions::none);
        }
        let mut seen = vec![false; self.subject.len() + 1];
        for set in sets {
            for at in self.positions(set) {
                seen[at] = true;
            }
        }
        collect(&seen)
    }
}

fn collect(seen: &[bool]) -> Positions {
    Positions::list(seen.iter().enumerate().filter(|(_, seen)| **seen).map(|(at, _)| at).collect())
}

/// Tells whether the item is a group after a `*` and not optional.
fn is_required_after_star(items: &[PatternItem], index: usize) -> bool {
    let Some(PatternItem::Group(group)) = items.get(index) else { return false };
    let after_star = index.checked_sub(1).is_some_and(|before| matches!(items[before], PatternItem::Star));
    after_star && matches!(group.operator, GroupOperator::One | GroupOperator::OneOrMore | GroupOperator::Not)
}
