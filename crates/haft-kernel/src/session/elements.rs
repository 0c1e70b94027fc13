//! Array elements by the text of their subscript.

use std::sync::Arc;

use haft_text::Bytes;

use crate::flow::Unwind;
use crate::session::Session;
use crate::variables::{Attributes, VariableError, VariableValue};

impl Session {
    /// The value of an element.
    pub(crate) fn element_value(&mut self, name: &[u8], subscript: &[u8]) -> Result<Option<Bytes>, Unwind> {
        if self.is_associative(name) {
            return Ok(self.lookup(name).and_then(|variable| match &variable.value {
                VariableValue::Associative(array) => array.get(subscript).cloned(),
                _ => None,
            }));
        }
        let number = self.evaluate_or_fail(subscript)?;
        Ok(self.lookup(name).and_then(|variable| match &variable.value {
            VariableValue::Indexed(array) => {
                array.resolve(number).and_then(|index| array.get(index).cloned())
            }
            _ if matches!(number, 0 | -1) => variable.as_scalar().cloned(),
            _ => None,
        }))
    }

    /// Whether an element has a value.
    pub(crate) fn is_element_set(&mut self, name: &[u8], subscript: &[u8]) -> Result<bool, Unwind> {
        if self.is_associative(name) {
            let variable = self.lookup(name);
            return Ok(variable.is_some_and(|variable| match &variable.value {
                VariableValue::Associative(array) => array.get(subscript).is_some(),
                _ => false,
            }));
        }
        let number = self.evaluate_or_fail(subscript)?;
        Ok(self.lookup(name).is_some_and(|variable| match &variable.value {
            VariableValue::Indexed(array) => {
                array.resolve(number).is_some_and(|index| array.get(index).is_some())
            }
            VariableValue::Scalar(_) => variable.is_set() && matches!(number, 0 | -1),
            VariableValue::Associative(_) => false,
        }))
    }

    /// Removes an element; `@` and `*` empty an array that is not associative.
    ///
    /// # Errors
    /// If the variable is read-only or not an array, or the subscript is invalid.
    pub fn unset_element(&mut self, name: &[u8], subscript: &[u8]) -> Result<(), VariableError> {
        let target = self.follow(name)?;
        let Some(variable) = self.variables.get(&target.name) else { return Ok(()) };
        if variable.is(Attributes::READONLY) {
            return Err(VariableError::Readonly(target.name));
        }
        let bad = || VariableError::BadSubscript([name, b"[", subscript, b"]"].concat().into());
        match &variable.value {
            VariableValue::Associative(_) => {
                if let Some(VariableValue::Associative(array)) =
                    self.variables.get_mut(&target.name).map(|variable| &mut variable.value)
                {
                    Arc::make_mut(array).remove(subscript);
                }
                Ok(())
            }
            VariableValue::Indexed(_) if matches!(subscript, b"@" | b"*") => {
                if let Some(variable) = self.variables.get_mut(&target.name) {
                    variable.value = VariableValue::Indexed(Arc::default());
                }
                Ok(())
            }
            VariableValue::Indexed(_) => {
                let number =
                    self.evaluate_text(subscript).map_err(|error| VariableError::Arithmetic(error.into()))?;
                if let Some(VariableValue::Indexed(array)) =
                    self.variables.get_mut(&target.name).map(|variable| &mut variable.value)
                {
                    let index = array.resolve(number).ok_or_else(bad)?;
                    Arc::make_mut(array).remove(index);
                }
                Ok(())
            }
            VariableValue::Scalar(_) => match self.evaluate_text(subscript) {
                Ok(0) => self.variables.unset(&target.name, false),
                _ => Err(bad()),
            },
        }
    }
}
