//! Variables as commands that would make them.

use haft_text::encoding::Encoding;
use haft_text::format_number;
use haft_text::quote;

use crate::session::Session;
use crate::variables::{Value, Variable, is_name};

/// A way to show a variable.
pub(super) type Show = fn(&[u8], &Variable, Encoding) -> Vec<u8>;

/// `declare -x name="value"`, as `declare -p` writes it; without a value if there is none.
pub(crate) fn declaration(name: &[u8], variable: &Variable, encoding: Encoding) -> Vec<u8> {
    let letters = variable.letters();
    let letters = if letters.is_empty() { "-" } else { &letters };
    let mut line = [b"declare -", letters.as_bytes(), b" ", name].concat();
    if variable.is_set() {
        line.push(b'=');
        match &variable.value {
            Value::Scalar(value) => line.extend_from_slice(&quote::declared(value, encoding)),
            _ => line.extend_from_slice(&elements(variable, encoding)),
        }
    }
    line.push(b'\n');
    line
}

/// `name=value`, as `set` writes it; nothing if there is no value.
pub(crate) fn listing(name: &[u8], variable: &Variable, encoding: Encoding) -> Vec<u8> {
    if !variable.is_set() {
        return Vec::new();
    }
    let value = match &variable.value {
        Value::Scalar(value) => quote::listed(value, encoding),
        _ => elements(variable, encoding),
    };
    [name, b"=", &value, b"\n"].concat()
}

/// `([0]="a" [1]="b")`.
pub(crate) fn elements(variable: &Variable, encoding: Encoding) -> Vec<u8> {
    let mut text = b"(".to_vec();
    match &variable.value {
        Value::Scalar(value) => text.extend_from_slice(&quote::declared(value, encoding)),
        Value::Indexed(array) => {
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
        Value::Associative(array) => {
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

/// All variables that pass, sorted, each shown in a way; what is computed when read is computed.
pub(super) fn all(session: &Session, wanted: impl Fn(&Variable) -> bool, show: Show) -> Vec<u8> {
    let mut text = Vec::new();
    for (name, variable) in session.variables.sorted() {
        if is_name(name) && wanted(variable) {
            text.extend_from_slice(&of(session, name, variable, show));
        }
    }
    text
}

/// One variable, shown in a way; a reference is shown itself, what is computed when read is computed.
pub(super) fn of(session: &Session, name: &[u8], variable: &Variable, show: Show) -> Vec<u8> {
    use crate::variables::Attributes;
    // Quotes and the text that surrounds a value take about as much as the value.
    if session.reserve_memory("a declaration", variable.value.size().saturating_mul(2)).is_err() {
        return Vec::new();
    }
    if variable.is(Attributes::DYNAMIC)
        && let Some(computed) = session.lookup(name)
    {
        return show(name, &computed, session.encoding());
    }
    show(name, variable, session.encoding())
}
