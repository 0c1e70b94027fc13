//! Functions that are implemented here.

mod collection;
mod datetime;
mod format;
mod math;
mod operators;
mod regex;
mod text;

use super::access;
use super::print::shortened;
use super::value::Value;
use crate::text::streams::Stop;

pub(super) use operators::{binary, negate};

/// The most arguments of a native function.
pub(super) const MAX_ARGUMENTS: usize = 3;

/// A native function, of its input and its arguments.
pub(super) type Native = fn(&mut dyn Services, Value, [Value; MAX_ARGUMENTS]) -> Result<Value, Failure>;

/// Why a native function has no output.
#[derive(Debug)]
pub(super) enum Failure {
    /// An error that `try` can handle.
    Error(Value),
    /// The filter ends with this status and message.
    Halt { status: Option<Value>, message: Option<Value> },
    /// The command ends.
    Stop(Stop),
}

impl From<Value> for Failure {
    fn from(error: Value) -> Self {
        Self::Error(error)
    }
}

impl From<&str> for Failure {
    fn from(message: &str) -> Self {
        Self::Error(message.into())
    }
}

impl From<String> for Failure {
    fn from(message: String) -> Self {
        Self::Error(message.into())
    }
}

/// The result of a native function.
pub(super) type Returned = Result<Value, Failure>;

/// Data from outside that functions need.
pub(super) trait Services {
    /// Checks for cancellation.
    fn check(&mut self) -> Result<(), Failure>;
    /// The next input. `None` at the end.
    fn input(&mut self) -> Result<Option<Value>, Failure>;
    /// Prints a value for `debug`.
    fn debug(&mut self, value: &Value);
    /// Prints a value for `stderr`.
    fn stderr(&mut self, value: &Value);
    /// The environment as an object.
    fn environment(&mut self) -> Value;
    /// The name of the current file.
    fn input_name(&self) -> Value;
    /// The number of lines that were read from it.
    fn input_line(&self) -> usize;
    /// The time zone.
    fn local_time(&mut self, seconds: i64) -> Option<[i64; 8]>;
    /// The abbreviation and the offset of the time zone.
    fn zone(&mut self, seconds: i64) -> (String, i64);
}

/// An error about the type of a value.
fn type_error(value: &Value, message: &str) -> Value {
    let (kind, shown) = (value.type_name(), shortened(value, access::SHORT));
    format!("{kind} ({shown}) {message}").into()
}

/// An error about the types of two values.
fn type_error_of_two(a: &Value, b: &Value, message: &str) -> Value {
    let (a_kind, a_shown) = (a.type_name(), shortened(a, access::SHORT));
    let (b_kind, b_shown) = (b.type_name(), shortened(b, access::SHORT));
    format!("{a_kind} ({a_shown}) and {b_kind} ({b_shown}) {message}").into()
}

/// A native function with its name and the number of its arguments.
type Entry = (&'static str, usize, Native);

const TABLES: [&[Entry]; 6] =
    [BASIC, collection::TABLE, datetime::TABLE, math::TABLE, regex::TABLE, text::TABLE];

/// Finds a native function.
pub(super) fn find(name: &str, count: usize) -> Option<Native> {
    let mut entries = TABLES.iter().flat_map(|table| table.iter());
    entries.find(|(known, arguments, _)| *known == name && *arguments == count).map(|(_, _, native)| *native)
}

/// Functions that the compiler puts in place.
const INLINED: [(&str, usize); 14] = [
    ("empty", 0),
    ("not", 0),
    ("path", 1),
    ("range", 1),
    ("range", 2),
    ("error", 1),
    ("map", 1),
    ("select", 1),
    ("getpath", 1),
    ("sort_by", 1),
    ("group_by", 1),
    ("unique_by", 1),
    ("min_by", 1),
    ("max_by", 1),
];

const BASIC: &[Entry] = &[
    ("error", 0, |_, input, _| Err(Failure::Error(input))),
    ("halt", 0, |_, _, _| Err(Failure::Halt { status: None, message: None })),
    ("halt_error", 1, |_, input, [status, ..]| match status.as_number() {
        Some(_) => Err(Failure::Halt { status: Some(status), message: Some(input) }),
        None => Err(type_error(&input, "halt_error/1: number required").into()),
    }),
    ("input", 0, |services, _, _| match services.input()? {
        Some(value) => Ok(value),
        None => Err("break".into()),
    }),
    ("debug", 0, |services, input, _| {
        services.debug(&input);
        Ok(input)
    }),
    ("stderr", 0, |services, input, _| {
        services.stderr(&input);
        Ok(input)
    }),
    ("env", 0, |services, _, _| Ok(services.environment())),
    ("input_filename", 0, |services, _, _| Ok(services.input_name())),
    ("input_line_number", 0, |services, _, _| Ok(services.input_line().into())),
    ("type", 0, |_, input, _| Ok(input.type_name().into())),
    ("setpath", 2, |_, input, [path, value, _]| Ok(access::set_path(input, &path, value)?)),
    ("delpaths", 1, |_, input, [paths, ..]| Ok(access::delete_paths(input, paths)?)),
    ("has", 1, |_, input, [key, ..]| Ok(access::has(&input, &key)?)),
    ("builtins", 0, |_, _, _| Ok(names())),
    ("get_search_list", 0, |_, _, _| Ok(Vec::new().into())),
];

/// The names of all functions, as `builtins` returns them.
fn names() -> Value {
    let native = TABLES.iter().flat_map(|table| table.iter()).map(|(name, count, _)| (*name, *count));
    let all = native.chain(INLINED).chain(super::library::names());
    let public = all.filter(|(name, _)| !name.starts_with('_'));
    public.map(|(name, count)| Value::from(format!("{name}/{count}"))).collect::<Vec<_>>().into()
}
