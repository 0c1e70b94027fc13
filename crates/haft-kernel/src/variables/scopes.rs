//! The variables of a session, with dynamic scope.
//!
//! There is one table. A function call that declares a variable of its own puts what was in the table aside and
//! puts it back when it returns, so reading a variable is one look-up however deep the calls are.

use std::collections::HashMap;
use std::sync::{Arc, OnceLock};

use foldhash::fast::RandomState;
use haft_lang::ast::Text;
use haft_process::Environment;
use haft_text::Bytes;

use super::{Attributes, Value, Variable, VariableError};
use crate::expand::{INDIRECT, Separators};
use crate::shared::Shared;

type Table = HashMap<Text, Variable, RandomState>;

/// More bytes than the system gives to any program as arguments or environment: its own limit is a few megabytes.
pub(crate) const MOST_FOR_PROGRAM: usize = 64 << 20;

/// What a call has put aside, in the order in which it did.
#[derive(Clone, Debug, Default)]
struct Scope {
    saved: Vec<(Text, Option<Variable>)>,
    /// `local -`: the options to put back.
    options: Option<crate::options::Options>,
}

/// Whether what was assigned before the name of a builtin outlasts that.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Lasts {
    Never,
    /// If the builtin makes the variable exported, readonly or local.
    IfMadeTo,
    Always,
}

/// The table of variables. A clone is shared until one of the two changes.
#[derive(Clone, Debug, Default)]
pub struct Variables {
    table: Shared<Table>,
    scopes: Shared<Vec<Scope>>,
    /// What came in the environment under names that no variable can have: programs are handed it as it came.
    foreign: Arc<Vec<(Text, Text)>>,
    /// What programs are handed; forgotten whenever an exported variable changes.
    environment: Option<Arc<Environment>>,
    /// What `IFS` says, once somebody has asked; forgotten whenever it may change.
    separators: OnceLock<Separators>,
}

impl Variables {
    /// Makes a clone cost next to nothing.
    pub(crate) fn share(&mut self) {
        self.table.lend();
        self.scopes.lend();
    }

    /// The table, to change what it says of this name.
    #[inline]
    fn table_mut(&mut self, name: &[u8]) -> &mut Table {
        self.touch(name);
        self.table.make_mut()
    }

    #[inline]
    fn touch(&mut self, name: &[u8]) {
        if name == b"IFS" {
            self.separators = OnceLock::new();
        }
    }

    /// What `IFS` says, if its value is simply its value.
    #[inline]
    pub(crate) fn separators(&self) -> Option<&Separators> {
        match self.separators.get() {
            Some(separators) => Some(separators),
            None => self.find_separators(),
        }
    }

    #[cold]
    fn find_separators(&self) -> Option<&Separators> {
        let separators = match self.get(b"IFS") {
            None => Separators::new(None),
            Some(variable) if variable.attributes.intersects(INDIRECT) => return None,
            Some(variable) => Separators::new(Some(variable.as_scalar()?)),
        };
        Some(self.separators.get_or_init(|| separators))
    }

    /// The variable of this name as it is in the table: no reference is followed, nothing is computed.
    #[must_use]
    #[inline]
    pub fn get(&self, name: &[u8]) -> Option<&Variable> {
        self.table.get(name)
    }

    /// The variable of this name, to be changed in place. Whoever changes a value checks for `READONLY` first.
    pub fn get_mut(&mut self, name: &[u8]) -> Option<&mut Variable> {
        self.touch(name);
        let variable = self.table.make_mut().get_mut(name)?;
        if variable.attributes.contains(Attributes::EXPORT) {
            self.environment = None;
        }
        Some(variable)
    }

    /// The variable of this name unless it has one of some attributes, which must include `EXPORT`: then no environment
    /// has to be forgotten.
    #[inline]
    pub(crate) fn get_mut_without(&mut self, name: &[u8], attributes: Attributes) -> Option<&mut Variable> {
        debug_assert!(attributes.contains(Attributes::EXPORT));
        let variable = self.table_mut(name).get_mut(name)?;
        (!variable.attributes.intersects(attributes)).then_some(variable)
    }

    /// Puts a variable into the table, in place of the visible one of that name and with its scope.
    pub fn insert(&mut self, name: &[u8], mut variable: Variable) {
        variable.depth = self.get(name).map_or(0, |old| old.depth);
        self.put(name.into(), variable);
    }

    /// The variable of this name, made with an unset one if there is none, to be changed in place.
    pub fn entry(&mut self, name: &[u8]) -> &mut Variable {
        self.environment = None;
        let table = self.table_mut(name);
        if !table.contains_key(name) {
            table.insert(name.into(), Variable::unset(Attributes::NONE));
        }
        table.entry(name.into()).or_insert_with(|| Variable::unset(Attributes::NONE))
    }

    /// Changes the attributes of a variable.
    pub fn set_attributes(&mut self, name: &[u8], attributes: Attributes) {
        self.environment = None;
        if let Some(variable) = self.table_mut(name).get_mut(name) {
            variable.attributes = attributes;
        }
    }

    /// All variables of the table, in no particular order.
    pub fn iter(&self) -> impl Iterator<Item = (&Text, &Variable)> {
        self.table.iter()
    }

    /// All variables, sorted by name.
    #[must_use]
    pub fn sorted(&self) -> Vec<(&Text, &Variable)> {
        let mut all: Vec<_> = self.table.iter().collect();
        all.sort_unstable_by_key(|(name, _)| *name);
        all
    }

    /// How deep the function calls are: 0 outside of any.
    #[must_use]
    pub fn depth(&self) -> u32 {
        u32::try_from(self.scopes.len()).unwrap_or(u32::MAX)
    }

    /// Whether the visible variable of this name is local to the innermost call.
    #[must_use]
    pub fn is_local(&self, name: &[u8]) -> bool {
        self.depth() > 0 && self.get(name).is_some_and(|variable| variable.depth == self.depth())
    }

    /// Begins the scope of a call.
    pub fn push_scope(&mut self) {
        self.scopes.make_mut().push(Scope::default());
    }

    /// Ends the scope of the innermost call; yields the options to put back if it had `local -`.
    pub fn pop_scope(&mut self) -> Option<crate::options::Options> {
        let scope = self.scopes.make_mut().pop()?;
        for (name, saved) in scope.saved.into_iter().rev() {
            let depth = saved.as_ref().map_or(0, |saved| saved.depth);
            match self.is_lasting(&name) {
                true => self.settle(&name, depth),
                false => self.restore(name, saved),
            }
        }
        scope.options
    }

    /// Whether a variable that was assigned for one command is to stay.
    fn is_lasting(&self, name: &[u8]) -> bool {
        self.get(name).is_some_and(|variable| variable.is(Attributes::LASTING))
    }

    /// Makes a variable that was assigned for one command one like any other, of this depth.
    fn settle(&mut self, name: &[u8], depth: u32) {
        const PASSING: Attributes = Attributes::TEMPORARY.union(Attributes::LENT).union(Attributes::LASTING);
        let variable = self.entry(name);
        variable.attributes = variable.attributes.without(PASSING);
        variable.depth = depth;
    }

    /// Assigns a variable for as long as a builtin runs; yields what was there.
    pub(crate) fn lend(&mut self, name: &[u8], value: Bytes, lasts: Lasts) -> Option<Variable> {
        let lent = if lasts == Lasts::IfMadeTo { Attributes::LENT } else { Attributes::NONE };
        self.swap(name, Some(Variable::scalar(value).with(Attributes::EXPORT.union(lent))))
    }

    /// Ends that: what was there is there again, unless the variable is to stay.
    pub(crate) fn take_back(&mut self, name: &[u8], old: Option<Variable>, lasts: Lasts) {
        let depth = self.get(name).map_or(0, |variable| variable.depth);
        if lasts != Lasts::Always && !self.is_lasting(name) {
            self.swap(name, old);
            return;
        }
        self.settle(name, depth);
        let saved = self.scopes.make_mut().last_mut().map(|scope| &mut scope.saved);
        let is_lent =
            |variable: &Option<Variable>| variable.as_ref().is_some_and(|it| it.is(Attributes::LENT));
        if let Some((_, hidden)) = saved
            .and_then(|saved| saved.iter_mut().find(|(saved, hidden)| **saved == *name && is_lent(hidden)))
        {
            *hidden = old;
        }
    }

    /// Keeps options to be put back when the innermost call ends, unless some are kept already.
    pub fn keep_options(&mut self, options: crate::options::Options) {
        if let Some(scope) = self.scopes.make_mut().last_mut() {
            scope.options.get_or_insert(options);
        }
    }

    /// Makes a variable local to the innermost call and yields it to be given a value; one that is local already
    /// stays as it is. Outside of calls it is the global one.
    pub fn localize(&mut self, name: &[u8]) -> &mut Variable {
        let depth = self.depth();
        if depth > 0 && !self.is_local(name) {
            let name = Text::from(name);
            let old = self.table_mut(&name).remove(&name);
            // What hides an exported variable is exported as well.
            let exported = old.as_ref().is_some_and(|old| old.is(Attributes::EXPORT));
            let exported = if exported { Attributes::EXPORT } else { Attributes::NONE };
            if let Some(scope) = self.scopes.make_mut().last_mut() {
                scope.saved.push((name.clone(), old));
            }
            let fresh = Variable { depth, ..Variable::unset(exported) };
            self.table_mut(&name).insert(name, fresh);
        }
        let variable = self.entry(name);
        variable.attributes = variable.attributes.without(Attributes::TEMPORARY);
        variable
    }

    /// The variable that the innermost call's local one of this name hides.
    #[must_use]
    pub fn hidden(&self, name: &[u8]) -> Option<&Variable> {
        self.scopes.last()?.saved.iter().find(|(saved, _)| **saved == *name)?.1.as_ref()
    }

    /// The global variable of this name, whatever hides it; made if there is none.
    pub fn global(&mut self, name: &[u8]) -> &mut Variable {
        self.environment = None;
        let hidden =
            self.scopes.iter().position(|scope| scope.saved.iter().any(|(saved, _)| **saved == *name));
        let Some(level) = hidden else { return self.entry(name) };
        let scope = &mut self.scopes.make_mut()[level];
        let at = scope.saved.iter().position(|(saved, _)| **saved == *name).unwrap_or_default();
        scope.saved[at].1.get_or_insert_with(|| Variable::unset(Attributes::NONE))
    }

    /// Removes a variable as `unset` does: one of the innermost call stays local, without a value; one of an outer
    /// call, or one assigned for this call, goes, and what it hid shows again, unless all local ones shall stay so.
    ///
    /// # Errors
    /// If it is readonly.
    pub fn unset(&mut self, name: &[u8], stay: bool) -> Result<(), VariableError> {
        let Some(variable) = self.get(name) else { return Ok(()) };
        if variable.attributes.contains(Attributes::READONLY) {
            return Err(VariableError::Readonly(name.into()));
        }
        let (depth, current) = (variable.depth, self.depth());
        if depth > 0 && (depth == current || stay) && !variable.attributes.contains(Attributes::TEMPORARY) {
            self.put(name.into(), Variable { depth, ..Variable::unset(Attributes::NONE) });
            return Ok(());
        }
        let hidden = self.take_saved(depth, name);
        self.restore(name.into(), hidden);
        Ok(())
    }

    fn take_saved(&mut self, depth: u32, name: &[u8]) -> Option<Variable> {
        let level = usize::try_from(depth).ok()?.checked_sub(1)?;
        let scope = self.scopes.make_mut().get_mut(level)?;
        let at = scope.saved.iter().position(|(saved, _)| **saved == *name)?;
        scope.saved.remove(at).1
    }

    fn put(&mut self, name: Text, variable: Variable) {
        let table = self.table_mut(&name);
        let exported = variable.attributes.contains(Attributes::EXPORT);
        let old = table.insert(name, variable);
        if exported || old.is_some_and(|old| old.attributes.contains(Attributes::EXPORT)) {
            self.environment = None;
        }
    }

    fn restore(&mut self, name: Text, saved: Option<Variable>) {
        match saved {
            Some(variable) => self.put(name, variable),
            None => {
                let old = self.table_mut(&name).remove(&name);
                if old.is_some_and(|old| old.attributes.contains(Attributes::EXPORT)) {
                    self.environment = None;
                }
            }
        }
    }

    /// The environment for programs: every exported variable that has a value.
    pub fn environment(&mut self) -> Arc<Environment> {
        if let Some(environment) = &self.environment {
            return environment.clone();
        }
        let environment = Arc::new(self.build_environment());
        self.environment = Some(environment.clone());
        environment
    }

    /// Keeps what came in the environment under a name that no variable can have.
    pub(crate) fn keep_foreign(&mut self, name: &[u8], value: &[u8]) {
        self.environment = None;
        Arc::make_mut(&mut self.foreign).push((name.into(), value.into()));
    }

    /// The variable whose value programs see under a name: a local one that is not for them hides nothing from them.
    fn handed<'a>(&'a self, name: &[u8], visible: &'a Variable) -> Option<&'a Variable> {
        let is_handed = |variable: &&Variable| variable.is(Attributes::EXPORT) && variable.is_set();
        if visible.depth == 0 || is_handed(&visible) {
            return Some(visible).filter(is_handed);
        }
        let saved = self.scopes.iter().rev().flat_map(|scope| &scope.saved);
        saved
            .filter(|(saved, _)| **saved == *name)
            .find_map(|(_, variable)| variable.as_ref().filter(is_handed))
    }

    fn build_environment(&self) -> Environment {
        let mut environment = Environment::new();
        let mut total = 0;
        for (name, value) in self.foreign.iter() {
            let _ = environment.set(haft_text::os_str(name), haft_text::os_str(value));
        }
        for (name, visible) in self.sorted() {
            if let Some(Variable { value: Value::Scalar(value), .. }) = self.handed(name, visible) {
                total += name.len() + value.len();
                let _ = environment.set(haft_text::os_str(name), haft_text::os_str(value));
            }
            // The system refuses such an environment in any case.
            if total > MOST_FOR_PROGRAM {
                break;
            }
        }
        environment
    }
}

impl Variables {
    /// Puts a variable, or nothing, in the place of another, whatever it is; yields what was there.
    pub(crate) fn swap(&mut self, name: &[u8], variable: Option<Variable>) -> Option<Variable> {
        self.environment = None;
        let table = self.table_mut(name);
        match variable {
            Some(mut variable) => {
                if let Some(old) = table.get_mut(name) {
                    variable.depth = if variable.depth == 0 { old.depth } else { variable.depth };
                    return Some(std::mem::replace(old, variable));
                }
                table.insert(name.into(), variable)
            }
            None => table.remove(name),
        }
    }
}
