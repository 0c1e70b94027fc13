//! Arithmetic, comparison and the like.

use std::rc::Rc;

use super::{type_error, type_error_of_two};
use crate::jq::syntax::BinaryOperator;
use crate::jq::value::{Fields, Value, take_fields, take_items};

/// How deep objects are merged.
const MAX_MERGE_DEPTH: usize = 1000;

/// The longest string that repeating makes.
const MAX_REPEATED_BYTES: usize = 1 << 30;

/// Applies an operator.
pub(in crate::jq) fn binary(operator: BinaryOperator, a: Value, b: Value) -> Result<Value, Value> {
    match operator {
        BinaryOperator::Add => add(a, b),
        BinaryOperator::Subtract => subtract(a, &b),
        BinaryOperator::Multiply => multiply(a, b),
        BinaryOperator::Divide => divide(&a, &b),
        BinaryOperator::Remainder => remainder(&a, &b),
        BinaryOperator::Equal => Ok((a == b).into()),
        BinaryOperator::NotEqual => Ok((a != b).into()),
        BinaryOperator::Less => Ok(a.compare(&b).is_lt().into()),
        BinaryOperator::LessOrEqual => Ok(a.compare(&b).is_le().into()),
        BinaryOperator::Greater => Ok(a.compare(&b).is_gt().into()),
        BinaryOperator::GreaterOrEqual => Ok(a.compare(&b).is_ge().into()),
    }
}

/// The number with the other sign.
pub(in crate::jq) fn negate(value: &Value) -> Result<Value, Value> {
    match value.as_number() {
        Some(number) => Ok(Value::Number(-number)),
        None => Err(type_error(value, "cannot be negated")),
    }
}

fn add(a: Value, b: Value) -> Result<Value, Value> {
    match (a, b) {
        (Value::Null, b) => Ok(b),
        (a, Value::Null) => Ok(a),
        (Value::Number(a), Value::Number(b)) => Ok(Value::Number(a + b)),
        (Value::String(a), Value::String(b)) => Ok(Value::String(Rc::from([&*a, &*b].concat()))),
        (Value::Array(a), Value::Array(b)) => {
            let mut items = take_items(a);
            items.extend(take_items(b));
            Ok(items.into())
        }
        (Value::Object(a), Value::Object(b)) => {
            let mut fields = take_fields(a);
            fields.extend(take_fields(b));
            Ok(fields.into())
        }
        (a, b) => match (a.as_number(), b.as_number()) {
            (Some(a), Some(b)) => Ok(Value::Number(a + b)),
            _ => Err(type_error_of_two(&a, &b, "cannot be added")),
        },
    }
}

fn subtract(a: Value, b: &Value) -> Result<Value, Value> {
    match (a, b) {
        (Value::Array(a), Value::Array(b)) => {
            let mut items = take_items(a);
            items.retain(|item| !b.0.contains(item));
            Ok(items.into())
        }
        (a, b) => match (a.as_number(), b.as_number()) {
            (Some(a), Some(b)) => Ok(Value::Number(a - b)),
            _ => Err(type_error_of_two(&a, b, "cannot be subtracted")),
        },
    }
}

fn multiply(a: Value, b: Value) -> Result<Value, Value> {
    match (a, b) {
        (Value::Object(a), Value::Object(b)) => Ok(merge(take_fields(a), take_fields(b), 0).into()),
        (Value::String(text), number) | (number, Value::String(text)) if number.as_number().is_some() => {
            let count = number.as_number().unwrap_or(f64::NAN);
            if count < 0.0 || count.is_nan() {
                return Ok(Value::Null);
            }
            match (count as usize).checked_mul(text.len()) {
                Some(length) if length <= MAX_REPEATED_BYTES => Ok(text.repeat(count as usize).into()),
                _ => Err("Repeat string result too long".into()),
            }
        }
        (a, b) => match (a.as_number(), b.as_number()) {
            (Some(a), Some(b)) => Ok(Value::Number(a * b)),
            _ => Err(type_error_of_two(&a, &b, "cannot be multiplied")),
        },
    }
}

fn merge(mut a: Fields, b: Fields, depth: usize) -> Fields {
    for (name, value) in b {
        let merged = match (a.get_mut(&name).map(|old| std::mem::replace(old, Value::Null)), value) {
            (Some(Value::Object(old)), Value::Object(new)) if depth < MAX_MERGE_DEPTH => {
                merge(take_fields(old), take_fields(new), depth + 1).into()
            }
            (_, value) => value,
        };
        a.insert(name, merged);
    }
    a
}

fn divide(a: &Value, b: &Value) -> Result<Value, Value> {
    if let (Some(dividend), Some(divisor)) = (a.as_number(), b.as_number()) {
        if divisor == 0.0 {
            return Err(type_error_of_two(a, b, "cannot be divided because the divisor is zero"));
        }
        return Ok(Value::Number(dividend / divisor));
    }
    match (a, b) {
        (Value::String(a), Value::String(b)) => Ok(split(a, b)),
        _ => Err(type_error_of_two(a, b, "cannot be divided")),
    }
}

/// The parts of a text between separators.
pub(super) fn split(text: &str, separator: &str) -> Value {
    let parts: Vec<Value> = match (text.is_empty(), separator.is_empty()) {
        (true, _) => Vec::new(),
        (false, true) => text.chars().map(|letter| Value::from(&*letter.encode_utf8(&mut [0; 4]))).collect(),
        (false, false) => text.split(separator).map(Value::from).collect(),
    };
    parts.into()
}

fn remainder(a: &Value, b: &Value) -> Result<Value, Value> {
    let (Some(dividend), Some(divisor)) = (a.as_number(), b.as_number()) else {
        return Err(type_error_of_two(a, b, "cannot be divided (remainder)"));
    };
    if dividend.is_nan() || divisor.is_nan() {
        return Ok(Value::Number(f64::NAN));
    }
    // Conversions saturate.
    match (dividend as i64).checked_rem(divisor as i64) {
        Some(remainder) => Ok(Value::Number(remainder as f64)),
        None if divisor as i64 == 0 => {
            Err(type_error_of_two(a, b, "cannot be divided (remainder) because the divisor is zero"))
        }
        None => Ok(Value::Number(0.0)),
    }
}
