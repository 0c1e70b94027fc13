//! The formats of `@name`.

use std::fmt::Write as _;

use super::{Returned, text::to_text, type_error};
use crate::jq::print::to_json;
use crate::jq::value::Value;

const BASE64: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

/// Formats a value.
pub(super) fn apply(input: Value, name: &Value) -> Returned {
    let Some(name) = name.as_text() else { return Err(type_error(name, "is not a valid format").into()) };
    let text = |input: Value| to_text(input).as_text().unwrap_or_default().to_owned();
    match name {
        "json" => Ok(to_json(&input).into()),
        "text" => Ok(to_text(input)),
        "csv" => row(&input, "cannot be csv-formatted, only array", ",", |text| {
            format!("\"{}\"", without_nul(text).replace('"', "\"\""))
        }),
        "tsv" => row(&input, "cannot be tsv-formatted, only array", "\t", |text| {
            without_nul(&text.replace('\\', "\\\\"))
                .replace('\t', "\\t")
                .replace('\r', "\\r")
                .replace('\n', "\\n")
        }),
        "html" => {
            let escaped =
                without_nul(&text(input)).replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;");
            Ok(escaped.replace('\'', "&apos;").replace('"', "&quot;").into())
        }
        "uri" => Ok(percent_encoded(&text(input)).into()),
        "sh" => shell_words(&input),
        "base64" => Ok(base64(text(input).as_bytes()).into()),
        "base64d" => decoded(&to_text(input)),
        name => Err(format!("{name} is not a valid format").into()),
    }
}

fn row(input: &Value, message: &str, separator: &str, quote: impl Fn(&str) -> String) -> Returned {
    let Some(items) = input.as_array() else { return Err(type_error(input, message).into()) };
    let mut cells = Vec::with_capacity(items.len());
    for item in items {
        cells.push(match item {
            Value::Null => String::new(),
            Value::String(text) => quote(text),
            Value::Number(number) if number.is_nan() => String::new(),
            Value::Array(_) | Value::Object(_) => {
                return Err(type_error(item, "is not valid in a csv row").into());
            }
            other => to_json(other),
        });
    }
    Ok(cells.join(separator).into())
}

/// A text with `\\0` for each NUL.
fn without_nul(text: &str) -> String {
    text.replace('\0', "\\0")
}

fn percent_encoded(text: &str) -> String {
    let mut encoded = String::with_capacity(text.len());
    for byte in text.bytes() {
        match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'-' | b'_' | b'.' | b'~' => {
                encoded.push(char::from(byte));
            }
            byte => {
                let _ = write!(encoded, "%{byte:02X}");
            }
        }
    }
    encoded
}

fn shell_words(input: &Value) -> Returned {
    let single = std::slice::from_ref(input);
    let items = input.as_array().unwrap_or(single);
    let mut words = Vec::with_capacity(items.len());
    for item in items {
        words.push(match item {
            Value::String(text) => format!("'{}'", without_nul(text).replace('\'', "'\\''")),
            Value::Array(_) | Value::Object(_) => {
                return Err(type_error(item, "can not be escaped for shell").into());
            }
            other => to_json(other),
        });
    }
    Ok(words.join(" ").into())
}

fn base64(bytes: &[u8]) -> String {
    let mut encoded = String::with_capacity(bytes.len().div_ceil(3) * 4);
    for chunk in bytes.chunks(3) {
        let byte = |index: usize| u32::from(chunk.get(index).copied().unwrap_or(0));
        let code = byte(0) << 16 | byte(1) << 8 | byte(2);
        for index in 0..4_usize {
            let digit = BASE64[(code >> (18 - 6 * index) & 0x3f) as usize];
            encoded.push(if index > chunk.len() { '=' } else { char::from(digit) });
        }
    }
    encoded
}

fn decoded(input: &Value) -> Returned {
    let text = input.as_text().unwrap_or_default();
    let mut bytes = Vec::with_capacity(text.len() * 3 / 4);
    let (mut code, mut count) = (0_u32, 0);
    for byte in text.bytes().take_while(|byte| *byte != b'=') {
        let Some(digit) = BASE64.iter().position(|known| *known == byte) else {
            return Err(type_error(input, "is not valid base64 data").into());
        };
        code = code << 6 | digit as u32;
        count += 1;
        if count == 4 {
            bytes.extend_from_slice(&code.to_be_bytes()[1..]);
            (code, count) = (0, 0);
        }
    }
    match count {
        3 => bytes.extend_from_slice(&(code << 6).to_be_bytes()[1..3]),
        2 => bytes.extend_from_slice(&(code << 12).to_be_bytes()[1..2]),
        1 => return Err(type_error(input, "trailing base64 byte found").into()),
        _ => {}
    }
    Ok(String::from_utf8_lossy(&bytes).into_owned().into())
}
