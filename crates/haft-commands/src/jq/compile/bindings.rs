//! Variables: patterns, `reduce`, `foreach` and labels.

use super::{Compiler, Name};
use crate::jq::code::{Operation, Place};
use crate::jq::syntax::{Filter, MemberPattern, Pattern};
use crate::jq::value::Value;

/// Makes the operation that stores the variable of a pattern.
type MakeStore = fn(Place) -> Operation;

impl Compiler<'_> {
    pub(super) fn binding(&mut self, filter: &Filter) {
        match filter {
            Filter::Bind { source, patterns, body } => {
                self.emit(Operation::Duplicate);
                self.emit(Operation::OperandBegin);
                self.filter(source);
                self.emit(Operation::OperandEnd);
                self.emit(Operation::Pop);
                self.bind(patterns, |compiler| compiler.filter(body));
            }
            Filter::Reduce { source, patterns, initial, update } => {
                self.reduce(source, patterns, initial, update);
            }
            Filter::Foreach { source, patterns, initial, update, extract } => {
                self.foreach(source, patterns, [initial, update], extract.as_deref());
            }
            Filter::Label { name, body } => self.label(name, body),
            Filter::Break { label, at } => match self.find_label(label) {
                Some(place) => {
                    self.emit(Operation::Load(place));
                    self.filter(&Filter::call("error", Vec::new()));
                }
                None => self.error(format!("$*label-{label} is not defined"), *at),
            },
            Filter::Variable { name, at } => self.variable(name, *at),
            Filter::TakeVariable(name) => match self.find_variable(name) {
                Some(place) => self.emit(Operation::Take(place)),
                None => self.error(format!("${name} is not defined"), 0),
            },
            Filter::Call { name, arguments, at } => self.call(name, arguments, *at),
            _ => {}
        }
    }

    fn variable(&mut self, name: &str, at: usize) {
        if let Some(place) = self.find_variable(name) {
            return self.emit(Operation::Load(place));
        }
        match self.globals.get(name) {
            Some(value) => {
                let value = value.clone();
                self.constant(value);
            }
            None => self.error(format!("${name} is not defined"), at),
        }
    }

    fn find(&self, matches: impl Fn(&Name) -> Option<usize>) -> Option<Place> {
        self.scopes.iter().rev().enumerate().find_map(|(level, scope)| {
            let slot = scope.names.iter().rev().find_map(&matches)?;
            Some(Place { level, slot })
        })
    }

    fn find_variable(&self, wanted: &str) -> Option<Place> {
        self.find(|name| match name {
            Name::Variable(name, slot) if name == wanted => Some(*slot),
            _ => None,
        })
    }

    fn find_label(&self, wanted: &str) -> Option<Place> {
        self.find(|name| match name {
            Name::Label(name, slot) if name == wanted => Some(*slot),
            _ => None,
        })
    }

    /// Takes the value on the stack apart and compiles a body that sees the variables.
    fn bind(&mut self, patterns: &[Pattern], body: impl FnOnce(&mut Self)) {
        let known = self.scope().names.len();
        let mut places = Vec::new();
        for pattern in patterns {
            self.declare(pattern, &mut places);
        }
        if let [pattern] = patterns {
            self.match_pattern(pattern, &places, Operation::Store);
        } else {
            self.match_alternatives(patterns, &places);
        }
        let names = places.into_iter().map(|(name, place)| Name::Variable(name, place.slot));
        self.scope().names.extend(names);
        body(self);
        self.scope().names.truncate(known);
    }

    fn match_alternatives(&mut self, patterns: &[Pattern], places: &[(String, Place)]) {
        for (_, place) in places {
            self.emit(Operation::Duplicate);
            self.constant(Value::Null);
            self.emit(Operation::Store(*place));
        }
        let mut ends = Vec::new();
        for (index, pattern) in patterns.iter().enumerate() {
            if index + 1 == patterns.len() {
                self.match_pattern(pattern, places, Operation::Store);
                continue;
            }
            let next = self.emit_jump(Operation::AlternativePattern);
            self.match_pattern(pattern, places, Operation::StoreUntilBacktrack);
            ends.push(self.emit_jump(Operation::Jump));
            self.land(next);
        }
        for end in ends {
            self.land(end);
        }
    }

    /// Makes variables for the names in a pattern.
    fn declare(&mut self, pattern: &Pattern, places: &mut Vec<(String, Place)>) {
        match pattern {
            Pattern::Variable(name) => self.declare_name(name, places),
            Pattern::Array(items) => items.iter().for_each(|item| self.declare(item, places)),
            Pattern::Object(members) => {
                for member in members {
                    member.variable.iter().for_each(|name| self.declare_name(name, places));
                    member.pattern.iter().for_each(|pattern| self.declare(pattern, places));
                }
            }
        }
    }

    fn declare_name(&mut self, name: &str, places: &mut Vec<(String, Place)>) {
        if !places.iter().any(|(known, _)| known == name) {
            let place = self.fresh();
            places.push((name.to_owned(), place));
        }
    }

    /// Matches the value on the stack, and takes it away.
    fn match_pattern(&mut self, pattern: &Pattern, places: &[(String, Place)], store: MakeStore) {
        match pattern {
            Pattern::Variable(name) => self.store_name(name, places, store),
            Pattern::Array(items) => {
                for (index, item) in items.iter().enumerate().rev() {
                    self.emit(Operation::Duplicate);
                    self.emit(Operation::PushUnder(Value::from(index)));
                    self.emit(Operation::Index { optional: false });
                    self.match_pattern(item, places, store);
                }
                self.emit(Operation::Pop);
            }
            Pattern::Object(members) => {
                for member in members {
                    self.match_member(member, places, store);
                }
                self.emit(Operation::Pop);
            }
        }
    }

    fn match_member(&mut self, member: &MemberPattern, places: &[(String, Place)], store: MakeStore) {
        self.emit(Operation::Duplicate);
        self.operand(&member.key);
        self.emit(Operation::Index { optional: false });
        match (&member.variable, &member.pattern) {
            (Some(name), None) => self.store_name(name, places, store),
            (Some(name), Some(pattern)) => {
                self.emit(Operation::Duplicate);
                self.store_name(name, places, store);
                self.match_pattern(pattern, places, store);
            }
            (None, Some(pattern)) => self.match_pattern(pattern, places, store),
            (None, None) => self.emit(Operation::Pop),
        }
    }

    fn store_name(&mut self, name: &str, places: &[(String, Place)], store: MakeStore) {
        if let Some((_, place)) = places.iter().find(|(known, _)| known == name) {
            self.emit(store(*place));
        }
    }

    fn reduce(&mut self, source: &Filter, patterns: &[Pattern], initial: &Filter, update: &Filter) {
        let state = self.fresh();
        self.emit(Operation::Duplicate);
        self.filter(initial);
        self.emit(Operation::Store(state));
        let end = self.emit_jump(Operation::Fork);
        self.emit(Operation::Duplicate);
        self.filter(source);
        self.bind(patterns, |compiler| {
            compiler.emit(Operation::Take(state));
            compiler.filter(update);
            compiler.emit(Operation::Store(state));
        });
        self.emit(Operation::Backtrack);
        self.land(end);
        self.emit(Operation::Take(state));
    }

    fn foreach(
        &mut self,
        source: &Filter,
        patterns: &[Pattern],
        [initial, update]: [&Filter; 2],
        extract: Option<&Filter>,
    ) {
        let state = self.fresh();
        self.emit(Operation::Duplicate);
        self.filter(initial);
        self.emit(Operation::Store(state));
        let exhausted = self.emit_jump(Operation::Fork);
        self.emit(Operation::Duplicate);
        self.filter(source);
        self.bind(patterns, |compiler| {
            compiler.emit(Operation::Take(state));
            compiler.filter(update);
            compiler.emit(Operation::Duplicate);
            compiler.emit(Operation::Store(state));
            if let Some(extract) = extract {
                compiler.filter(extract);
            }
        });
        let output = self.emit_jump(Operation::Jump);
        self.land(exhausted);
        self.emit(Operation::Backtrack);
        self.land(output);
    }

    fn label(&mut self, name: &str, body: &Filter) {
        let place = self.fresh();
        self.emit(Operation::NewLabel(place));
        let handler = self.emit_jump(Operation::TryBegin);
        let known = self.scope().names.len();
        self.scope().names.push(Name::Label(name.to_owned(), place.slot));
        self.filter(body);
        self.scope().names.truncate(known);
        self.emit(Operation::TryEnd);
        let end = self.emit_jump(Operation::Jump);
        self.land(handler);
        self.emit(Operation::CatchLabel(place));
        self.land(end);
    }
}
