//! The value of a variable.

use std::sync::Arc;

use haft_text::Bytes;

use super::{AssociativeArray, Attributes, IndexedArray};

/// What a variable holds.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Value {
    /// A string.
    Scalar(Bytes),
    /// An array by number.
    Indexed(Arc<IndexedArray>),
    /// An array by key.
    Associative(Arc<AssociativeArray>),
}

impl Value {
    /// About how many bytes its text has.
    pub(crate) fn size(&self) -> usize {
        match self {
            Value::Scalar(value) => value.len(),
            Value::Indexed(array) => array.values().map(|value| value.len() + size_of::<Bytes>()).sum(),
            Value::Associative(array) => array.size(),
        }
    }
}

/// A variable.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Variable {
    /// What it holds; meaningless but for its kind while [`Attributes::UNSET`] is set.
    pub value: Value,
    /// Its attributes.
    pub attributes: Attributes,
    /// The depth of the function call it is local to; 0 for a global one.
    pub(crate) depth: u32,
}

impl Variable {
    /// A global variable with this value and no attribute.
    #[must_use]
    pub fn new(value: Value) -> Self {
        Self { value, attributes: Attributes::NONE, depth: 0 }
    }

    /// A global string variable.
    #[must_use]
    pub fn scalar(value: impl Into<Bytes>) -> Self {
        Self::new(Value::Scalar(value.into()))
    }

    /// One that is declared, but has no value.
    #[must_use]
    pub fn unset(attributes: Attributes) -> Self {
        Self { value: Value::Scalar(Bytes::new()), attributes: attributes.union(Attributes::UNSET), depth: 0 }
    }

    /// The same with more attributes.
    #[must_use]
    pub fn with(mut self, attributes: Attributes) -> Self {
        self.attributes = self.attributes.union(attributes);
        self
    }

    /// Whether it has all of these attributes.
    #[must_use]
    pub fn is(&self, attributes: Attributes) -> bool {
        self.attributes.contains(attributes)
    }

    /// Whether it has a value at all: an array has one if it was assigned, even empty.
    #[must_use]
    pub fn is_set(&self) -> bool {
        !self.attributes.contains(Attributes::UNSET)
    }

    /// Whether it is an array of either kind.
    #[must_use]
    pub fn is_array(&self) -> bool {
        !matches!(self.value, Value::Scalar(_))
    }

    /// What `$name` yields: the string, or element 0 of an array; `None` if there is none.
    #[must_use]
    pub fn as_scalar(&self) -> Option<&Bytes> {
        if !self.is_set() {
            return None;
        }
        match &self.value {
            Value::Scalar(value) => Some(value),
            Value::Indexed(array) => array.get(0),
            Value::Associative(array) => array.get(b"0"),
        }
    }

    /// All values, in the order of `${name[@]}`.
    #[must_use]
    pub fn values(&self) -> Vec<Bytes> {
        match &self.value {
            _ if !self.is_set() => Vec::new(),
            Value::Scalar(value) => vec![value.clone()],
            Value::Indexed(array) => array.values().cloned().collect(),
            Value::Associative(array) => {
                array.entries().into_iter().map(|(_, value)| value.clone()).collect()
            }
        }
    }

    /// All keys, in the order of `${!name[@]}`.
    #[must_use]
    pub fn keys(&self) -> Vec<Bytes> {
        match &self.value {
            _ if !self.is_set() => Vec::new(),
            Value::Scalar(_) => vec!["0".into()],
            Value::Indexed(array) => array.iter().map(|(index, _)| index.to_string().into()).collect(),
            Value::Associative(array) => array.entries().into_iter().map(|(key, _)| key.clone()).collect(),
        }
    }

    /// The attribute letters as `${name@a}` shows them: `a` or `A` for arrays first.
    #[must_use]
    pub fn letters(&self) -> String {
        let kind = match &self.value {
            Value::Scalar(_) => "",
            Value::Indexed(_) => "a",
            Value::Associative(_) => "A",
        };
        format!("{kind}{}", self.attributes.letters())
    }

    /// Makes it an indexed array, keeping a string as element 0.
    pub(crate) fn make_indexed(&mut self) -> Option<&mut IndexedArray> {
        if let Value::Scalar(value) = &mut self.value {
            let mut array = IndexedArray::default();
            if !self.attributes.contains(Attributes::UNSET) {
                array.set(0, std::mem::take(value));
            }
            self.value = Value::Indexed(Arc::new(array));
        }
        match &mut self.value {
            Value::Indexed(array) => Some(Arc::make_mut(array)),
            _ => None,
        }
    }
}
