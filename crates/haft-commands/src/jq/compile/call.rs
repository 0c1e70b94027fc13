//! Calls of functions.

use std::rc::Rc;

use super::{Compiler, Name, Scope};
use crate::jq::builtin;
use crate::jq::code::{Callee, Code, Operation, Place};
use crate::jq::library;
use crate::jq::syntax::{Filter, Literal};

impl Compiler<'_> {
    pub(super) fn call(&mut self, name: &str, arguments: &[Filter], at: usize) {
        if let Some(callee) = self.find_callee(name, arguments.len()) {
            return self.call_function(callee, arguments);
        }
        if self.inlined(name, arguments) {
            return;
        }
        if let Some(native) = builtin::find(name, arguments.len()) {
            for argument in arguments.iter().rev() {
                self.operand(argument);
            }
            return self.emit(Operation::Native { native, arguments: arguments.len() });
        }
        match self.library_function(name, arguments.len()) {
            Some(callee) => self.call_function(callee, arguments),
            None => self.error(format!("{name}/{} is not defined", arguments.len()), at),
        }
    }

    /// A function or parameter that the filter defines.
    fn find_callee(&self, wanted: &str, count: usize) -> Option<Callee> {
        self.scopes.iter().rev().enumerate().find_map(|(level, scope)| {
            scope.names.iter().rev().find_map(|name| match name {
                Name::Function { name, arity, code } if *arity == count && name == wanted => {
                    Some(Callee::Function { code: *code, level })
                }
                Name::Parameter(name, slot) if count == 0 && name == wanted => {
                    Some(Callee::Parameter(Place { level, slot: *slot }))
                }
                _ => None,
            })
        })
    }

    /// A function of the library. It is compiled when it is used first.
    fn library_function(&mut self, name: &str, count: usize) -> Option<Callee> {
        let level = self.scopes.len() - 1;
        let key = (name.to_owned(), count);
        if let Some(code) = self.library.get(&key) {
            return Some(Callee::Function { code: *code, level });
        }
        let definition = library::find(name, count)?;
        let code = self.codes.len();
        self.codes.push(Code::default());
        self.library.insert(key, code);
        let scopes = std::mem::replace(&mut self.scopes, vec![Scope::default()]);
        self.function(code, definition);
        self.scopes = scopes;
        Some(Callee::Function { code, level })
    }

    fn call_function(&mut self, callee: Callee, arguments: &[Filter]) {
        let arguments: Rc<[Callee]> = arguments.iter().map(|argument| self.closure(argument)).collect();
        self.emit(Operation::Call { callee, arguments });
    }

    /// An argument of a function: a function without a name.
    fn closure(&mut self, filter: &Filter) -> Callee {
        if let Filter::Call { name, arguments, .. } = filter
            && arguments.is_empty()
            && let Some(callee) = self.find_callee(name, 0)
        {
            return callee;
        }
        let code = self.codes.len();
        self.codes.push(Code::default());
        self.scopes.push(Scope::default());
        self.filter(filter);
        self.codes[code] = self.end_scope();
        Callee::Function { code, level: 0 }
    }

    /// Functions that are compiled in place. Returns whether the call is one of them.
    fn inlined(&mut self, name: &str, arguments: &[Filter]) -> bool {
        match (name, arguments) {
            ("empty", []) => self.emit(Operation::Backtrack),
            ("not", []) => {
                let otherwise = self.emit_jump(Operation::JumpIfFalse);
                self.constant(false.into());
                let end = self.emit_jump(Operation::Jump);
                self.land(otherwise);
                self.constant(true.into());
                self.land(end);
            }
            ("path", [filter]) => {
                self.emit(Operation::PathBegin);
                self.filter(filter);
                self.emit(Operation::PathEnd);
            }
            ("range", [end]) => {
                let start = Filter::Literal(Literal::Number("0".to_owned()));
                self.range_of_one(&start, end);
            }
            ("range", [start, end]) => self.range(start, end),
            ("error", [message]) => {
                self.filter(message);
                self.filter(&Filter::call("error", Vec::new()));
            }
            ("map", [filter]) => {
                let each = Filter::Iterate { target: Box::new(Filter::Identity), optional: false };
                self.array(Some(&Filter::Pipe(Box::new(each), Box::new(filter.clone()))));
            }
            ("select", [condition]) => {
                let empty = Filter::call("empty", Vec::new());
                self.condition(condition, &Filter::Identity, Some(&empty));
            }
            ("getpath", [path]) => {
                self.operand(path);
                self.emit(Operation::GetPath);
            }
            ("sort_by" | "group_by" | "min_by" | "max_by" | "unique_by", [key]) => self.by_key(name, key),
            _ => return false,
        }
        true
    }

    /// `range(end)`, whose argument is a value.
    fn range_of_one(&mut self, start: &Filter, end: &Filter) {
        let limit = self.fresh();
        self.emit(Operation::Duplicate);
        self.emit(Operation::OperandBegin);
        self.filter(end);
        self.emit(Operation::OperandEnd);
        self.emit(Operation::Pop);
        self.emit(Operation::Store(limit));
        let name = format!(" limit{}", limit.slot);
        let known = self.scope().names.len();
        self.scope().names.push(Name::Variable(name.clone(), limit.slot));
        self.range(start, &Filter::Variable { name, at: 0 });
        self.scope().names.truncate(known);
    }

    fn range(&mut self, start: &Filter, end: &Filter) {
        let (first, current) = (self.fresh(), self.fresh());
        self.emit(Operation::Duplicate);
        self.filter(start);
        self.emit(Operation::Store(first));
        self.filter(end);
        self.emit(Operation::Duplicate);
        self.emit(Operation::Load(first));
        self.emit(Operation::Store(current));
        self.emit(Operation::Range(current));
    }

    /// Functions that compare elements by a key: the keys are the argument of a native function.
    fn by_key(&mut self, name: &str, key: &Filter) {
        let implementation = match name {
            "sort_by" => "_sort_by_impl",
            "group_by" => "_group_by_impl",
            "unique_by" => "_unique_by_impl",
            "min_by" => "_min_by_impl",
            _ => "_max_by_impl",
        };
        let keys = Filter::call("map", vec![Filter::Array(Some(Box::new(key.clone())))]);
        self.filter(&Filter::call(implementation, vec![keys]));
    }
}
