//! Integers beyond 64 bits, passed between callers and tools as they were written.
//!
//! `serde_json` reads such an integer as a float, which loses digits. Here it becomes a marked string, which is written as
//! the same integer again.
//!
//! ```
//! use haft_tools::exact;
//!
//! let text = r#"{"id":123456789012345678901234567890,"n":1}"#;
//! let value = exact::parse(text).unwrap();
//! assert_eq!(exact::to_text(&value), text);
//! assert_eq!(exact::rounded(&value)["id"], 1.2345678901234568e29);
//! ```

use std::borrow::Cow;
use std::hash::{BuildHasher as _, RandomState};
use std::sync::LazyLock;
use std::sync::atomic::{AtomicBool, Ordering};

use serde::de::DeserializeOwned;
use serde_json::value::RawValue;
use serde_json::{Number, Value};

/// Starts a string that is an integer. It is random, so that no other string is taken for one.
static MARK: LazyLock<Mark> = LazyLock::new(|| {
    let random = || RandomState::new().hash_one(0);
    let name = format!("haft-integer-{:016x}{:016x}", random(), random());
    Mark { plain: format!("\0{name}\0"), written: format!("\"\\u0000{name}\\u0000") }
});
/// Whether a string was marked in this process.
static IS_USED: AtomicBool = AtomicBool::new(false);
/// Integers with fewer characters fit into 64 bits.
const MIN_LENGTH: usize = 19;

struct Mark {
    plain: String,
    /// The mark as JSON, after the opening quote.
    written: String,
}

/// Parses JSON and keeps large integers.
///
/// # Errors
/// If the text is not JSON.
pub fn parse(text: &str) -> Result<Value, serde_json::Error> {
    parse_as(text)
}

/// Parses JSON and keeps large integers in values of type [`Value`]. Numbers of other types are parsed as usual.
///
/// # Errors
/// If the text is not JSON, or not of this type.
pub fn parse_as<T: DeserializeOwned>(text: &str) -> Result<T, serde_json::Error> {
    match marked(text) {
        Cow::Borrowed(text) => serde_json::from_str(text),
        // The original text gives the position of an error.
        Cow::Owned(marked) => serde_json::from_str(&marked).or_else(|_| serde_json::from_str(text)),
    }
}

/// JSON in which large integers are marked strings.
pub fn marked(text: &str) -> Cow<'_, str> {
    let mut marked = String::new();
    let (mut copied, mut place, mut quoted) = (0, 0, false);
    let bytes = text.as_bytes();
    while place < bytes.len() {
        match bytes[place] {
            b'\\' if quoted => place += 2,
            b'"' => {
                quoted = !quoted;
                place += 1;
            }
            b'-' | b'0'..=b'9' if !quoted => {
                let is_part = |byte: &&u8| byte.is_ascii_digit() || b"+-.eE".contains(byte);
                let end = place + bytes[place..].iter().take_while(is_part).count();
                if is_large_integer(&text[place..end]) {
                    let mark = &MARK.written;
                    marked += &format!("{}{mark}{}\"", &text[copied..place], &text[place..end]);
                    copied = end;
                }
                place = end;
            }
            _ => place += 1,
        }
    }
    if copied == 0 {
        return Cow::Borrowed(text);
    }
    IS_USED.store(true, Ordering::Relaxed);
    Cow::Owned(marked + &text[copied..])
}

fn is_large_integer(token: &str) -> bool {
    let digits = token.strip_prefix('-').unwrap_or(token);
    token.len() >= MIN_LENGTH
        && !digits.starts_with('0')
        && digits.bytes().all(|byte| byte.is_ascii_digit())
        && token.parse::<i64>().is_err()
        && token.parse::<u64>().is_err()
}

/// The digits of a large integer, if the value is one.
pub fn large_integer(value: &Value) -> Option<&str> {
    value.as_str().and_then(integer)
}

/// The integer that a marked string is.
fn integer(text: &str) -> Option<&str> {
    if !IS_USED.load(Ordering::Relaxed) {
        return None;
    }
    text.strip_prefix(MARK.plain.as_str()).filter(|token| is_large_integer(token))
}

/// The value as `serde_json` would have read it: with floats in place of large integers.
pub fn rounded(value: &Value) -> Cow<'_, Value> {
    if has_large(value) { Cow::Owned(round(value)) } else { Cow::Borrowed(value) }
}

fn has_large(value: &Value) -> bool {
    match value {
        Value::String(text) => integer(text).is_some(),
        Value::Array(items) => items.iter().any(has_large),
        Value::Object(fields) => fields.values().any(has_large),
        Value::Null | Value::Bool(_) | Value::Number(_) => false,
    }
}

fn round(value: &Value) -> Value {
    match value {
        Value::String(text) => {
            let number = integer(text).and_then(|token| token.parse().ok()).and_then(Number::from_f64);
            number.map_or_else(|| value.clone(), Value::Number)
        }
        Value::Array(items) => items.iter().map(round).collect(),
        Value::Object(fields) => fields.iter().map(|(name, field)| (name.clone(), round(field))).collect(),
        Value::Null | Value::Bool(_) | Value::Number(_) => value.clone(),
    }
}

/// The value for a program that computes with 64-bit integers: larger whole numbers become the nearest one that fits.
pub fn saturated(value: &Value) -> Value {
    match value {
        Value::String(text) => match integer(text) {
            Some(token) => nearest(token.starts_with('-')),
            None => value.clone(),
        },
        Value::Number(number) => match number.as_f64().filter(|_| number.is_f64()) {
            Some(float) if float.fract() == 0.0 && float.abs() >= 2f64.powi(63) => nearest(float < 0.0),
            _ => value.clone(),
        },
        Value::Array(items) => items.iter().map(saturated).collect(),
        Value::Object(fields) => {
            fields.iter().map(|(name, field)| (name.clone(), saturated(field))).collect()
        }
        Value::Null | Value::Bool(_) => value.clone(),
    }
}

fn nearest(is_negative: bool) -> Value {
    if is_negative { i64::MIN.into() } else { u64::MAX.into() }
}

/// The value as JSON, with its large integers.
pub fn to_text(value: &Value) -> String {
    let text = value.to_string();
    match restored(&text) {
        Cow::Owned(exact) => exact,
        Cow::Borrowed(_) => text,
    }
}

/// JSON with integers in place of the marked strings.
pub fn restored(text: &str) -> Cow<'_, str> {
    if !IS_USED.load(Ordering::Relaxed) || !text.contains(&MARK.written) {
        return Cow::Borrowed(text);
    }
    let mut parts = text.split(&MARK.written);
    let mut exact = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        match part.split_once('"').filter(|(token, _)| is_large_integer(token)) {
            Some((token, rest)) => exact += &format!("{token}{rest}"),
            None => exact += &format!("{}{part}", MARK.written),
        }
    }
    Cow::Owned(exact)
}

/// The value for a serializer of JSON.
pub(crate) fn raw(value: &Value) -> Option<Box<RawValue>> {
    RawValue::from_string(to_text(value)).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn large_integers_stay_exact() {
        for text in [
            "18446744073709551616",
            "-9223372036854775809",
            r#"[18446744073709551615,-9223372036854775808,1e400000000000000000000]"#,
            r#"{"a":["100000000000000000000","\\\"100000000000000000000"],"b":100000000000000000000}"#,
        ] {
            match parse(text) {
                Ok(value) => assert_eq!(to_text(&value), text),
                Err(_) => assert!(text.contains("1e4"), "{text}"),
            }
        }
        assert_eq!(marked("[1, 12345678901234567890123.5]"), "[1, 12345678901234567890123.5]");
        assert!(parse("[12345678901234567890123").is_err());
    }

    #[test]
    fn values_for_programs_fit_into_64_bits() {
        let value =
            parse(r#"{"a":[100000000000000000000,-100000000000000000000],"b":1e30,"c":1.5,"d":7}"#).unwrap();
        let fitting =
            r#"{"a":[18446744073709551615,-9223372036854775808],"b":18446744073709551615,"c":1.5,"d":7}"#;
        assert_eq!(saturated(&value).to_string(), fitting);
    }

    #[test]
    fn other_types_are_parsed_as_usual() {
        #[derive(serde::Deserialize)]
        struct Message {
            progress: f64,
            data: Value,
        }
        let message: Message = parse_as(r#"{"progress":100000000000000000000,"data":1}"#).unwrap();
        assert_eq!((message.progress, message.data), (1e20, 1.into()));
        let message: Message = parse_as(r#"{"progress":1,"data":[100000000000000000000]}"#).unwrap();
        assert_eq!(large_integer(&message.data[0]), Some("100000000000000000000"));
        assert_eq!(to_text(&message.data), "[100000000000000000000]");
    }
}
