//! Reads, sets and deletes parts of values.

use std::cmp::Ordering;
use std::rc::Rc;

use super::value::{ArrayItems, Value, take_items};

/// How much of a value an error message shows.
pub(super) const SHORT: usize = 15;

/// Longer names are not shown in messages.
const MAX_SHOWN_NAME: usize = 30;

/// The longest path that is set or deleted.
const MAX_PATH: usize = 5000;

/// The largest array that setting an element makes.
const MAX_ELEMENTS: usize = 1 << 28;

type Accessed = Result<Value, Value>;

/// The element of a value at a key.
pub(super) fn get(target: &Value, key: &Value) -> Accessed {
    match (target, key) {
        (Value::Object(fields), Value::String(name)) => {
            Ok(fields.0.get(name).cloned().unwrap_or(Value::Null))
        }
        (Value::Array(items), Value::Number(_) | Value::Decimal(_)) => {
            let index = key.as_number().filter(|index| !index.is_nan());
            let position = index.and_then(|index| position(index, items.0.len()));
            Ok(position.and_then(|position| items.0.get(position)).cloned().unwrap_or(Value::Null))
        }
        (Value::Array(items), Value::Object(_)) => {
            let (start, end) = slice_bounds(key, items.0.len())?;
            Ok(items.0[start..end].to_vec().into())
        }
        (Value::String(text), Value::Object(_)) => {
            let count = text.chars().count();
            let (start, end) = slice_bounds(key, count)?;
            Ok(text.chars().skip(start).take(end - start).collect::<String>().into())
        }
        (Value::Array(items), Value::Array(wanted)) => Ok(indices(&items.0, &wanted.0)),
        (Value::Null, Value::String(_) | Value::Number(_) | Value::Decimal(_) | Value::Object(_)) => {
            Ok(Value::Null)
        }
        (target, Value::String(name)) if name.len() < MAX_SHOWN_NAME => {
            Err(format!("Cannot index {} with string \"{name}\"", target.type_name()).into())
        }
        (target, key) => Err(format!("Cannot index {} with {}", target.type_name(), key.type_name()).into()),
    }
}

/// The place of an index, which counts from the end if it is negative.
fn position(index: f64, length: usize) -> Option<usize> {
    let index = index.clamp(f64::from(i32::MIN), f64::from(i32::MAX)) as i64;
    let index = if index < 0 { index + length as i64 } else { index };
    usize::try_from(index).ok()
}

/// Where a sequence occurs in an array.
fn indices(items: &[Value], wanted: &[Value]) -> Value {
    let starts_here = |start: &usize| {
        let mut found = false;
        for (offset, value) in wanted.iter().enumerate() {
            match items.get(start + offset) {
                Some(item) if item == value => found |= offset == 0,
                _ => found = false,
            }
            if offset == 0 && !found {
                break;
            }
            if !found {
                return false;
            }
        }
        found
    };
    (0..items.len()).filter(starts_here).map(Value::from).collect::<Vec<_>>().into()
}

/// The bounds of a slice.
fn slice_bounds(slice: &Value, length: usize) -> Result<(usize, usize), Value> {
    let Value::Object(fields) = slice else { return Err(Value::Null) };
    let bound = |name: &str, default: f64| match fields.0.get(name) {
        Some(Value::Null) => Ok(default),
        Some(value) => {
            value.as_number().ok_or_else(|| Value::from("Array/string slice indices must be integers"))
        }
        None => Err(Value::from("Array/string slice indices must be integers")),
    };
    let count = length as f64;
    let (start, end) = (bound("start", 0.0)?, bound("end", count)?);
    let start = if start.is_nan() { 0.0 } else { start };
    let start = if start < 0.0 { start + count } else { start };
    let start = start.clamp(0.0, count).trunc();
    let end = if end.is_nan() { count } else { end };
    let end = if end < 0.0 { end + count } else { end };
    let end = if end < 0.0 { start } else { end.min(count).ceil() };
    Ok((start as usize, end.max(start) as usize))
}

/// Sets the element of a value at a key.
pub(super) fn set(target: Value, key: &Value, value: Value) -> Accessed {
    match (target, key) {
        (Value::Null, Value::String(_)) => set(super::value::Fields::default().into(), key, value),
        (Value::Object(fields), Value::String(name)) => {
            let mut fields = super::value::take_fields(fields);
            fields.insert(name.clone(), value);
            Ok(fields.into())
        }
        (Value::Null, Value::Number(_) | Value::Decimal(_) | Value::Object(_)) => {
            set(Vec::new().into(), key, value)
        }
        (Value::Array(items), Value::Number(_) | Value::Decimal(_)) => set_element(items, key, value),
        (Value::Array(items), Value::Object(_)) => {
            let (start, end) = slice_bounds(key, items.0.len())?;
            let Some(new) = value.into_array() else {
                return Err("A slice of an array can only be assigned another array".into());
            };
            let mut items = take_items(items);
            items.splice(start..end, new);
            Ok(items.into())
        }
        (Value::String(_), Value::Object(_)) => Err("Cannot update string slices".into()),
        (target, key) => {
            let (key, target) = (key.type_name(), target.type_name());
            Err(format!("Cannot update field at {key} index of {target}").into())
        }
    }
}

fn set_element(items: Rc<ArrayItems>, key: &Value, value: Value) -> Accessed {
    let index = key.as_number().unwrap_or(f64::NAN);
    if index.is_nan() {
        return Err("Cannot set array element at NaN index".into());
    }
    let Some(place) = position(index, items.0.len()) else {
        return Err("Out of bounds negative array index".into());
    };
    if place > MAX_ELEMENTS {
        return Err("Array index too large".into());
    }
    let mut items = take_items(items);
    if place >= items.len() {
        items.resize(place + 1, Value::Null);
    }
    items[place] = value;
    Ok(items.into())
}

/// Whether a value has an element at a key.
pub(super) fn has(target: &Value, key: &Value) -> Accessed {
    Ok(Value::Bool(match (target, key) {
        (Value::Null, _) => false,
        (Value::Object(fields), Value::String(name)) => fields.0.contains_key(name),
        (Value::Array(items), Value::Number(_) | Value::Decimal(_)) => {
            let index = key.as_number().unwrap_or(f64::NAN);
            index > -1.0 && (index.trunc() as usize) < items.0.len()
        }
        (target, key) => {
            let (target, key) = (target.type_name(), key.type_name());
            return Err(format!("Cannot check whether {target} has a {key} key").into());
        }
    }))
}

fn path_keys(path: &Value) -> Result<&[Value], Value> {
    let keys = path.as_array().ok_or_else(|| Value::from("Path must be specified as an array"))?;
    match keys.len() > MAX_PATH {
        true => Err("Path too deep".into()),
        false => Ok(keys),
    }
}

/// The value at a path.
pub(super) fn get_path(target: Value, path: &Value) -> Accessed {
    path_keys(path)?.iter().try_fold(target, |target, key| get(&target, key))
}

/// Sets the value at a path.
pub(super) fn set_path(target: Value, path: &Value, value: Value) -> Accessed {
    set_at(target, path_keys(path)?, value)
}

fn set_at(target: Value, keys: &[Value], value: Value) -> Accessed {
    let Some((key, rest)) = keys.split_first() else { return Ok(value) };
    let inner = get(&target, key)?;
    if matches!(key, Value::Object(_)) {
        return set(target, key, set_at(inner, rest, value)?);
    }
    // The element has no other owner while it is changed.
    let target = set(target, key, Value::Null)?;
    set(target, key, set_at(inner, rest, value)?)
}

/// Deletes the values at paths.
pub(super) fn delete_paths(target: Value, paths: Value) -> Accessed {
    let Some(mut paths) = paths.into_array() else {
        return Err("Paths must be specified as an array".into());
    };
    paths.sort_by(Value::compare_for_sort);
    for path in &paths {
        if !matches!(path, Value::Array(_)) {
            return Err(format!("Path must be specified as array, not {}", path.type_name()).into());
        }
        path_keys(path)?;
    }
    let lists: Vec<&[Value]> = paths.iter().filter_map(Value::as_array).collect();
    match lists.first() {
        None => Ok(target),
        Some([]) => Ok(Value::Null),
        Some(_) => delete_sorted(target, &lists),
    }
}

fn delete_sorted(mut target: Value, paths: &[&[Value]]) -> Accessed {
    let mut deleted = Vec::new();
    let mut start = 0;
    while start < paths.len() {
        let key = &paths[start][0];
        let same = paths[start..].iter().take_while(|path| path[0].compare_for_sort(key) == Ordering::Equal);
        let end = start + same.count();
        if paths[start].len() == 1 {
            deleted.push(key);
        } else {
            let inner = get(&target, key)?;
            if !matches!(inner, Value::Null) {
                let rest: Vec<&[Value]> = paths[start..end].iter().map(|path| &path[1..]).collect();
                let inner = delete_sorted(inner, &rest)?;
                target = set(target, key, inner)?;
            }
        }
        start = end;
    }
    delete_keys(target, &deleted)
}

fn delete_keys(target: Value, keys: &[&Value]) -> Accessed {
    match target {
        Value::Null => Ok(Value::Null),
        target if keys.is_empty() => Ok(target),
        Value::Array(items) => delete_elements(take_items(items), keys),
        Value::Object(fields) => {
            let mut fields = super::value::take_fields(fields);
            for key in keys {
                let Value::String(name) = key else {
                    return Err(format!("Cannot delete {} field of object", key.type_name()).into());
                };
                fields.shift_remove(name);
            }
            Ok(fields.into())
        }
        other => Err(format!("Cannot delete fields from {}", other.type_name()).into()),
    }
}

fn delete_elements(items: Vec<Value>, keys: &[&Value]) -> Accessed {
    let mut is_deleted = vec![false; items.len()];
    for key in keys {
        match key {
            Value::Object(_) => {
                let (start, end) = slice_bounds(key, items.len())?;
                is_deleted[start..end].fill(true);
            }
            Value::Number(_) | Value::Decimal(_) => {
                let index = key.as_number().unwrap_or(f64::NAN);
                if let Some(slot) = position(index, items.len()).and_then(|index| is_deleted.get_mut(index)) {
                    *slot = true;
                }
            }
            other => return Err(format!("Cannot delete {} element of array", other.type_name()).into()),
        }
    }
    let kept = items.into_iter().zip(is_deleted).filter(|(_, deleted)| !deleted).map(|(item, _)| item);
    Ok(kept.collect::<Vec<_>>().into())
}
