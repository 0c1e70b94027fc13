//! Compiles filters.

mod bindings;
mod call;

use std::collections::HashMap;
use std::rc::Rc;

use super::builtin::binary;
use super::code::{Code, CodeId, Operation, Place, Program};
use super::number::parse_number;
use super::parser::SAME_KEY;
use super::syntax::{BinaryOperator, Definition, Filter, FilterError, Literal, TemplatePart};
use super::value::{Fields, Value};

/// The most errors that are reported.
const MAX_ERRORS: usize = 20;

/// Something that a name means.
#[derive(Debug)]
enum Name {
    Variable(String, usize),
    Label(String, usize),
    Function { name: String, arity: usize, code: CodeId },
    Parameter(String, usize),
}

/// A function that is being compiled.
#[derive(Debug, Default)]
struct Scope {
    code: Code,
    names: Vec<Name>,
}

/// Compiles a filter. `globals` are variables that the command line sets.
pub(super) fn compile(filter: &Filter, globals: &Fields) -> Result<Program, Vec<FilterError>> {
    let mut compiler = Compiler {
        codes: vec![Code::default()],
        scopes: vec![Scope::default()],
        library: HashMap::new(),
        globals,
        errors: Vec::new(),
    };
    compiler.filter(filter);
    let main = compiler.end_scope();
    compiler.codes[0] = main;
    match compiler.errors.is_empty() {
        true => Ok(Program { codes: compiler.codes }),
        false => Err(compiler.errors),
    }
}

struct Compiler<'a> {
    codes: Vec<Code>,
    /// The functions that are being compiled, from the outside in. The first is the filter itself.
    scopes: Vec<Scope>,
    /// Functions of the library that are in use.
    library: HashMap<(String, usize), CodeId>,
    globals: &'a Fields,
    errors: Vec<FilterError>,
}

/// The value of a constant.
fn literal_value(literal: &Literal) -> Value {
    match literal {
        Literal::Null => Value::Null,
        Literal::Bool(value) => Value::Bool(*value),
        Literal::Number(text) => parse_number(text.as_bytes()).unwrap_or(Value::Null),
        Literal::Text(text) => Value::from(text.as_str()),
    }
}

impl Compiler<'_> {
    fn scope(&mut self) -> &mut Scope {
        let last = self.scopes.len() - 1;
        &mut self.scopes[last]
    }

    fn emit(&mut self, operation: Operation) {
        self.scope().code.operations.push(operation);
    }

    /// The place of the next operation.
    fn here(&mut self) -> usize {
        self.scope().code.operations.len()
    }

    /// Emits an operation whose target is set later.
    fn emit_jump(&mut self, make: fn(usize) -> Operation) -> (usize, fn(usize) -> Operation) {
        let at = self.here();
        self.emit(make(0));
        (at, make)
    }

    /// Sets the target of a jump to the next operation.
    fn land(&mut self, (at, make): (usize, fn(usize) -> Operation)) {
        let here = self.here();
        self.scope().code.operations[at] = make(here);
    }

    fn error(&mut self, message: impl Into<String>, at: usize) {
        if self.errors.len() < MAX_ERRORS {
            self.errors.push(FilterError { message: message.into(), at });
        }
    }

    /// A new variable of the current function.
    fn fresh(&mut self) -> Place {
        let code = &mut self.scope().code;
        code.variables += 1;
        Place { level: 0, slot: code.variables - 1 }
    }

    fn end_scope(&mut self) -> Code {
        self.emit(Operation::Return);
        self.scopes.pop().unwrap_or_default().code
    }

    fn constant(&mut self, value: Value) {
        self.emit(Operation::Constant(value));
    }

    /// A filter whose output is an operand of what follows.
    fn operand(&mut self, filter: &Filter) {
        if let Some(literal) = filter.as_literal() {
            return self.emit(Operation::PushUnder(literal_value(literal)));
        }
        self.emit(Operation::OperandBegin);
        self.filter(filter);
        self.emit(Operation::OperandEnd);
    }

    fn filter(&mut self, filter: &Filter) {
        match filter {
            Filter::Identity => {}
            Filter::Literal(literal) => self.constant(literal_value(literal)),
            Filter::Index { target, key, optional } => self.index(target, key, *optional),
            Filter::Slice { target, from, to, optional } => {
                for bound in [from, to] {
                    match bound {
                        Some(bound) => self.operand(bound),
                        None => self.emit(Operation::PushUnder(Value::Null)),
                    }
                }
                self.emit(Operation::SliceKey);
                self.filter(target);
                self.emit(Operation::Index { optional: *optional });
            }
            Filter::Iterate { target, optional } => {
                self.filter(target);
                self.emit(Operation::Each { optional: *optional });
            }
            Filter::Array(items) => self.array(items.as_deref()),
            Filter::Object(members) => self.object(members),
            Filter::Location(line) => {
                self.constant(Value::object([("file", "<top-level>".into()), ("line", Value::from(*line))]));
            }
            Filter::Pipe(first, second) => {
                self.filter(first);
                self.filter(second);
            }
            Filter::Comma(first, second) => {
                let fork = self.emit_jump(Operation::Fork);
                self.filter(first);
                let end = self.emit_jump(Operation::Jump);
                self.land(fork);
                self.filter(second);
                self.land(end);
            }
            Filter::Negate(operand) => {
                self.filter(operand);
                self.emit(Operation::Negate);
            }
            Filter::If { condition, then, otherwise } => {
                self.condition(condition, then, otherwise.as_deref());
            }
            Filter::Try { body, catch } => self.try_filter(body, catch.as_deref()),
            Filter::Define { definition, body } => {
                let known = self.scope().names.len();
                self.define(definition);
                self.filter(body);
                self.scope().names.truncate(known);
            }
            _ => self.operation(filter),
        }
    }

    fn operation(&mut self, filter: &Filter) {
        match filter {
            Filter::Format(name) => {
                self.filter(&Filter::call("format", vec![Filter::text(name)]));
            }
            Filter::Template { format, parts } => self.template(format, parts),
            Filter::Binary(operator, left, right) => self.binary(*operator, left, right),
            Filter::And(left, right) => self.logical(left, right, false),
            Filter::Or(left, right) => self.logical(left, right, true),
            Filter::Alternative(left, right) => self.alternative(left, right),
            Filter::Assign(target, value) => {
                self.filter(&Filter::call("_assign", vec![(**target).clone(), (**value).clone()]));
            }
            Filter::Update(target, update) => {
                self.filter(&Filter::call("_modify", vec![(**target).clone(), (**update).clone()]));
            }
            Filter::UpdateWith(operator, target, value) => {
                self.update_with(target, value, |old, new| Filter::Binary(*operator, old, new));
            }
            Filter::UpdateAlternative(target, value) => self.update_with(target, value, Filter::Alternative),
            _ => self.binding(filter),
        }
    }

    fn index(&mut self, target: &Filter, key: &Filter, optional: bool) {
        if let Some(Literal::Text(name)) = key.as_literal() {
            self.filter(target);
            let name = Rc::from(name.as_str());
            return self.emit(Operation::Field { name, optional });
        }
        self.operand(key);
        self.filter(target);
        self.emit(Operation::Index { optional });
    }

    fn array(&mut self, items: Option<&Filter>) {
        let Some(items) = items else { return self.constant(Vec::new().into()) };
        let collected = self.fresh();
        self.emit(Operation::Duplicate);
        self.constant(Vec::new().into());
        self.emit(Operation::Store(collected));
        let fork = self.emit_jump(Operation::Fork);
        self.filter(items);
        self.emit(Operation::Append(collected));
        self.emit(Operation::Backtrack);
        self.land(fork);
        self.emit(Operation::Take(collected));
    }

    fn object(&mut self, members: &[(Filter, Filter)]) {
        self.emit(Operation::PushUnder(Fields::default().into()));
        for (key, value) in members {
            let names_key = matches!(value, Filter::Index { key, .. } if matches!(&**key, Filter::Variable { name, .. } if name == SAME_KEY));
            if !names_key {
                self.operand(key);
                self.operand(value);
                self.emit(Operation::Insert);
                continue;
            }
            let place = self.fresh();
            let known = self.scope().names.len();
            self.emit(Operation::OperandBegin);
            self.filter(key);
            self.emit(Operation::Duplicate);
            self.emit(Operation::Store(place));
            self.emit(Operation::OperandEnd);
            self.scope().names.push(Name::Variable(SAME_KEY.to_owned(), place.slot));
            self.operand(value);
            self.scope().names.truncate(known);
            self.emit(Operation::Insert);
        }
        self.emit(Operation::Pop);
    }

    /// A string with interpolations: a sum that starts with an empty string.
    fn template(&mut self, format: &str, parts: &[TemplatePart]) {
        let Some((last, before)) = parts.split_last() else { return self.constant("".into()) };
        match last {
            TemplatePart::Text(text) => self.emit(Operation::PushUnder(text.as_str().into())),
            TemplatePart::Filter(filter) => {
                self.emit(Operation::OperandBegin);
                self.filter(filter);
                self.filter(&Filter::call("format", vec![Filter::text(format)]));
                self.emit(Operation::OperandEnd);
            }
        }
        self.emit(Operation::OperandBegin);
        self.template(format, before);
        self.emit(Operation::OperandEnd);
        self.emit(Operation::Binary(BinaryOperator::Add));
    }

    fn binary(&mut self, operator: BinaryOperator, left: &Filter, right: &Filter) {
        if let (Some(left), Some(right)) = (left.as_literal(), right.as_literal()) {
            return match binary(operator, literal_value(left), literal_value(right)) {
                Ok(value) => self.constant(value),
                Err(error) => self.emit(Operation::Raise(error)),
            };
        }
        self.operand(right);
        self.operand(left);
        self.emit(Operation::Binary(operator));
    }

    /// `and`, or `or` if `decisive` is true.
    fn logical(&mut self, left: &Filter, right: &Filter, decisive: bool) {
        self.emit(Operation::Duplicate);
        self.filter(left);
        let otherwise = self.emit_jump(Operation::JumpIfFalse);
        self.logical_branch(right, decisive, decisive);
        let end = self.emit_jump(Operation::Jump);
        self.land(otherwise);
        self.logical_branch(right, !decisive, decisive);
        self.land(end);
    }

    fn logical_branch(&mut self, right: &Filter, is_decided: bool, decisive: bool) {
        self.emit(Operation::Pop);
        if is_decided {
            return self.constant(decisive.into());
        }
        self.filter(right);
        let otherwise = self.emit_jump(Operation::JumpIfFalse);
        self.constant(true.into());
        let end = self.emit_jump(Operation::Jump);
        self.land(otherwise);
        self.constant(false.into());
        self.land(end);
    }

    fn alternative(&mut self, left: &Filter, right: &Filter) {
        let found = self.fresh();
        self.emit(Operation::Duplicate);
        self.constant(false.into());
        self.emit(Operation::Store(found));
        let exhausted = self.emit_jump(Operation::Fork);
        self.filter(left);
        let is_false = self.emit_jump(Operation::JumpIfFalse);
        self.emit(Operation::Duplicate);
        self.constant(true.into());
        self.emit(Operation::Store(found));
        let end = self.emit_jump(Operation::Jump);
        self.land(is_false);
        self.emit(Operation::Backtrack);
        self.land(exhausted);
        self.emit(Operation::Duplicate);
        self.emit(Operation::Load(found));
        let not_found = self.emit_jump(Operation::JumpIfFalse);
        self.emit(Operation::Backtrack);
        self.land(not_found);
        self.emit(Operation::Pop);
        self.filter(right);
        self.land(end);
    }

    fn update_with(
        &mut self,
        target: &Filter,
        value: &Filter,
        combine: impl FnOnce(Box<Filter>, Box<Filter>) -> Filter,
    ) {
        let place = self.fresh();
        let name = format!(" update{}", place.slot);
        self.emit(Operation::Duplicate);
        self.filter(value);
        self.emit(Operation::Store(place));
        let known = self.scope().names.len();
        self.scope().names.push(Name::Variable(name.clone(), place.slot));
        let new = Box::new(Filter::Variable { name, at: 0 });
        let update = combine(Box::new(Filter::Identity), new);
        self.filter(&Filter::call("_modify", vec![target.clone(), update]));
        self.scope().names.truncate(known);
    }

    fn condition(&mut self, condition: &Filter, then: &Filter, otherwise: Option<&Filter>) {
        self.emit(Operation::Duplicate);
        self.emit(Operation::OperandBegin);
        self.filter(condition);
        self.emit(Operation::OperandEnd);
        self.emit(Operation::Pop);
        let jump = self.emit_jump(Operation::JumpIfFalse);
        self.emit(Operation::Pop);
        self.filter(then);
        let end = self.emit_jump(Operation::Jump);
        self.land(jump);
        self.emit(Operation::Pop);
        if let Some(otherwise) = otherwise {
            self.filter(otherwise);
        }
        self.land(end);
    }

    fn try_filter(&mut self, body: &Filter, catch: Option<&Filter>) {
        let handler = self.emit_jump(Operation::TryBegin);
        self.filter(body);
        self.emit(Operation::TryEnd);
        let end = self.emit_jump(Operation::Jump);
        self.land(handler);
        match catch {
            Some(catch) => self.filter(catch),
            None => self.emit(Operation::Backtrack),
        }
        self.land(end);
    }

    /// Compiles a definition in the current scope, and makes its name known.
    fn define(&mut self, definition: &Definition) {
        let code = self.codes.len();
        self.codes.push(Code::default());
        let arity = definition.parameters.len();
        let name = definition.name.clone();
        self.scope().names.push(Name::Function { name, arity, code });
        self.function(code, definition);
    }

    fn function(&mut self, code: CodeId, definition: &Definition) {
        let mut scope = Scope::default();
        for (index, parameter) in definition.parameters.iter().enumerate() {
            let name = parameter.strip_prefix('$').unwrap_or(parameter);
            scope.names.push(Name::Parameter(name.to_owned(), index));
        }
        self.scopes.push(scope);
        for parameter in &definition.parameters {
            let Some(name) = parameter.strip_prefix('$') else { continue };
            let place = self.fresh();
            self.emit(Operation::Duplicate);
            self.emit(Operation::OperandBegin);
            self.filter(&Filter::call(name, Vec::new()));
            self.emit(Operation::OperandEnd);
            self.emit(Operation::Pop);
            self.emit(Operation::Store(place));
            self.scope().names.push(Name::Variable(name.to_owned(), place.slot));
        }
        self.filter(&definition.body);
        self.codes[code] = self.end_scope();
    }
}
