//! Functions on arrays and objects.

use std::cmp::Ordering;

use super::{Entry, Returned, type_error, type_error_of_two};
use crate::jq::value::{Value, sorted_keys};

/// How deep containment is checked.
const MAX_DEPTH: usize = 1000;

pub(super) const TABLE: &[Entry] = &[
    ("keys", 0, |_, input, _| keys(&input, true)),
    ("keys_unsorted", 0, |_, input, _| keys(&input, false)),
    ("length", 0, |_, input, _| length(&input)),
    ("contains", 1, |_, input, [part, ..]| {
        match input.type_name() == part.type_name() && !is_other_bool(&input, &part) {
            true => Ok(contains(&input, &part, 0).into()),
            false => Err(type_error_of_two(&input, &part, "cannot have their containment checked").into()),
        }
    }),
    ("sort", 0, |_, input, _| match input.into_array_or_self() {
        Ok(mut items) => {
            items.sort_by(Value::compare_for_sort);
            Ok(items.into())
        }
        Err(input) => Err(type_error(&input, "cannot be sorted, as it is not an array").into()),
    }),
    ("_sort_by_impl", 1, |_, input, [keys, ..]| {
        let pairs = sorted_pairs(input, keys)?;
        Ok(pairs.into_iter().map(|(_, item)| item).collect::<Vec<_>>().into())
    }),
    ("_group_by_impl", 1, |_, input, [keys, ..]| Ok(groups(sorted_pairs(input, keys)?))),
    ("min", 0, |_, input, _| extreme(&input, &input, true)),
    ("max", 0, |_, input, _| extreme(&input, &input, false)),
    ("_min_by_impl", 1, |_, input, [keys, ..]| extreme(&input, &keys, true)),
    ("_max_by_impl", 1, |_, input, [keys, ..]| extreme(&input, &keys, false)),
    ("_bsearch", 1, |_, input, [wanted, ..]| search(&input, &wanted)),
];

/// Whether the two are different booleans, which count as different types.
fn is_other_bool(a: &Value, b: &Value) -> bool {
    matches!((a, b), (Value::Bool(a), Value::Bool(b)) if a != b)
}

impl Value {
    fn into_array_or_self(self) -> Result<Vec<Self>, Self> {
        match self {
            Self::Array(items) => Ok(crate::jq::value::take_items(items)),
            other => Err(other),
        }
    }
}

fn keys(value: &Value, is_sorted: bool) -> Returned {
    let names: Vec<Value> = match value {
        Value::Object(fields) if is_sorted => {
            sorted_keys(&fields.0).into_iter().map(|name| Value::String(name.clone())).collect()
        }
        Value::Object(fields) => fields.0.keys().map(|name| Value::String(name.clone())).collect(),
        Value::Array(items) => (0..items.0.len()).map(Value::from).collect(),
        other => return Err(type_error(other, "has no keys").into()),
    };
    Ok(names.into())
}

fn length(value: &Value) -> Returned {
    Ok(match value {
        Value::Null => Value::Number(0.0),
        Value::Array(items) => items.0.len().into(),
        Value::Object(fields) => fields.0.len().into(),
        Value::String(text) => text.chars().count().into(),
        Value::Number(number) => Value::Number(number.abs()),
        Value::Decimal(decimal) => Value::Number(decimal.double.abs()),
        Value::Bool(_) => return Err(type_error(value, "has no length").into()),
    })
}

fn contains(value: &Value, part: &Value, depth: usize) -> bool {
    match (value, part) {
        _ if depth > MAX_DEPTH => false,
        (Value::Object(fields), Value::Object(parts)) => parts
            .0
            .iter()
            .all(|(name, part)| fields.0.get(name).is_some_and(|value| contains(value, part, depth + 1))),
        (Value::Array(items), Value::Array(parts)) => {
            parts.0.iter().all(|part| items.0.iter().any(|item| contains(item, part, depth + 1)))
        }
        (Value::String(text), Value::String(part)) => text.contains(&**part),
        (value, part) => value == part,
    }
}

fn sorted_pairs(input: Value, keys: Value) -> Result<Vec<(Value, Value)>, Value> {
    match (input, keys) {
        (Value::Array(items), Value::Array(keys)) if items.0.len() == keys.0.len() => {
            let mut pairs: Vec<(Value, Value)> =
                keys.0.iter().cloned().zip(items.0.iter().cloned()).collect();
            pairs.sort_by(|a, b| a.0.compare_for_sort(&b.0));
            Ok(pairs)
        }
        (input, keys) => {
            Err(type_error_of_two(&input, &keys, "cannot be sorted, as they are not both arrays"))
        }
    }
}

fn groups(pairs: Vec<(Value, Value)>) -> Value {
    let mut groups: Vec<Value> = Vec::new();
    let mut current: Option<(Value, Vec<Value>)> = None;
    for (key, item) in pairs {
        match &mut current {
            Some((known, items)) if *known == key => items.push(item),
            _ => {
                let finished = current.replace((key, vec![item]));
                groups.extend(finished.map(|(_, items)| Value::from(items)));
            }
        }
    }
    groups.extend(current.map(|(_, items)| Value::from(items)));
    groups.into()
}

fn extreme(values: &Value, keys: &Value, is_minimum: bool) -> Returned {
    let (Some(items), Some(keys)) = (values.as_array(), keys.as_array()) else {
        return Err(type_error_of_two(values, keys, "cannot be iterated over").into());
    };
    if items.len() != keys.len() {
        let keys = Value::from(keys.to_vec());
        return Err(type_error_of_two(values, &keys, "have wrong length").into());
    }
    let mut best = 0;
    for index in 1..items.len() {
        if (keys[index].compare(&keys[best]) == Ordering::Less) == is_minimum {
            best = index;
        }
    }
    Ok(items.get(best).cloned().unwrap_or(Value::Null))
}

/// The index of a value in a sorted array, or `-1 - INDEX` of the place where it belongs.
fn search(input: &Value, wanted: &Value) -> Returned {
    let items = match input {
        Value::Array(items) => &items.0[..],
        Value::Null => &[],
        other => return Err(format!("Cannot index {} with number", other.type_name()).into()),
    };
    let (mut start, mut end) = (0_i64, items.len() as i64 - 1);
    let item = |index: i64| usize::try_from(index).ok().and_then(|index| items.get(index));
    while start <= end {
        let middle = (start + end) / 2;
        let order = item(middle).map_or(Ordering::Less, |item| item.compare(wanted));
        match order {
            Ordering::Equal => return Ok(Value::Number(middle as f64)),
            Ordering::Less => start = middle + 1,
            Ordering::Greater => end = middle - 1,
        }
    }
    Ok(Value::Number((-1 - start) as f64))
}
