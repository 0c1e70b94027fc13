//! Assigning variables: follows name references and applies attributes.

use std::sync::Arc;

use haft_text::Bytes;

use crate::discard::discard;
use crate::options::SetOption;
use crate::session::Session;
use crate::session::lookup::{VariableTarget, split_reference};
use crate::variables::{
    Assigned, AssignedElement, AssignedValue, AssociativeArray, Attributes, IndexedArray, Variable,
    VariableError, VariableValue, is_name,
};

/// Attributes that make an assignment more than storing a value.
const SPECIAL: Attributes = Attributes::READONLY
    .union(Attributes::INTEGER)
    .union(Attributes::LOWER)
    .union(Attributes::UPPER)
    .union(Attributes::CAPITAL)
    .union(Attributes::NAMEREF)
    .union(Attributes::DYNAMIC)
    .union(Attributes::EXPORT);

impl Session {
    /// `name=value`.
    ///
    /// # Errors
    /// If the variable cannot take the value.
    pub fn set(&mut self, name: &[u8], value: impl Into<Bytes>) -> Result<(), VariableError> {
        self.assign(name, value.into(), false)
    }

    /// `name=value`, or `name+=value` if `append`.
    ///
    /// # Errors
    /// If the variable cannot take the value.
    pub fn assign(&mut self, name: &[u8], value: Bytes, append: bool) -> Result<(), VariableError> {
        self.memory.note_growth(value.len());
        if let Some(variable) = self.plain_mut(name)
            && let VariableValue::Scalar(old) = &mut variable.value
        {
            match append && !variable.attributes.contains(Attributes::UNSET) {
                true => old.push(&value),
                false => *old = value,
            }
            variable.attributes = variable.attributes.without(Attributes::UNSET);
            return Ok(());
        }
        let target = self.target(name)?;
        match target.subscript {
            Some(subscript) => self.assign_element(&target.name, &subscript, value, append),
            None => self.assign_whole(&target.name, value, append),
        }
    }

    /// The variable of this name, if assigning to it is only storing a value.
    #[inline]
    pub(crate) fn plain_mut(&mut self, name: &[u8]) -> Option<&mut Variable> {
        if self.options.has(SetOption::AllExport) || has_effect(name) {
            return None;
        }
        self.variables.get_mut_without(name, SPECIAL)
    }

    /// The variable to assign to. A circular name reference is an error.
    fn target(&self, name: &[u8]) -> Result<VariableTarget, VariableError> {
        let target = self.follow(name)?;
        let reference =
            self.variables.get(&target.name).is_some_and(|variable| variable.is(Attributes::NAMEREF));
        if target.subscript.is_none() && !reference && !is_name(&target.name) {
            return Err(VariableError::InvalidName(target.name));
        }
        Ok(target)
    }

    fn assign_whole(&mut self, name: &[u8], value: Bytes, append: bool) -> Result<(), VariableError> {
        self.make_ordinary(name);
        let attributes = self.variables.get(name).map_or(Attributes::NONE, |variable| variable.attributes);
        self.check_assignable(name, attributes)?;
        if name == b"OPTIND" {
            // Assigning `OPTIND` makes `getopts` start over, also within an argument.
            self.parameters.reset_getopts();
        }
        if attributes.contains(Attributes::DYNAMIC) {
            self.assign_computed(name, &value);
            return Ok(());
        }
        if attributes.contains(Attributes::NAMEREF) && !is_name(&value) && split_reference(&value).is_none() {
            return Err(VariableError::InvalidReference(value));
        }
        let value =
            self.convert(name, attributes, value, append, |variable| variable.as_scalar().cloned())?;
        let variable = self.variables.entry(name);
        variable.attributes = variable.attributes.without(Attributes::UNSET);
        match &mut variable.value {
            VariableValue::Scalar(old) => *old = value,
            VariableValue::Indexed(array) => Arc::make_mut(array).set(0, value),
            VariableValue::Associative(array) => Arc::make_mut(array).set("0".into(), value),
        }
        self.mark_exported(name);
        self.follow_assignment(name);
        Ok(())
    }

    /// Makes `COMP_WORDBREAKS` an ordinary variable. It has its default value only if that was used before.
    fn make_ordinary(&mut self, name: &[u8]) {
        if name == b"COMP_WORDBREAKS"
            && let Some(variable) = self.variables.get(name)
            && variable.is(Attributes::DYNAMIC)
        {
            let value = if self.is_listed(name, variable) { super::dynamic::WORD_BREAKS } else { "" };
            self.variables.insert(name, Variable::scalar(value));
        }
    }

    /// Changes the option that goes with a variable.
    fn follow_assignment(&mut self, name: &[u8]) {
        match name {
            b"POSIXLY_CORRECT" => self.set_option(SetOption::Posix, true),
            b"IGNOREEOF" => self.options.put(SetOption::IgnoreEof, true),
            b"HISTSIZE" => self.update_history_limit(),
            b"HISTFILESIZE" => self.truncate_history_file(),
            _ => {}
        }
    }

    fn mark_exported(&mut self, name: &[u8]) {
        if self.options.has(SetOption::AllExport)
            && let Some(attributes) = self.variables.get(name).map(|variable| variable.attributes)
        {
            self.variables.set_attributes(name, attributes.union(Attributes::EXPORT));
        }
    }

    fn check_assignable(&self, name: &[u8], attributes: Attributes) -> Result<(), VariableError> {
        match attributes.contains(Attributes::READONLY) {
            true => Err(VariableError::Readonly(name.into())),
            false => Ok(()),
        }
    }

    /// Applies the attributes to a value, and appends it to the old one if `append` is set.
    fn convert(
        &mut self,
        name: &[u8],
        attributes: Attributes,
        value: Bytes,
        append: bool,
        old: impl Fn(&Variable) -> Option<Bytes>,
    ) -> Result<Bytes, VariableError> {
        let old = match append {
            true => self.variables.get(name).filter(|variable| variable.is_set()).and_then(old),
            false => None,
        };
        if attributes.contains(Attributes::INTEGER) {
            let added = self.integer(&value)?;
            let base = match old {
                Some(old) => self.integer(&old)?,
                None => 0,
            };
            return Ok(base.wrapping_add(added).to_string().into());
        }
        let joined = match old {
            Some(mut old) => {
                old.push(&value);
                old
            }
            None => value,
        };
        Ok(match () {
            () if attributes.contains(Attributes::LOWER) => {
                self.encoding_of(&joined).to_lowercase(&joined).into()
            }
            () if attributes.contains(Attributes::UPPER) => {
                self.encoding_of(&joined).to_uppercase(&joined).into()
            }
            () if attributes.contains(Attributes::CAPITAL) => {
                self.encoding_of(&joined).capitalize(&joined).into()
            }
            () => joined,
        })
    }

    fn integer(&mut self, value: &[u8]) -> Result<i64, VariableError> {
        self.evaluate_text(value).map_err(|error| VariableError::Arithmetic(error.into()))
    }

    /// `name[subscript]=value`, the subscript as expanded text.
    ///
    /// # Errors
    /// If the variable cannot take the value, or the subscript is invalid.
    pub fn assign_element(
        &mut self,
        name: &[u8],
        subscript: &[u8],
        value: Bytes,
        append: bool,
    ) -> Result<(), VariableError> {
        let target = self.target(name)?;
        let name = &target.name;
        if subscript.is_empty() {
            return Err(VariableError::BadSubscript(reference(name, subscript).into()));
        }
        let attributes = self.variables.get(name).map_or(Attributes::NONE, |variable| variable.attributes);
        self.check_assignable(name, attributes)?;
        if attributes.contains(Attributes::DYNAMIC)
            && self.assign_computed_element(name, subscript, &value)?
        {
            return Ok(());
        }
        if let Some(VariableValue::Associative(_)) = self.variables.get(name).map(|variable| &variable.value)
        {
            let key = Bytes::from(subscript);
            self.memory.note_growth(key.len() + value.len() + 4 * size_of::<Bytes>());
            let old = |variable: &Variable| match &variable.value {
                VariableValue::Associative(array) => array.get(&key).cloned(),
                _ => None,
            };
            let value = self.convert(name, attributes, value, append, old)?;
            let variable = self.variables.entry(name);
            variable.attributes = variable.attributes.without(Attributes::UNSET);
            if let VariableValue::Associative(array) = &mut variable.value {
                Arc::make_mut(array).set(key, value);
            }
            return Ok(());
        }
        let number = self.integer(subscript)?;
        self.assign_index(name, subscript, number, value, append)
    }

    /// `name[number]=value`, for an array that is not associative.
    pub(crate) fn assign_index(
        &mut self,
        name: &[u8],
        subscript: &[u8],
        number: i64,
        value: Bytes,
        append: bool,
    ) -> Result<(), VariableError> {
        let target = self.target(name)?;
        let name = &target.name;
        self.memory.note_growth(value.len() + size_of::<Bytes>());
        let attributes = self.variables.get(name).map_or(Attributes::NONE, |variable| variable.attributes);
        self.check_assignable(name, attributes)?;
        let bad = || VariableError::BadSubscript(reference(name, subscript).into());
        let index = match self.variables.get(name).map(|variable| &variable.value) {
            Some(VariableValue::Indexed(array)) => array.resolve(number),
            Some(VariableValue::Scalar(_)) if number == -1 => Some(0),
            _ => u64::try_from(number).ok(),
        };
        let index = index.ok_or_else(bad)?;
        let old = |variable: &Variable| match &variable.value {
            VariableValue::Indexed(array) => array.get(index).cloned(),
            VariableValue::Scalar(value) if index == 0 => Some(value.clone()),
            _ => None,
        };
        let value = self.convert(name, attributes, value, append, old)?;
        let variable = self.variables.entry(name);
        let array = variable.make_indexed().ok_or_else(bad)?;
        array.set(index, value);
        variable.attributes = variable.attributes.without(Attributes::UNSET);
        self.mark_exported(name);
        Ok(())
    }

    /// `name=(…)`, or `name+=(…)` if `append`.
    ///
    /// # Errors
    /// If the variable cannot take one of the values.
    pub fn assign_list(
        &mut self,
        name: &[u8],
        elements: Vec<AssignedElement>,
        append: bool,
    ) -> Result<(), VariableError> {
        let target = self.target(name)?;
        if target.subscript.is_some() {
            return Err(VariableError::ListToElement(name.into()));
        }
        let name = &target.name;
        let attributes = self.variables.get(name).map_or(Attributes::NONE, |variable| variable.attributes);
        self.check_assignable(name, attributes)?;
        if &**name == b"DIRSTACK" && attributes.contains(Attributes::DYNAMIC) {
            for (index, element) in elements.into_iter().enumerate() {
                let subscript = element.subscript.unwrap_or_else(|| index.to_string().into());
                self.assign_computed_element(name, &subscript, &element.value)?;
            }
            return Ok(());
        }
        let associative = self
            .variables
            .get(name)
            .is_some_and(|variable| matches!(variable.value, VariableValue::Associative(_)));
        self.begin_list(name, associative, append);
        match associative {
            true => self.fill_associative(name, elements),
            false => self.fill_indexed(name, elements),
        }
    }

    fn begin_list(&mut self, name: &[u8], associative: bool, append: bool) {
        let variable = self.variables.entry(name);
        if associative {
            if !append {
                variable.value = VariableValue::Associative(Arc::new(AssociativeArray::default()));
            }
        } else if append {
            let _ = variable.make_indexed();
        } else {
            variable.value = VariableValue::Indexed(Arc::new(IndexedArray::default()));
        }
        variable.attributes = variable.attributes.without(Attributes::UNSET);
        self.mark_exported(name);
    }

    fn fill_indexed(&mut self, name: &[u8], elements: Vec<AssignedElement>) -> Result<(), VariableError> {
        let plain = self.variables.get(name).is_some_and(|variable| !variable.attributes.intersects(SPECIAL));
        let mut next = match self.variables.get(name).map(|variable| &variable.value) {
            Some(VariableValue::Indexed(array)) => array.end(),
            _ => 0,
        };
        if plain && elements.iter().all(|element| element.subscript.is_none() && !element.append) {
            self.fill_plain(name, next, elements);
            return Ok(());
        }
        for element in elements {
            if let Some(subscript) = &element.subscript {
                let number = self.integer(subscript)?;
                let end = match self.variables.get(name).map(|variable| &variable.value) {
                    Some(VariableValue::Indexed(array)) => array.resolve(number),
                    _ => None,
                };
                let Some(end) = end else {
                    // As in bash, the other elements are assigned.
                    let shown = [&*reference(b"", subscript), b"=", &*element.value].concat();
                    self.report(VariableError::BadSubscript(shown.into()));
                    continue;
                };
                next = end;
            }
            if plain && !element.append {
                if let Some(array) = self.variables.get_mut(name).and_then(Variable::make_indexed) {
                    array.set(next, element.value);
                }
            } else {
                let number = i64::try_from(next).unwrap_or(i64::MAX);
                self.assign_index(name, b"", number, element.value, element.append)?;
            }
            next = next.saturating_add(1);
        }
        Ok(())
    }

    /// Sets elements in order from an index on. A cancelled session gets a part of them.
    fn fill_plain(&mut self, name: &[u8], start: u64, elements: Vec<AssignedElement>) {
        const ELEMENTS_PER_CHECK: usize = 1 << 16;
        let mut next = start;
        let mut rest = elements.into_iter();
        while rest.len() > 0 {
            if self.is_stopping() {
                return discard(rest, &self.memory);
            }
            if let Some(array) = self.variables.get_mut(name).and_then(Variable::make_indexed) {
                for element in rest.by_ref().take(ELEMENTS_PER_CHECK) {
                    array.set(next, element.value);
                    next += 1;
                }
            }
        }
    }

    fn fill_associative(&mut self, name: &[u8], elements: Vec<AssignedElement>) -> Result<(), VariableError> {
        let keyed = elements.first().is_none_or(|element| element.subscript.is_some());
        if keyed {
            for element in elements {
                let Some(key) = element.subscript else {
                    self.report(VariableError::KeyRequired(reference(name, &element.value).into()));
                    continue;
                };
                self.assign_keyed(name, &key, element.value, element.append)?;
            }
            return Ok(());
        }
        let mut rest = elements.into_iter().map(as_written);
        while let Some(key) = rest.next() {
            let value = rest.next().unwrap_or_default();
            self.assign_keyed(name, &key, value, false)?;
        }
        Ok(())
    }

    /// Assigns an element of a list. One without a key is reported and skipped.
    fn assign_keyed(
        &mut self,
        name: &[u8],
        key: &[u8],
        value: Bytes,
        append: bool,
    ) -> Result<(), VariableError> {
        if key.is_empty() {
            self.report(VariableError::BadSubscript(reference(name, b"").into()));
            return Ok(());
        }
        self.assign_element(name, key, value, append)
    }

    /// Performs an assignment whose words are expanded.
    ///
    /// # Errors
    /// If the variable cannot take the value.
    pub fn assign_expanded(&mut self, assigned: Assigned) -> Result<(), VariableError> {
        match (assigned.value, assigned.subscript) {
            (AssignedValue::Scalar(value), None) => self.assign(&assigned.name, value, assigned.append),
            (AssignedValue::Scalar(value), Some(subscript)) => {
                self.assign_element(&assigned.name, &subscript, value, assigned.append)
            }
            (AssignedValue::List(elements), None) => {
                self.assign_list(&assigned.name, elements, assigned.append)
            }
            (AssignedValue::List(_), Some(subscript)) => {
                Err(VariableError::ListToElement(reference(&assigned.name, &subscript).into()))
            }
        }
    }

    /// Assigns to `name` or `name[subscript]`, for `read`, `printf -v` and other builtins.
    ///
    /// # Errors
    /// If it is not of that form, or the variable cannot take the value.
    pub fn assign_reference(&mut self, place: &[u8], value: Bytes) -> Result<(), VariableError> {
        match split_reference(place) {
            Some((_, b"")) => Err(VariableError::BadSubscript(place.into())),
            Some((name, subscript)) => {
                let subscript = self.expand_subscript_text(subscript).unwrap_or_else(|_| subscript.into());
                self.assign_element(name, &subscript, value, false)
            }
            None if is_name(place) => self.assign(place, value, false),
            None => Err(VariableError::InvalidName(place.into())),
        }
    }
}

/// Whether assigning to a variable does more than to store its value.
#[inline]
fn has_effect(name: &[u8]) -> bool {
    matches!(name, b"OPTIND" | b"POSIXLY_CORRECT" | b"IGNOREEOF" | b"HISTSIZE" | b"HISTFILESIZE")
}

/// An element of a list that alternates keys and values, in which brackets are not special.
fn as_written(element: AssignedElement) -> Bytes {
    match element.subscript {
        None => element.value,
        Some(key) => {
            let operator: &[u8] = if element.append { b"]+=" } else { b"]=" };
            [b"[", &*key, operator, &element.value].concat().into()
        }
    }
}

fn reference(name: &[u8], subscript: &[u8]) -> Vec<u8> {
    [name, b"[", subscript, b"]"].concat()
}
