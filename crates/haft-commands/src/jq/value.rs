//! JSON values of `jq`.

use std::cmp::Ordering;
use std::rc::Rc;

use indexmap::IndexMap;

use super::number::Decimal;

/// How deep values are compared. Deeper parts count as equal.
const MAX_COMPARE_DEPTH: usize = 5000;

/// A JSON value. Copies share the contents.
#[derive(Clone, Debug)]
pub(super) enum Value {
    Null,
    Bool(bool),
    Number(f64),
    /// A number as it was written, with more digits than a double has or in another form.
    Decimal(Rc<Decimal>),
    String(Rc<str>),
    Array(Rc<ArrayItems>),
    Object(Rc<ObjectFields>),
}

/// The members of an object, in the order in which they were added.
pub(super) type Fields = IndexMap<Rc<str>, Value, foldhash::fast::RandomState>;

/// The elements of an array. Nested values are dropped without recursion.
#[derive(Clone, Debug, Default)]
pub(super) struct ArrayItems(pub(super) Vec<Value>);

/// The members of an object. Nested values are dropped without recursion.
#[derive(Clone, Debug, Default)]
pub(super) struct ObjectFields(pub(super) Fields);

impl Drop for ArrayItems {
    fn drop(&mut self) {
        if self.0.iter().any(Value::is_container) {
            release(self.0.drain(..).filter(Value::is_container).collect());
        }
    }
}

impl Drop for ObjectFields {
    fn drop(&mut self) {
        if self.0.values().any(Value::is_container) {
            release(self.0.drain(..).map(|(_, value)| value).filter(Value::is_container).collect());
        }
    }
}

/// Drops containers one after the other: each gives its own containers to the list before it is dropped.
fn release(mut pending: Vec<Value>) {
    while let Some(mut value) = pending.pop() {
        match &mut value {
            Value::Array(items) => {
                if let Some(items) = Rc::get_mut(items) {
                    pending.extend(items.0.drain(..).filter(Value::is_container));
                }
            }
            Value::Object(fields) => {
                if let Some(fields) = Rc::get_mut(fields) {
                    let values = fields.0.drain(..).map(|(_, value)| value);
                    pending.extend(values.filter(Value::is_container));
                }
            }
            _ => {}
        }
    }
}

impl From<&str> for Value {
    fn from(text: &str) -> Self {
        Self::String(text.into())
    }
}

impl From<String> for Value {
    fn from(text: String) -> Self {
        Self::String(text.into())
    }
}

impl From<bool> for Value {
    fn from(value: bool) -> Self {
        Self::Bool(value)
    }
}

impl From<f64> for Value {
    fn from(value: f64) -> Self {
        Self::Number(value)
    }
}

impl From<usize> for Value {
    fn from(value: usize) -> Self {
        Self::Number(value as f64)
    }
}

impl From<Vec<Value>> for Value {
    fn from(items: Vec<Value>) -> Self {
        Self::Array(Rc::new(ArrayItems(items)))
    }
}

impl From<Fields> for Value {
    fn from(fields: Fields) -> Self {
        Self::Object(Rc::new(ObjectFields(fields)))
    }
}

impl Value {
    /// An object with these members.
    pub(super) fn object<const N: usize>(members: [(&str, Self); N]) -> Self {
        members.into_iter().map(|(name, value)| (Rc::from(name), value)).collect::<Fields>().into()
    }

    /// The name of the type, as `type` returns it.
    pub(super) fn type_name(&self) -> &'static str {
        match self {
            Self::Null => "null",
            Self::Bool(_) => "boolean",
            Self::Number(_) | Self::Decimal(_) => "number",
            Self::String(_) => "string",
            Self::Array(_) => "array",
            Self::Object(_) => "object",
        }
    }

    /// Whether the value counts as true.
    pub(super) fn is_true(&self) -> bool {
        !matches!(self, Self::Null | Self::Bool(false))
    }

    /// The value of a number.
    pub(super) fn as_number(&self) -> Option<f64> {
        match self {
            Self::Number(number) => Some(*number),
            Self::Decimal(decimal) => Some(decimal.double),
            _ => None,
        }
    }

    /// The text of a string.
    pub(super) fn as_text(&self) -> Option<&str> {
        match self {
            Self::String(text) => Some(text),
            _ => None,
        }
    }

    /// The elements of an array.
    pub(super) fn as_array(&self) -> Option<&[Self]> {
        match self {
            Self::Array(items) => Some(&items.0),
            _ => None,
        }
    }

    /// Takes the elements out of an array, and copies them if they are shared. `None` for other types.
    pub(super) fn into_array(self) -> Option<Vec<Self>> {
        match self {
            Self::Array(items) => Some(take_items(items)),
            _ => None,
        }
    }

    /// Takes the members out of an object, and copies them if they are shared. `None` for other types.
    pub(super) fn into_object(self) -> Option<Fields> {
        match self {
            Self::Object(fields) => Some(take_fields(fields)),
            _ => None,
        }
    }

    fn is_container(&self) -> bool {
        matches!(self, Self::Array(_) | Self::Object(_))
    }

    /// The order of the types, as sorting uses it.
    fn rank(&self) -> u8 {
        match self {
            Self::Null => 0,
            Self::Bool(false) => 1,
            Self::Bool(true) => 2,
            Self::Number(_) | Self::Decimal(_) => 3,
            Self::String(_) => 4,
            Self::Array(_) => 5,
            Self::Object(_) => 6,
        }
    }

    /// Whether both are the same value in memory, as the checks of path expressions ask it.
    pub(super) fn is_identical(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::Null, Self::Null) => true,
            (Self::Bool(a), Self::Bool(b)) => a == b,
            (Self::Number(a), Self::Number(b)) => a.to_bits() == b.to_bits(),
            (Self::Decimal(a), Self::Decimal(b)) => Rc::ptr_eq(a, b),
            (Self::String(a), Self::String(b)) => Rc::ptr_eq(a, b),
            (Self::Array(a), Self::Array(b)) => Rc::ptr_eq(a, b),
            (Self::Object(a), Self::Object(b)) => Rc::ptr_eq(a, b),
            _ => false,
        }
    }

    /// Compares two values in the order of `sort`.
    pub(super) fn compare(&self, other: &Self) -> Ordering {
        compare_at(self, other, 0, compare_numbers)
    }

    /// The same as a total order, in which not-a-number equals itself.
    pub(super) fn compare_for_sort(&self, other: &Self) -> Ordering {
        compare_at(self, other, 0, |a, b| match a.is_nan() && b.is_nan() {
            true => Ordering::Equal,
            false => compare_numbers(a, b),
        })
    }
}

/// Compares two doubles.
type CompareNumbers = fn(f64, f64) -> Ordering;

impl PartialEq for Value {
    fn eq(&self, other: &Self) -> bool {
        self.compare(other) == Ordering::Equal
    }
}

/// Takes the elements of an array, and copies them if they are shared.
pub(super) fn take_items(items: Rc<ArrayItems>) -> Vec<Value> {
    match Rc::try_unwrap(items) {
        Ok(mut items) => std::mem::take(&mut items.0),
        Err(items) => items.0.clone(),
    }
}

/// Takes the members of an object, and copies them if they are shared.
pub(super) fn take_fields(fields: Rc<ObjectFields>) -> Fields {
    match Rc::try_unwrap(fields) {
        Ok(mut fields) => std::mem::take(&mut fields.0),
        Err(fields) => fields.0.clone(),
    }
}

/// The names of an object's members, sorted.
pub(super) fn sorted_keys(fields: &Fields) -> Vec<&Rc<str>> {
    let mut keys: Vec<&Rc<str>> = fields.keys().collect();
    keys.sort_unstable();
    keys
}

fn compare_at(a: &Value, b: &Value, depth: usize, numbers: CompareNumbers) -> Ordering {
    match (a, b) {
        (Value::Number(a), Value::Number(b)) => numbers(*a, *b),
        (Value::Decimal(a), Value::Decimal(b)) if !a.double.is_nan() && !b.double.is_nan() => a.compare(b),
        (Value::String(a), Value::String(b)) => a.as_bytes().cmp(b.as_bytes()),
        (Value::Array(a), Value::Array(b)) if depth < MAX_COMPARE_DEPTH => {
            let pairs = a.0.iter().zip(&b.0).map(|(a, b)| compare_at(a, b, depth + 1, numbers));
            let difference = pairs.into_iter().find(|order| order.is_ne());
            difference.unwrap_or_else(|| a.0.len().cmp(&b.0.len()))
        }
        (Value::Object(a), Value::Object(b)) if depth < MAX_COMPARE_DEPTH => {
            compare_objects(&a.0, &b.0, depth, numbers)
        }
        _ => match (a.as_number(), b.as_number()) {
            (Some(a), Some(b)) => numbers(a, b),
            _ => a.rank().cmp(&b.rank()),
        },
    }
}

/// Compares doubles. Not-a-number is less than every number, including itself.
fn compare_numbers(a: f64, b: f64) -> Ordering {
    match a.partial_cmp(&b) {
        Some(order) => order,
        None if a.is_nan() => Ordering::Less,
        None => Ordering::Greater,
    }
}

fn compare_objects(a: &Fields, b: &Fields, depth: usize, numbers: CompareNumbers) -> Ordering {
    let (a_keys, b_keys) = (sorted_keys(a), sorted_keys(b));
    a_keys.cmp(&b_keys).then_with(|| {
        let pairs = a_keys.iter().map(|key| match (a.get(&***key), b.get(&***key)) {
            (Some(a), Some(b)) => compare_at(a, b, depth + 1, numbers),
            _ => Ordering::Equal,
        });
        pairs.into_iter().find(|order| order.is_ne()).unwrap_or(Ordering::Equal)
    })
}
