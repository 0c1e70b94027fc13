//! The variables of a session, with dynamic scope.
//!
//! There is one table. When a function declares a local variable, the previous variable of that name is saved, and restored when the
//! function returns. Reading a variable is thus one lookup, however deep the calls are.

use std::collections::HashMap;
use std::sync::{Arc, OnceLock};

use foldhash::fast::RandomState;
use haft_process::Environment;
use haft_text::Bytes;

use super::{Attributes, Separators, Variable, VariableError, VariableValue};
use crate::shared::CopyOnWrite;

type VariableTable = HashMap<Bytes, Variable, RandomState>;

/// An upper bound for the arguments and the environment of a program. The limit of the system is a few megabytes.
pub(crate) const MAX_PROGRAM_BYTES: usize = 64 << 20;

/// The variables that a function call has saved, in the order of saving.
#[derive(Clone, Debug, Default)]
struct CallScope {
    saved: Vec<(Bytes, Option<Variable>)>,
    /// `local -`: the options to restore.
    options: Option<crate::options::ShellOptions>,
}

/// How long an assignment before the name of a builtin lasts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum AssignmentLifetime {
    /// As long as the builtin runs.
    Builtin,
    /// Longer if the builtin makes the variable exported, read-only or local.
    UnlessDeclared,
    /// It is permanent.
    Permanent,
}

/// The variables of a session. A clone is shared until one of the two changes.
#[derive(Clone, Debug, Default)]
pub struct Variables {
    table: CopyOnWrite<VariableTable>,
    scopes: CopyOnWrite<Vec<CallScope>>,
    /// Entries of the environment whose names are not valid for variables. They are passed on to programs unchanged.
    foreign: Arc<Vec<(Bytes, Bytes)>>,
    /// The cached environment of programs; invalidated when an exported variable changes.
    environment: Option<Arc<Environment>>,
    /// The cached field separators of `IFS`; invalidated when it may change.
    separators: OnceLock<Separators>,
}

impl Variables {
    /// Makes clones cheap, by sharing.
    pub(crate) fn share(&mut self) {
        self.table.share();
        self.scopes.share();
    }

    /// Returns the table for a change of this variable.
    #[inline]
    fn table_mut(&mut self, name: &[u8]) -> &mut VariableTable {
        self.touch(name);
        self.table.make_mut()
    }

    #[inline]
    fn touch(&mut self, name: &[u8]) {
        if name == b"IFS" {
            self.separators = OnceLock::new();
        }
    }

    /// Returns the field separators of `IFS`, if its value needs no computation.
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
            Some(variable) if variable.attributes.intersects(Attributes::INDIRECT) => return None,
            Some(variable) => Separators::new(Some(variable.as_scalar()?)),
        };
        Some(self.separators.get_or_init(|| separators))
    }

    /// Returns the variable of this name, without following namerefs or computing dynamic variables.
    #[must_use]
    #[inline]
    pub fn get(&self, name: &[u8]) -> Option<&Variable> {
        self.table.get(name)
    }

    /// Returns the variable of this name for modification. The caller must check for `READONLY` first.
    pub fn get_mut(&mut self, name: &[u8]) -> Option<&mut Variable> {
        self.touch(name);
        let variable = self.table.make_mut().get_mut(name)?;
        if variable.attributes.contains(Attributes::EXPORT) {
            self.environment = None;
        }
        Some(variable)
    }

    /// Returns the variable of this name for modification, unless it has one of the attributes. They must include `EXPORT`, so that the
    /// cached environment stays valid.
    #[inline]
    pub(crate) fn get_mut_without(&mut self, name: &[u8], attributes: Attributes) -> Option<&mut Variable> {
        debug_assert!(attributes.contains(Attributes::EXPORT));
        let variable = self.table_mut(name).get_mut(name)?;
        (!variable.attributes.intersects(attributes)).then_some(variable)
    }

    /// Replaces the visible variable of this name, in the same scope.
    pub fn insert(&mut self, name: &[u8], mut variable: Variable) {
        variable.depth = self.get(name).map_or(0, |old| old.depth);
        self.put(name.into(), variable);
    }

    /// Returns the variable of this name for modification. Creates an unset one if there is none.
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

    /// Iterates over all visible variables, in no particular order.
    pub fn iter(&self) -> impl Iterator<Item = (&Bytes, &Variable)> {
        self.table.iter()
    }

    /// Returns all visible variables, sorted by name.
    #[must_use]
    pub fn sorted(&self) -> Vec<(&Bytes, &Variable)> {
        let mut all: Vec<_> = self.table.iter().collect();
        all.sort_unstable_by_key(|(name, _)| *name);
        all
    }

    /// Returns the depth of function calls; 0 outside of functions.
    #[must_use]
    pub fn depth(&self) -> u32 {
        u32::try_from(self.scopes.len()).unwrap_or(u32::MAX)
    }

    /// Tells whether the visible variable of this name is local to the current function.
    #[must_use]
    pub fn is_local(&self, name: &[u8]) -> bool {
        self.depth() > 0 && self.get(name).is_some_and(|variable| variable.depth == self.depth())
    }

    /// Begins the scope of a function call.
    pub fn push_scope(&mut self) {
        self.scopes.make_mut().push(CallScope::default());
    }

    /// Ends the scope of the current function. Returns the options to restore if the function ran `local -`.
    pub fn pop_scope(&mut self) -> Option<crate::options::ShellOptions> {
        let scope = self.scopes.make_mut().pop()?;
        for (name, saved) in scope.saved.into_iter().rev() {
            let depth = saved.as_ref().map_or(0, |saved| saved.depth);
            match self.is_lasting(&name) {
                true => self.make_permanent(&name, depth),
                false => self.restore(name, saved),
            }
        }
        scope.options
    }

    /// Tells whether a variable that was assigned for one command is permanent.
    fn is_lasting(&self, name: &[u8]) -> bool {
        self.get(name).is_some_and(|variable| variable.is(Attributes::LASTING))
    }

    /// Makes a variable that was assigned for one command permanent, at this depth.
    fn make_permanent(&mut self, name: &[u8], depth: u32) {
        const TEMPORARY_ATTRIBUTES: Attributes =
            Attributes::TEMPORARY.union(Attributes::LENT).union(Attributes::LASTING);
        let variable = self.entry(name);
        variable.attributes = variable.attributes.without(TEMPORARY_ATTRIBUTES);
        variable.depth = depth;
    }

    /// Assigns a variable for as long as a builtin runs. Returns the previous variable.
    pub(crate) fn assign_temporarily(
        &mut self,
        name: &[u8],
        value: Bytes,
        lasts: AssignmentLifetime,
    ) -> Option<Variable> {
        let lent =
            if lasts == AssignmentLifetime::UnlessDeclared { Attributes::LENT } else { Attributes::NONE };
        self.swap(name, Some(Variable::scalar(value).with(Attributes::EXPORT.union(lent))))
    }

    /// Ends a temporary assignment: restores the previous variable, unless the assignment became permanent.
    pub(crate) fn end_temporary(&mut self, name: &[u8], old: Option<Variable>, lasts: AssignmentLifetime) {
        let depth = self.get(name).map_or(0, |variable| variable.depth);
        if lasts != AssignmentLifetime::Permanent && !self.is_lasting(name) {
            self.swap(name, old);
            return;
        }
        self.make_permanent(name, depth);
        if old.as_ref().is_some_and(|old| old.is(Attributes::TEMPORARY))
            && lasts == AssignmentLifetime::Permanent
        {
            // A function was called with its own assignment: the permanent one is for the variable of the caller.
            let value = self.get(name).map(|variable| variable.value.clone());
            let global = self.global(name);
            global.attributes = global.attributes.without(Attributes::UNSET);
            global.value = value.unwrap_or_else(|| global.value.clone());
        }
        let saved = self.scopes.make_mut().last_mut().map(|scope| &mut scope.saved);
        let is_lent =
            |variable: &Option<Variable>| variable.as_ref().is_some_and(|it| it.is(Attributes::LENT));
        if let Some((_, hidden)) = saved
            .and_then(|saved| saved.iter_mut().find(|(saved, hidden)| **saved == *name && is_lent(hidden)))
        {
            *hidden = old;
        }
    }

    /// Saves options, to be restored when the current function returns. Does nothing if options are saved already.
    pub fn save_options(&mut self, options: crate::options::ShellOptions) {
        if let Some(scope) = self.scopes.make_mut().last_mut() {
            scope.options.get_or_insert(options);
        }
    }

    /// Makes a variable local to the current function, and returns it for modification. A variable that is already local is unchanged.
    /// Outside of functions it is the global variable.
    pub fn localize(&mut self, name: &[u8]) -> &mut Variable {
        let depth = self.depth();
        if depth > 0 && !self.is_local(name) {
            let name = Bytes::from(name);
            let old = self.table_mut(&name).remove(&name);
            // A local variable inherits the export attribute.
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

    /// Returns the variable that a local variable of the current function hides.
    #[must_use]
    pub fn hidden(&self, name: &[u8]) -> Option<&Variable> {
        self.scopes.last()?.saved.iter().find(|(saved, _)| **saved == *name)?.1.as_ref()
    }

    /// Returns the global variable of this name, even if it is hidden. Creates it if there is none.
    pub fn global(&mut self, name: &[u8]) -> &mut Variable {
        self.environment = None;
        let hidden =
            self.scopes.iter().position(|scope| scope.saved.iter().any(|(saved, _)| **saved == *name));
        let Some(level) = hidden else { return self.entry(name) };
        let scope = &mut self.scopes.make_mut()[level];
        let at = scope.saved.iter().position(|(saved, _)| **saved == *name).unwrap_or_default();
        scope.saved[at].1.get_or_insert_with(|| Variable::unset(Attributes::NONE))
    }

    /// Unsets a variable. A local variable of the current function stays local, without a value. A variable of an outer function, or one
    /// assigned for this call, is removed and uncovers the variable it hid, unless `stay` keeps all of them local.
    ///
    /// # Errors
    /// If the variable is read-only.
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

    fn put(&mut self, name: Bytes, variable: Variable) {
        let table = self.table_mut(&name);
        let exported = variable.attributes.contains(Attributes::EXPORT);
        let old = table.insert(name, variable);
        if exported || old.is_some_and(|old| old.attributes.contains(Attributes::EXPORT)) {
            self.environment = None;
        }
    }

    fn restore(&mut self, name: Bytes, saved: Option<Variable>) {
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

    /// Returns the environment of programs: every exported variable that is set.
    pub fn environment(&mut self) -> Arc<Environment> {
        if let Some(environment) = &self.environment {
            return environment.clone();
        }
        let environment = Arc::new(self.build_environment());
        self.environment = Some(environment.clone());
        environment
    }

    /// Stores an entry of the environment whose name is not valid for a variable.
    pub(crate) fn keep_foreign(&mut self, name: &[u8], value: &[u8]) {
        self.environment = None;
        Arc::make_mut(&mut self.foreign).push((name.into(), value.into()));
    }

    /// Returns the variable that programs see under a name. A local variable that is not exported does not hide an exported one.
    fn exported<'a>(&'a self, name: &[u8], visible: &'a Variable) -> Option<&'a Variable> {
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
            if let Some(Variable { value: VariableValue::Scalar(value), .. }) = self.exported(name, visible) {
                total += name.len() + value.len();
                let _ = environment.set(haft_text::os_str(name), haft_text::os_str(value));
            }
            // The system would reject such an environment.
            if total > MAX_PROGRAM_BYTES {
                break;
            }
        }
        environment
    }
}

impl Variables {
    /// Replaces or removes a variable unconditionally. Returns the previous variable.
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
