//! Matching by sets of positions.

use std::collections::HashMap;

use super::bracket::{decode, lower, width};
use super::parse::{Group, Item, Operator};
use super::reach::Reach;

/// Which way a subject is walked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Direction {
    /// From where items begin to where they end.
    Forward,
    /// From where items end to where they begin.
    Backward,
}

/// One match of one subject. All positions are between characters.
pub(super) struct Run<'a> {
    pub(super) subject: &'a [u8],
    direction: Direction,
    pub(super) ignore_case: bool,
    pub(super) bytewise: bool,
    /// Whether the first byte is a period that only a literal one matches.
    pub(super) protect_period: bool,
    /// What each `!(…)` reaches from each position, so that nesting them does not multiply.
    negations: HashMap<(*const Group, usize), Reach>,
}

impl<'a> Run<'a> {
    /// A subject that is not `bytewise` must be UTF-8.
    pub(super) fn new(subject: &'a [u8], direction: Direction, ignore_case: bool, bytewise: bool) -> Self {
        let negations = HashMap::new();
        Self { subject, direction, ignore_case, bytewise, protect_period: false, negations }
    }

    /// Every position.
    pub(super) fn everywhere(&self) -> Reach {
        self.span(0, self.subject.len())
    }

    /// What a sequence of items reaches.
    pub(super) fn sequence(&mut self, items: &[Item], from: Reach) -> Reach {
        self.walk(items, from, false)
    }

    /// The same, for items that have to match to the end of the subject: then a group after a `*` does not begin at the
    /// end, though it could match nothing there, unless it may be left out altogether.
    pub(super) fn whole(&mut self, items: &[Item], from: Reach) -> Reach {
        self.walk(items, from, true)
    }

    fn walk(&mut self, items: &[Item], from: Reach, whole: bool) -> Reach {
        let end = self.subject.len();
        let mut reached = from;
        // Whether a `*` that begins at the end is on the way: what follows it may begin there too.
        let mut exhausted = false;
        for step in 0..items.len() {
            if reached.is_empty() && !exhausted {
                break;
            }
            let index = match self.direction {
                Direction::Forward => step,
                Direction::Backward => items.len() - 1 - step,
            };
            let bound = whole && is_bound(items, index);
            match self.direction {
                Direction::Forward => {
                    if bound && !exhausted {
                        reached = self.before_end(reached);
                    }
                    exhausted = reached.contains(end);
                    reached = self.item(&items[index], reached);
                }
                Direction::Backward => {
                    reached = self.item(&items[index], reached);
                    if std::mem::take(&mut exhausted) {
                        reached = self.union([reached, Reach::one(end)]);
                    }
                    if bound {
                        exhausted = reached.contains(end);
                        reached = self.before_end(reached);
                    }
                }
            }
        }
        reached
    }

    /// A set without the end of the subject.
    fn before_end(&self, reach: Reach) -> Reach {
        let end = self.subject.len();
        if !reach.contains(end) {
            return reach;
        }
        Reach::list(self.positions(reach).filter(|at| *at < end).collect())
    }

    fn item(&mut self, item: &Item, from: Reach) -> Reach {
        match item {
            Item::Literal(text) => self.literal(text, from),
            Item::Any => self.step_all(from, |_, _| true),
            Item::Star => self.star(&from),
            Item::Set(set) => self.step_all(from, |run, code| set.contains(code, run.ignore_case)),
            Item::Group(group) => self.group(group, from),
        }
    }

    fn star(&self, from: &Reach) -> Reach {
        let (Some(first), Some(last)) = (from.first(), from.last()) else { return Reach::none() };
        match self.direction {
            Direction::Forward if self.protect_period && first == 0 => {
                let beyond = from.first_from(self.subject, 1).map(|at| self.span(at, self.subject.len()));
                beyond.unwrap_or_else(Reach::none)
            }
            Direction::Forward => self.span(first, self.subject.len()),
            Direction::Backward => self.span(0, last),
        }
    }

    fn literal(&self, text: &[u8], from: Reach) -> Reach {
        if let (Reach::Span(first, last), false) = (&from, self.ignore_case) {
            return self.search(text, *first, *last);
        }
        Reach::list(self.positions(from).filter_map(|at| self.literal_at(text, at)).collect())
    }

    /// Where a text is found, if it may begin, or end, anywhere in a span.
    fn search(&self, text: &[u8], first: usize, last: usize) -> Reach {
        let (start, stop, offset) = match self.direction {
            Direction::Forward => (first, last.saturating_add(text.len()), text.len()),
            Direction::Backward => (first.saturating_sub(text.len()), last, 0),
        };
        let stop = stop.min(self.subject.len());
        let finder = memchr::memmem::Finder::new(text);
        let mut found = Vec::new();
        let mut at = start;
        while let Some(place) = self.subject.get(at..stop).and_then(|rest| finder.find(rest)) {
            let hit = at + place;
            if self.direction == Direction::Forward || hit + text.len() >= first {
                found.push(hit + offset);
            }
            at = hit + 1;
        }
        Reach::list(found)
    }

    /// Where a text that begins, or ends, at a position ends, or begins.
    pub(super) fn literal_at(&self, text: &[u8], at: usize) -> Option<usize> {
        if self.ignore_case {
            return self.folded_literal_at(text, at);
        }
        match self.direction {
            Direction::Forward => self.subject[at..].starts_with(text).then(|| at + text.len()),
            Direction::Backward => self.subject[..at].ends_with(text).then(|| at - text.len()),
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
        if self.direction == Direction::Backward {
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

    /// The position beyond one character, and the character.
    pub(super) fn step(&self, at: usize) -> Option<(usize, u32)> {
        match self.direction {
            Direction::Forward => {
                let (code, length) = decode(self.subject.get(at..)?, self.bytewise);
                (length > 0).then_some((at + length, code))
            }
            Direction::Backward => {
                let mut start = at.checked_sub(1)?;
                while !self.bytewise && start > 0 && self.subject[start] & 0xC0 == 0x80 {
                    start -= 1;
                }
                Some((start, decode(&self.subject[start..], self.bytewise).0))
            }
        }
    }

    fn step_all(&self, from: Reach, accepts: impl Fn(&Self, u32) -> bool) -> Reach {
        let protected = self.protect_period;
        let next = |at| match self.step(at) {
            Some((next, code)) if !(protected && at == 0) && accepts(self, code) => Some(next),
            _ => None,
        };
        Reach::list(self.positions(from).filter_map(next).collect())
    }

    /// The positions of a set, one by one.
    fn positions(&self, reach: Reach) -> Box<dyn Iterator<Item = usize> + 'a> {
        match reach {
            Reach::List(positions) => Box::new(positions.into_iter()),
            Reach::Span(first, last) => {
                let (subject, bytewise) = (self.subject, self.bytewise);
                let mut next = Some(first);
                Box::new(std::iter::from_fn(move || {
                    let at = next.filter(|at| *at <= last)?;
                    let length = match subject.get(at) {
                        Some(&byte) if !bytewise => width(byte),
                        _ => 1,
                    };
                    next = Some(at + length);
                    Some(at)
                }))
            }
        }
    }

    /// Where every byte begins a character a span is exact; elsewhere too, since a span stands for the beginnings of
    /// characters only. A subject that is no UTF-8 but has bytes that look like continuations is listed.
    fn span(&self, first: usize, last: usize) -> Reach {
        if self.bytewise && !self.subject.is_ascii() {
            return Reach::list((first..=last).collect());
        }
        Reach::Span(first, last)
    }

    fn group(&mut self, group: &Group, from: Reach) -> Reach {
        let protected = self.protect_period && from.contains(0);
        let reached = match group.operator {
            Operator::One => self.alternatives(group, from),
            Operator::ZeroOrOne => {
                let skipped = from.clone();
                let taken = self.alternatives(group, from);
                self.union([skipped, taken])
            }
            Operator::ZeroOrMore => self.repeat(group, from),
            Operator::OneOrMore => {
                let once = self.alternatives(group, from);
                self.repeat(group, once)
            }
            Operator::Not => self.negation(group, from),
        };
        // Only a group that may be left out altogether lets what follows it match the period.
        let optional = matches!(group.operator, Operator::ZeroOrOne | Operator::ZeroOrMore);
        if !protected || optional {
            return reached;
        }
        Reach::list(self.positions(reached).filter(|at| *at > 0).collect())
    }

    fn alternatives(&mut self, group: &Group, from: Reach) -> Reach {
        if let [only] = group.alternatives.as_slice() {
            return self.sequence(only, from);
        }
        let reached: Vec<Reach> =
            group.alternatives.iter().map(|items| self.sequence(items, from.clone())).collect();
        self.union(reached)
    }

    /// Applies a group any number of times; each position is tried once.
    fn repeat(&mut self, group: &Group, from: Reach) -> Reach {
        let mut seen = vec![false; self.subject.len() + 1];
        let mut frontier = from;
        while !frontier.is_empty() {
            let fresh: Vec<usize> =
                self.positions(frontier).filter(|&at| !std::mem::replace(&mut seen[at], true)).collect();
            if fresh.is_empty() {
                break;
            }
            frontier = self.alternatives(group, Reach::list(fresh));
        }
        collect(&seen)
    }

    fn negation(&mut self, group: &Group, from: Reach) -> Reach {
        let starts: Vec<usize> = self.positions(from).collect();
        let reached: Vec<Reach> = starts.into_iter().map(|at| self.negation_from(group, at)).collect();
        self.union(reached)
    }

    fn negation_from(&mut self, group: &Group, at: usize) -> Reach {
        let key = (std::ptr::from_ref(group), at);
        if let Some(known) = self.negations.get(&key) {
            return known.clone();
        }
        let refused = self.alternatives(group, Reach::one(at));
        let candidates = match self.direction {
            Direction::Forward if self.protect_period && at == 0 => Reach::one(0),
            Direction::Forward => self.span(at, self.subject.len()),
            Direction::Backward => self.span(0, at),
        };
        let allowed = self.positions(candidates).filter(|&end| !refused.contains(end)).collect();
        let reached = Reach::list(allowed);
        self.negations.insert(key, reached.clone());
        reached
    }

    fn union(&self, sets: impl IntoIterator<Item = Reach>) -> Reach {
        let mut sets: Vec<Reach> = sets.into_iter().filter(|set| !set.is_empty()).collect();
        if sets.len() < 2 {
            return sets.pop().unwrap_or_else(Reach::none);
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

fn collect(seen: &[bool]) -> Reach {
    Reach::list(seen.iter().enumerate().filter(|(_, seen)| **seen).map(|(at, _)| at).collect())
}

/// Whether the item is a group that cannot be left out, after a `*`.
fn is_bound(items: &[Item], index: usize) -> bool {
    let Some(Item::Group(group)) = items.get(index) else { return false };
    let after_star = index.checked_sub(1).is_some_and(|before| matches!(items[before], Item::Star));
    after_star && matches!(group.operator, Operator::One | Operator::OneOrMore | Operator::Not)
}
