//! Access to parts of values, and the paths that lead to them.

use std::rc::Rc;

use super::{ForkKind, Machine, Step};
use crate::jq::access::{self, SHORT};
use crate::jq::print::shortened;
use crate::jq::value::Value;

/// How much of a value an error message about a path shows.
const LONG: usize = 30;

/// The path of the value on the stack, while a path expression is evaluated.
#[derive(Clone)]
pub(super) struct PathTracker {
    keys: Option<Rc<PathKey>>,
    /// The value that the path leads to.
    value: Value,
    /// How many operands deep the machine is. Operands have no path.
    nesting: isize,
    /// The tracker of the path expression around this one.
    outer: Option<Rc<PathTracker>>,
}

struct PathKey {
    key: Value,
    before: Option<Rc<PathKey>>,
}

impl Drop for PathKey {
    fn drop(&mut self) {
        let mut next = self.before.take();
        while let Some(key) = next {
            next = Rc::try_unwrap(key).ok().and_then(|mut key| key.before.take());
        }
    }
}

impl PathTracker {
    fn path(&self) -> Value {
        let mut keys = Vec::new();
        let mut next = self.keys.as_ref();
        while let Some(key) = next {
            keys.push(key.key.clone());
            next = key.before.as_ref();
        }
        keys.reverse();
        keys.into()
    }
}

impl Machine<'_> {
    pub(super) fn change_nesting(&mut self, change: isize) {
        if let Some(tracker) = &mut self.tracker {
            Rc::make_mut(tracker).nesting += change;
        }
    }

    pub(super) fn path_begin(&mut self) {
        let value = self.stack.top().clone();
        let outer = self.tracker.take();
        self.tracker = Some(Rc::new(PathTracker { keys: None, value, nesting: 0, outer }));
    }

    pub(super) fn path_end(&mut self) -> Step {
        let value = self.stack.pop();
        if !self.is_on_path(&value) {
            let shown = shortened(&value, LONG);
            return self.raise(format!("Invalid path expression with result {shown}").into());
        }
        let Some(tracker) = self.tracker.take() else { return Step::Next };
        self.stack.push(tracker.path());
        self.tracker.clone_from(&tracker.outer);
        Step::Next
    }

    /// Whether a value is the one that the path leads to.
    fn is_on_path(&self, value: &Value) -> bool {
        match &self.tracker {
            Some(tracker) if tracker.nesting == 0 => value.is_identical(&tracker.value),
            _ => true,
        }
    }

    /// Whether the keys of accesses belong to a path.
    fn tracks(&self) -> bool {
        self.tracker.as_ref().is_some_and(|tracker| tracker.nesting == 0)
    }

    fn follow(&mut self, keys: impl IntoIterator<Item = Value>, value: &Value) {
        let Some(tracker) = &mut self.tracker else { return };
        if tracker.nesting != 0 {
            return;
        }
        let tracker = Rc::make_mut(tracker);
        for key in keys {
            tracker.keys = Some(Rc::new(PathKey { key, before: tracker.keys.take() }));
        }
        tracker.value = value.clone();
    }

    pub(super) fn field(&mut self, name: &Rc<str>, optional: bool) -> Step {
        let target = self.stack.pop();
        if self.tracker.is_none()
            && let Value::Object(fields) = &target
        {
            self.stack.push(fields.0.get(name).cloned().unwrap_or(Value::Null));
            return Step::Next;
        }
        self.access(&target, Value::String(name.clone()), optional)
    }

    pub(super) fn index(&mut self, optional: bool) -> Step {
        let target = self.stack.pop();
        let key = self.stack.pop();
        self.access(&target, key, optional)
    }

    fn access(&mut self, target: &Value, key: Value, optional: bool) -> Step {
        if !self.is_on_path(target) {
            let (key, target) = (shortened(&key, SHORT), shortened(target, LONG));
            let message = format!("Invalid path expression near attempt to access element {key} of {target}");
            return self.raise(message.into());
        }
        match access::get(target, &key) {
            Ok(value) => {
                if self.tracks() {
                    self.follow([key], &value);
                }
                self.stack.push(value);
                Step::Next
            }
            Err(_) if optional => Step::Back,
            Err(error) => self.raise(error),
        }
    }

    pub(super) fn each(&mut self, optional: bool) -> Step {
        let container = self.stack.pop();
        if !self.is_on_path(&container) {
            let shown = shortened(&container, LONG);
            let message = format!("Invalid path expression near attempt to iterate through {shown}");
            return self.raise(message.into());
        }
        let count = match &container {
            Value::Array(items) => items.0.len(),
            Value::Object(fields) => fields.0.len(),
            _ if optional => 0,
            other => {
                let (kind, shown) = (other.type_name(), shortened(other, SHORT));
                return self.raise(format!("Cannot iterate over {kind} ({shown})").into());
            }
        };
        if count == 0 {
            return Step::Back;
        }
        self.each_from(container, 0);
        Step::Next
    }

    /// Puts an element on the stack, with a fork for those after it.
    pub(super) fn each_from(&mut self, container: Value, index: usize) {
        let tracks = self.tracks();
        let (value, key, is_last) = match &container {
            Value::Array(items) => {
                let value = items.0.get(index).cloned().unwrap_or(Value::Null);
                (value, tracks.then(|| Value::from(index)), index + 1 >= items.0.len())
            }
            Value::Object(fields) => {
                let (name, value) = fields
                    .0
                    .get_index(index)
                    .map_or((None, Value::Null), |(name, value)| (Some(name.clone()), value.clone()));
                (value, name.filter(|_| tracks).map(Value::String), index + 1 >= fields.0.len())
            }
            _ => (Value::Null, None, true),
        };
        if !is_last {
            let resume = self.pc;
            self.fork(ForkKind::Each { container, next: index + 1, resume });
        }
        if let Some(key) = key {
            self.follow([key], &value);
        }
        self.stack.push(value);
    }

    pub(super) fn get_path(&mut self) -> Step {
        let target = self.stack.pop();
        let path = self.stack.pop();
        let value = match access::get_path(target.clone(), &path) {
            Ok(value) => value,
            Err(error) => return self.raise(error),
        };
        if self.tracks() && self.is_on_path(&target) {
            self.follow(path.into_array().unwrap_or_default(), &value);
        }
        self.stack.push(value);
        Step::Next
    }
}
