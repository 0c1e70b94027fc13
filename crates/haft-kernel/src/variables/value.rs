//! The value of a variable.

use std::sync::Arc;

use haft_text::Bytes;

use super::{AssociativeArray, Attributes, IndexedArray};

/// The value of a variable.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum VariableValue {
    /// A string.
    Scalar(Bytes),
    /// An indexed array.
    Indexed(Arc<IndexedArray>),
    /// An associative array.
    Associative(Arc<AssociativeArray>),
}

impl VariableValue {
    /// Returns the approximate size in bytes.
    pub(crate) fn size(&self) -> usize {
        match self {
            VariableValue::Scalar(value) => value.len(),
            VariableValue::Indexed(array) => {
                array.values().map(|value| value.len() + size_of::<Bytes>()).sum()
            }
            VariableValue::Associative(array) => array.size(),
        }
    }
}

/// A variable.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Variable {
    /// The value. While [`Attributes::UNSET`] is set, only its type matters.
    pub value: VariableValue,
    /// The attributes.
    pub attributes: Attributes,
    /// The depth of the function that the variable is local to; 0 if it is global.
    pub(crate) depth: u32,
}

impl Variable {
    /// Returns a global variable without attributes.
    #[must_use]
    pub fn new(value: VariableValue) -> Self {
        Self { value, attributes: Attributes::NONE, depth: 0 }
    }

    /// Returns a global scalar variable without attributes.
    #[must_use]
    pub fn scalar(value: impl Into<Bytes>) -> Self {
        Self::new(VariableValue::Scalar(value.into()))
    }

    /// Returns a variable that is declared but unset.
    #[must_use]
    pub fn unset(attributes: Attributes) -> Self {
        Self {
            value: VariableValue::Scalar(Bytes::new()),
            attributes: attributes.union(Attributes::UNSET),
            depth: 0,
        }
    }

    /// Adds attributes.
    #[must_use]
    pub fn with(mut self, attributes: Attributes) -> Self {
        self.attributes = self.attributes.union(attributes);
        self
    }

    /// Tells whether the variable has all of these attributes.
    #[must_use]
    pub fn is(&self, attributes: Attributes) -> bool {
        self.attributes.contains(attributes)
    }

    /// Tells whether the variable is set. An array is set once it was assigned, even if it is empty.
    #[must_use]
    pub fn is_set(&self) -> bool {
        !self.attributes.contains(Attributes::UNSET)
    }

    /// Tells whether the variable is an indexed or associative array.
    #[must_use]
    pub fn is_array(&self) -> bool {
        !matches!(self.value, VariableValue::Scalar(_))
    }

    /// Returns the value of `$name`: the string, or element 0 of an array. Returns `None` if it is unset.
    #[must_use]
    pub fn as_scalar(&self) -> Option<&Bytes> {
        if !self.is_set() {
            return None;
        }
        match &self.value {
            VariableValue::Scalar(value) => Some(value),
            VariableValue::Indexed(array) => array.get(0),
            VariableValue::Associative(array) => array.get(b"0"),
        }
    }

    /// Returns all values, in the order of `${name[@]}`.
    #[must_use]
    pub fn values(&self) -> Vec<Bytes> {
        match &self.value {
            _ if !self.is_set() => Vec::new(),
            VariableValue::Scalar(value) => vec![value.clone()],
            VariableValue::Indexed(array) => array.values().cloned().collect(),
            VariableValue::Associative(array) => {
                array.entries().into_iter().map(|(_, value)| value.clone()).collect()
            }
        }
    }

    /// Returns all keys, in the order of `${!name[@]}`.
    #[must_use]
    pub fn keys(&self) -> Vec<Bytes> {
        match &self.value {
            _ if !self.is_set() => Vec::new(),
            VariableValue::Scalar(_) => vec!["0".into()],
            VariableValue::Indexed(array) => {
                array.iter().map(|(index, _)| index.to_string().into()).collect()
            }
            VariableValue::Associative(array) => {
                array.entries().into_iter().map(|(key, _)| key.clone()).collect()
            }
        }
    }

    /// Returns the attribute letters of `${name@a}`, for an array with `a` or `A` first.
    #[must_use]
    pub fn letters(&self) -> String {
        let kind = match &self.value {
            VariableValue::Scalar(_) => "",
            VariableValue::Indexed(_) => "a",
            VariableValue::Associative(_) => "A",
        };
        format!("{kind}{}", self.attributes.letters())
    }

    /// Converts the variable to an indexed array; a string becomes element 0.
    pub(crate) fn make_indexed(&mut self) -> Option<&mut IndexedArray> {
        if let VariableValue::Scalar(value) = &mut self.value {
            let mut array = IndexedArray::default();
            if !self.attributes.contains(Attributes::UNSET) {
                array.set(0, std::mem::take(value));
            }
            self.value = VariableValue::Indexed(Arc::new(array));
        }
        match &mut self.value {
            VariableValue::Indexed(array) => Some(Arc::make_mut(array)),
            _ => None,
        }
    }
}
