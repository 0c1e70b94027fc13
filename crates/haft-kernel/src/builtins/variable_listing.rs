//! Listings of variables as commands that recreate them.

use haft_text::encoding::Encoding;
use haft_text::format_number;
use haft_text::quote;

use crate::session::Session;
use crate::variables::{Variable, VariableValue, is_name};

/// Formats a variable for a listing.
pub(crate) type VariableFormat = fn(&[u8], &Variable, Encoding) -> Vec<u8>;

/// Returns `declare -x name="value"`, as `declare -p` prints it, or without the value if the variable is unset.
pub(crate) fn declaration(name: &[u8], variable: &Variable, encoding: Encoding) -> Vec<u8> {
    let letters = variable.letters();
    let letters = if letters.is_empty() { "-" } else { &letters };
    let mut line = [b"declare -", letters.as_bytes(), b" ", name].concat();
    if variable.is_set() {
        line.push(b'=');
        match &variable.value {
            VariableValue::Scalar(value) => line.extend_from_slice(&quote::declared(value, encoding)),
            _ => line.extend_from_slice(&elements(variable, encoding)),
        }
    }
    line.push(b'\n');
    line
}

/// Returns `name=value`, as `set` prints it, or nothing if the variable is unset.
pub(crate) fn listing(name: &[u8], variable: &Variable, encoding: Encoding) -> Vec<u8> {
    if !variable.is_set() {
        return Vec::new();
    }
    let value = match &variable.value {
        VariableValue::Scalar(value) => quote::listed(value, encoding),
        _ => elements(variable, encoding),
    };
    [name, b"=", &value, b"\n"].concat()
}

/// Returns the elements of an array as a compound value: `([0]="a" [1]="b")`.
pub(crate) fn elements(variable: &Variable, encoding: Encoding) -> Vec<u8> {
    let mut text = b"(".to_vec();
    match &variable.value {
        VariableValue::Scalar(value) => text.extend_from_slice(&quote::declared(value, encoding)),
        VariableValue::Indexed(array) => {
            for (position, (index, value)) in array.iter().enumerate() {
                if position > 0 {
                    text.push(b' ');
                }
                let mut digits = [0; 20];
                text.push(b'[');
                text.extend_from_slice(format_number(index.cast_signed(), &mut digits));
                text.extend_from_slice(b"]=");
                text.extend_from_slice(&quote::declared(value, encoding));
            }
        }
        VariableValue::Associative(array) => {
            for (key, value) in array.entries() {
                text.push(b'[');
                text.extend_from_slice(&quote::declared_key(key, encoding));
                text.extend_from_slice(b"]=");
                text.extend_from_slice(&quote::declared(value, encoding));
                text.push(b' ');
            }
        }
    }
    text.push(b')');
    text
}

/// Returns the listing of `set`.
pub(super) fn listed(session: &Session) -> Vec<u8> {
    all(session, |name, variable| session.is_listed(name, variable), listing)
}

/// Returns a listing of all variables that `wanted` accepts, sorted by name. Dynamic variables are computed.
pub(crate) fn all(
    session: &Session,
    wanted: impl Fn(&[u8], &Variable) -> bool,
    format: VariableFormat,
) -> Vec<u8> {
    let mut text = Vec::new();
    for (name, variable) in session.variables.sorted() {
        if is_name(name) && wanted(name, variable) {
            text.extend_from_slice(&one(session, name, variable, format));
        }
    }
    text
}

/// Returns the listing of one variable. A nameref is not followed; a dynamic variable is computed.
pub(super) fn one(session: &Session, name: &[u8], variable: &Variable, format: VariableFormat) -> Vec<u8> {
    use crate::variables::Attributes;
    // The listing takes up to about twice the memory of the value.
    if session.reserve_memory("a declaration", variable.value.size().saturating_mul(2)).is_err() {
        return Vec::new();
    }
    if variable.is(Attributes::DYNAMIC)
        && let Some(computed) = session.lookup(name)
    {
        return format(name, &computed, session.encoding());
    }
    format(name, variable, session.encoding())
}
