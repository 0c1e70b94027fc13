//! The stack of values, and frames.

use std::cell::RefCell;
use std::rc::Rc;

use crate::jq::code::{CodeId, Place};
use crate::jq::value::{Value, take_items};

/// A stack of values that copies share.
#[derive(Clone, Default)]
pub(super) struct Stack(Option<Rc<StackNode>>);

struct StackNode {
    value: Value,
    below: Stack,
}

impl Drop for Stack {
    fn drop(&mut self) {
        // Without recursion, since the stack can be long.
        let mut next = self.0.take();
        while let Some(node) = next {
            next = Rc::try_unwrap(node).ok().and_then(|mut node| node.below.0.take());
        }
    }
}

const NULL: Value = Value::Null;

impl Stack {
    pub(super) fn push(&mut self, value: Value) {
        let below = Self(self.0.take());
        self.0 = Some(Rc::new(StackNode { value, below }));
    }

    pub(super) fn pop(&mut self) -> Value {
        let Some(node) = self.0.take() else { return Value::Null };
        match Rc::try_unwrap(node) {
            Ok(mut node) => {
                self.0 = node.below.0.take();
                node.value
            }
            Err(node) => {
                self.0.clone_from(&node.below.0);
                node.value.clone()
            }
        }
    }

    pub(super) fn top(&self) -> &Value {
        self.0.as_ref().map_or(&NULL, |node| &node.value)
    }
}

/// A function, and the frame of the function that defines it.
#[derive(Clone)]
pub(super) struct Closure {
    pub(super) code: CodeId,
    pub(super) outer: Option<Rc<Frame>>,
}

/// A call that runs.
pub(super) struct Frame {
    pub(super) code: CodeId,
    outer: Option<Rc<Frame>>,
    parameters: Box<[Closure]>,
    variables: RefCell<Vec<Value>>,
    /// Where the caller goes on.
    pub(super) resume: usize,
    pub(super) caller: Option<Rc<Frame>>,
}

impl Drop for Frame {
    fn drop(&mut self) {
        // Without recursion, since chains of frames can be long.
        let mut pending: Vec<Rc<Self>> = self.links().collect();
        while let Some(frame) = pending.pop() {
            if let Ok(mut frame) = Rc::try_unwrap(frame) {
                pending.extend(frame.links());
            }
        }
    }
}

impl Frame {
    fn links(&mut self) -> impl Iterator<Item = Rc<Self>> {
        let parameters = std::mem::take(&mut self.parameters);
        let outer = parameters.into_iter().filter_map(|mut parameter| parameter.outer.take());
        outer.chain(self.outer.take()).chain(self.caller.take())
    }

    pub(super) fn outermost(variables: usize) -> Rc<Self> {
        Self::of_call(Closure { code: 0, outer: None }, Box::default(), variables, 0, None)
    }

    pub(super) fn of_call(
        closure: Closure,
        parameters: Box<[Closure]>,
        variables: usize,
        resume: usize,
        caller: Option<Rc<Self>>,
    ) -> Rc<Self> {
        let variables = RefCell::new(vec![Value::Null; variables]);
        Rc::new(Self { code: closure.code, outer: closure.outer, parameters, variables, resume, caller })
    }

    fn further_out(&self, level: usize) -> Option<&Self> {
        (0..level).try_fold(self, |frame, _| frame.outer.as_deref())
    }

    pub(super) fn at_level(frame: &Rc<Self>, level: usize) -> Option<Rc<Self>> {
        (0..level).try_fold(frame, |frame, _| frame.outer.as_ref()).cloned()
    }

    pub(super) fn parameter(&self, place: Place) -> Closure {
        let frame = self.further_out(place.level);
        let found = frame.and_then(|frame| frame.parameters.get(place.slot)).cloned();
        found.unwrap_or(Closure { code: 0, outer: None })
    }

    pub(super) fn load(&self, place: Place) -> Value {
        let Some(frame) = self.further_out(place.level) else { return Value::Null };
        frame.variables.borrow().get(place.slot).cloned().unwrap_or(Value::Null)
    }

    pub(super) fn replace(&self, place: Place, value: Value) -> Value {
        let Some(frame) = self.further_out(place.level) else { return Value::Null };
        match frame.variables.borrow_mut().get_mut(place.slot) {
            Some(slot) => std::mem::replace(slot, value),
            None => Value::Null,
        }
    }

    pub(super) fn store(&self, place: Place, value: Value) {
        drop(self.replace(place, value));
    }

    /// Appends to an array in a variable.
    pub(super) fn append(&self, place: Place, value: Value) {
        let Some(frame) = self.further_out(place.level) else { return };
        let mut variables = frame.variables.borrow_mut();
        let Some(Value::Array(items)) = variables.get_mut(place.slot) else { return };
        match Rc::get_mut(items) {
            Some(items) => items.0.push(value),
            None => {
                let mut copy = take_items(items.clone());
                copy.push(value);
                variables[place.slot] = copy.into();
            }
        }
    }
}
