//! Runs compiled filters.
//!
//! The machine has a stack of values, frames with variables, and a list of forks: places to go back to for another output. Stack and
//! frames are linked lists that forks share, so going back costs nothing and recursion needs no stack of the process.

mod paths;
mod stack;

use std::rc::Rc;

use super::access;
use super::builtin::{self, Failure, Services};
use super::code::{Callee, Operation, Place, Program};
use super::print::shortened;
use super::value::Value;
use paths::PathTracker;
use stack::{Closure, Frame, Stack};

/// Operations between checks for cancellation.
const CHECK_INTERVAL: u32 = 2048;

/// A place to go back to.
struct Fork {
    kind: ForkKind,
    stack: Stack,
    frame: Rc<Frame>,
    tracker: Option<Rc<PathTracker>>,
}

/// The action when the machine goes back to a fork.
enum ForkKind {
    /// Go on at this operation, unless an error is raised.
    Branch(usize),
    /// The handler of `try`.
    Handler(usize),
    /// The end of the body of `try`: errors from here on are not for its handler.
    Protected,
    /// Go on with another pattern if an error was raised.
    Pattern(usize),
    /// Set a variable to null.
    Reset(Place),
    /// The next element.
    Each { container: Value, next: usize, resume: usize },
    /// The next number.
    Range { current: Place, end: f64, resume: usize },
    /// Nothing: only restores the state.
    Restore,
}

/// An error that is looking for its handler.
struct Raised {
    value: Value,
    /// How many `try` on the way are not to handle it.
    passed: usize,
}

/// Why a filter ended before its outputs did.
#[derive(Debug)]
pub(super) enum Ended {
    /// An error that no `try` handled.
    Error(Value),
    /// `halt`, cancellation, or an output error.
    Failure(Failure),
}

/// A filter that runs on one input.
pub(super) struct Machine<'p> {
    program: &'p Program,
    stack: Stack,
    frame: Rc<Frame>,
    forks: Vec<Fork>,
    tracker: Option<Rc<PathTracker>>,
    pc: usize,
    raised: Option<Raised>,
    labels: usize,
    countdown: u32,
    has_started: bool,
}

/// The result of an operation: go on, go back, or an output.
enum Step {
    Next,
    Back,
    Output(Value),
}

impl<'p> Machine<'p> {
    pub(super) fn new(program: &'p Program, input: Value) -> Self {
        let mut stack = Stack::default();
        stack.push(input);
        Self {
            program,
            stack,
            frame: Frame::outermost(program.codes[0].variables),
            forks: Vec::new(),
            tracker: None,
            pc: 0,
            raised: None,
            labels: 0,
            countdown: CHECK_INTERVAL,
            has_started: false,
        }
    }

    /// The next output. `None` if there are no more.
    pub(super) fn next(&mut self, services: &mut dyn Services) -> Result<Option<Value>, Ended> {
        if std::mem::replace(&mut self.has_started, true) && !self.back() {
            return self.finish();
        }
        loop {
            self.countdown -= 1;
            if self.countdown == 0 {
                self.countdown = CHECK_INTERVAL;
                services.check().map_err(Ended::Failure)?;
            }
            match self.step(services)? {
                Step::Next => {}
                Step::Output(value) => return Ok(Some(value)),
                Step::Back if self.back() => {}
                Step::Back => return self.finish(),
            }
        }
    }

    fn finish(&mut self) -> Result<Option<Value>, Ended> {
        match self.raised.take() {
            Some(raised) => Err(Ended::Error(raised.value)),
            None => Ok(None),
        }
    }

    fn fork(&mut self, kind: ForkKind) {
        let (stack, frame, tracker) = (self.stack.clone(), self.frame.clone(), self.tracker.clone());
        self.forks.push(Fork { kind, stack, frame, tracker });
    }

    /// Goes back to the last fork that has something to do. Returns whether there is one.
    fn back(&mut self) -> bool {
        while let Some(fork) = self.forks.pop() {
            self.stack = fork.stack;
            self.frame = fork.frame;
            self.tracker = fork.tracker;
            if self.resume(fork.kind) {
                return true;
            }
        }
        false
    }

    /// Takes up the work at a fork. Returns whether to go on from there.
    fn resume(&mut self, kind: ForkKind) -> bool {
        match kind {
            ForkKind::Branch(target) if self.raised.is_none() => {
                self.pc = target;
                true
            }
            ForkKind::Handler(target) => self.handle(target),
            ForkKind::Protected => {
                if let Some(raised) = &mut self.raised {
                    raised.passed += 1;
                }
                false
            }
            ForkKind::Pattern(target) if self.raised.take().is_some() => {
                self.pc = target;
                true
            }
            ForkKind::Reset(place) => {
                self.frame.store(place, Value::Null);
                false
            }
            ForkKind::Each { container, next, resume } if self.raised.is_none() => {
                self.pc = resume;
                self.each_from(container, next);
                true
            }
            ForkKind::Range { current, end, resume } if self.raised.is_none() => {
                self.pc = resume;
                self.range_from(current, end)
            }
            _ => false,
        }
    }

    fn handle(&mut self, target: usize) -> bool {
        let Some(raised) = &mut self.raised else { return false };
        if raised.passed > 0 {
            raised.passed -= 1;
            return false;
        }
        let error = self.raised.take().map_or(Value::Null, |raised| raised.value);
        self.stack.pop();
        self.stack.push(error);
        self.pc = target;
        true
    }

    fn raise(&mut self, value: Value) -> Step {
        self.raised = Some(Raised { value, passed: 0 });
        Step::Back
    }

    fn settle(&mut self, result: Result<Value, Value>) -> Step {
        match result {
            Ok(value) => {
                self.stack.push(value);
                Step::Next
            }
            Err(error) => self.raise(error),
        }
    }

    fn step(&mut self, services: &mut dyn Services) -> Result<Step, Ended> {
        let operation: &'p Operation = &self.program.codes[self.frame.code].operations[self.pc];
        self.pc += 1;
        Ok(match operation {
            Operation::Constant(value) => {
                self.stack.pop();
                self.stack.push(value.clone());
                Step::Next
            }
            Operation::Jump(target) => {
                self.pc = *target;
                Step::Next
            }
            Operation::JumpIfFalse(target) => {
                if !self.stack.top().is_true() {
                    self.pc = *target;
                }
                Step::Next
            }
            Operation::Backtrack => Step::Back,
            Operation::Field { name, optional } => self.field(name, *optional),
            Operation::Index { optional } => self.index(*optional),
            Operation::Each { optional } => self.each(*optional),
            Operation::Binary(operator) => {
                self.stack.pop();
                let left = self.stack.pop();
                let right = self.stack.pop();
                self.settle(builtin::binary(*operator, left, right))
            }
            Operation::Native { native, arguments } => return self.native(*native, *arguments, services),
            Operation::Call { callee, arguments } => {
                self.call(*callee, arguments);
                Step::Next
            }
            Operation::Return => self.return_value(),
            Operation::Raise(value) => self.raise(value.clone()),
            Operation::Negate => {
                let operand = self.stack.pop();
                self.settle(builtin::negate(&operand))
            }
            Operation::NewLabel(place) => {
                self.labels += 1;
                let label = Value::object([("__jq", Value::from(self.labels - 1))]);
                self.frame.store(*place, label);
                Step::Next
            }
            Operation::CatchLabel(place) => {
                let error = self.stack.pop();
                match error == self.frame.load(*place) {
                    true => Step::Back,
                    false => self.raise(error),
                }
            }
            _ => self.arrange(operation),
        })
    }

    /// Operations on the stack, variables and forks.
    fn arrange(&mut self, operation: &Operation) -> Step {
        match operation {
            Operation::PushUnder(value) => {
                let top = self.stack.pop();
                self.stack.push(value.clone());
                self.stack.push(top);
            }
            Operation::Duplicate => {
                let top = self.stack.top().clone();
                self.stack.push(top);
            }
            Operation::Pop => {
                self.stack.pop();
            }
            Operation::OperandBegin => {
                let top = self.stack.top().clone();
                self.stack.push(top);
                self.change_nesting(1);
            }
            Operation::OperandEnd => {
                self.change_nesting(-1);
                let output = self.stack.pop();
                let input = self.stack.pop();
                self.stack.push(output);
                self.stack.push(input);
            }
            Operation::Load(place) => {
                self.stack.pop();
                self.stack.push(self.frame.load(*place));
            }
            Operation::Take(place) => {
                self.stack.pop();
                self.stack.push(self.frame.replace(*place, Value::Null));
            }
            Operation::Store(place) => {
                let value = self.stack.pop();
                self.frame.store(*place, value);
            }
            Operation::StoreUntilBacktrack(place) => {
                self.fork(ForkKind::Reset(*place));
                let value = self.stack.pop();
                self.frame.store(*place, value);
            }
            Operation::Append(place) => {
                let value = self.stack.pop();
                self.frame.append(*place, value);
            }
            Operation::Fork(target) => self.fork(ForkKind::Branch(*target)),
            Operation::TryBegin(target) => self.fork(ForkKind::Handler(*target)),
            Operation::TryEnd => self.fork(ForkKind::Protected),
            Operation::AlternativePattern(target) => self.fork(ForkKind::Pattern(*target)),
            _ => return self.construct(operation),
        }
        Step::Next
    }

    fn construct(&mut self, operation: &Operation) -> Step {
        match operation {
            Operation::Insert => self.insert(),
            Operation::SliceKey => {
                let input = self.stack.pop();
                let (to, from) = (self.stack.pop(), self.stack.pop());
                self.stack.push(Value::object([("start", from), ("end", to)]));
                self.stack.push(input);
                Step::Next
            }
            Operation::GetPath => self.get_path(),
            Operation::Range(current) => {
                let end = self.stack.pop();
                match (self.frame.load(*current).as_number(), end.as_number()) {
                    (Some(_), Some(end)) if self.range_from(*current, end) => Step::Next,
                    (Some(_), Some(_)) => Step::Back,
                    _ => self.raise("Range bounds must be numeric".into()),
                }
            }
            Operation::PathBegin => {
                self.path_begin();
                Step::Next
            }
            Operation::PathEnd => self.path_end(),
            _ => Step::Next,
        }
    }

    /// Puts the current number of a range on the stack, unless the range has ended.
    fn range_from(&mut self, current: Place, end: f64) -> bool {
        let value = self.frame.load(current);
        let number = value.as_number().unwrap_or(f64::INFINITY);
        if number >= end {
            return false;
        }
        self.frame.store(current, Value::Number(number + 1.0));
        let resume = self.pc;
        self.fork(ForkKind::Range { current, end, resume });
        self.stack.push(value);
        true
    }

    fn insert(&mut self) -> Step {
        let top = self.stack.pop();
        let (value, key, target) = (self.stack.pop(), self.stack.pop(), self.stack.pop());
        match (key, target.into_object()) {
            (Value::String(name), Some(mut fields)) => {
                fields.insert(name, value);
                self.stack.push(fields.into());
                self.stack.push(top);
                Step::Next
            }
            (key, _) => {
                let (kind, shown) = (key.type_name(), shortened(&key, access::SHORT));
                self.raise(format!("Cannot use {kind} ({shown}) as object key").into())
            }
        }
    }

    fn native(
        &mut self,
        native: builtin::Native,
        count: usize,
        services: &mut dyn Services,
    ) -> Result<Step, Ended> {
        let input = self.stack.pop();
        let arguments: [Value; builtin::MAX_ARGUMENTS] =
            std::array::from_fn(|index| if index < count { self.stack.pop() } else { Value::Null });
        match native(services, input, arguments) {
            Ok(value) => {
                self.stack.push(value);
                Ok(Step::Next)
            }
            Err(Failure::Error(error)) => Ok(self.raise(error)),
            Err(failure) => Err(Ended::Failure(failure)),
        }
    }

    fn closure(&self, callee: Callee) -> Closure {
        match callee {
            Callee::Function { code, level } => Closure { code, outer: Frame::at_level(&self.frame, level) },
            Callee::Parameter(place) => self.frame.parameter(place),
        }
    }

    fn call(&mut self, callee: Callee, arguments: &[Callee]) {
        let closure = self.closure(callee);
        let parameters: Box<[Closure]> = arguments.iter().map(|argument| self.closure(*argument)).collect();
        let operations = &self.program.codes[self.frame.code].operations;
        let (resume, caller) = match returns_at(operations, self.pc) {
            true => (self.frame.resume, self.frame.caller.clone()),
            false => (self.pc, Some(self.frame.clone())),
        };
        let variables = self.program.codes[closure.code].variables;
        self.frame = Frame::of_call(closure, parameters, variables, resume, caller);
        self.pc = 0;
    }

    fn return_value(&mut self) -> Step {
        match self.frame.caller.clone() {
            Some(caller) => {
                self.pc = self.frame.resume;
                self.frame = caller;
                Step::Next
            }
            None => {
                let value = self.stack.pop();
                self.fork(ForkKind::Restore);
                Step::Output(value)
            }
        }
    }
}

/// Whether nothing happens from here to the end of a function, so that a call here can return to the caller.
fn returns_at(operations: &[Operation], mut at: usize) -> bool {
    loop {
        match operations.get(at) {
            Some(Operation::Return) => return true,
            Some(Operation::Jump(target)) if *target > at => at = *target,
            _ => return false,
        }
    }
}
