//! Values as JSON text.

use std::fmt::Write as _;

use super::number::write_double;
use super::value::{Value, sorted_keys};

/// How deep values are printed.
const MAX_DEPTH: usize = 256;

/// The colours of null, false, true, numbers, strings, arrays, objects and names of members.
const DEFAULT_COLORS: [&str; 8] = ["0;90", "0;39", "0;39", "0;39", "0;32", "1;39", "1;39", "1;34"];

/// The longest colour.
const MAX_COLOR_BYTES: usize = 12;

/// How values are printed.
#[derive(Clone, Debug, Default)]
pub(super) struct PrintStyle {
    /// `None` prints everything on one line.
    pub(super) indent: Option<Indent>,
    pub(super) sort_keys: bool,
    pub(super) ascii: bool,
    pub(super) colors: Option<Colors>,
}

/// The indentation of a level.
#[derive(Clone, Copy, Debug)]
pub(super) enum Indent {
    Spaces(usize),
    Tab,
}

/// Escape sequences for the types of values.
#[derive(Clone, Debug)]
pub(super) struct Colors([String; 8]);

impl Colors {
    /// The default colours, with those that `JQ_COLORS` sets. The flag is false if its value is not valid.
    pub(super) fn parse(setting: Option<&str>) -> (Self, bool) {
        let mut colors: Vec<String> = DEFAULT_COLORS.iter().map(|color| (*color).to_owned()).collect();
        let mut is_valid = true;
        for (index, color) in
            setting.into_iter().filter(|it| !it.is_empty()).flat_map(|it| it.split(':')).enumerate().take(8)
        {
            let allowed = color.bytes().all(|byte| byte.is_ascii_digit() || byte == b';');
            if color.len() > MAX_COLOR_BYTES || !allowed {
                is_valid = false;
                break;
            }
            color.clone_into(&mut colors[index]);
        }
        if !is_valid {
            return (Self::parse(None).0, false);
        }
        let sequences: Vec<String> = colors.iter().map(|color| format!("\x1b[{color}m")).collect();
        (Self(sequences.try_into().unwrap_or_default()), true)
    }

    fn of(&self, value: &Value) -> &str {
        let index = match value {
            Value::Null => 0,
            Value::Bool(false) => 1,
            Value::Bool(true) => 2,
            Value::Number(_) | Value::Decimal(_) => 3,
            Value::String(_) => 4,
            Value::Array(_) => 5,
            Value::Object(_) => 6,
        };
        &self.0[index]
    }

    fn of_names(&self) -> &str {
        &self.0[7]
    }
}

const RESET: &str = "\x1b[0m";

/// A value on one line.
pub(super) fn to_json(value: &Value) -> String {
    let mut text = String::new();
    write_value(&mut text, value, &PrintStyle::default());
    text
}

/// A value for an error message: at most `limit - 1` bytes.
pub(super) fn shortened(value: &Value, limit: usize) -> String {
    let text = to_json(value);
    let bytes = text.as_bytes();
    if bytes.len() < limit {
        return text;
    }
    let mut kept = bytes[..limit - 4].to_vec();
    kept.extend_from_slice(b"...");
    String::from_utf8_lossy(&kept).into_owned()
}

/// Appends a value to text.
pub(super) fn write_value(text: &mut String, value: &Value, style: &PrintStyle) {
    Printer { text, style }.value(value, 0);
}

struct Printer<'a> {
    text: &'a mut String,
    style: &'a PrintStyle,
}

impl Printer<'_> {
    fn value(&mut self, value: &Value, depth: usize) {
        let style = self.style;
        let color = style.colors.as_ref().map(|colors| colors.of(value));
        self.text.push_str(color.unwrap_or_default());
        if depth > MAX_DEPTH {
            self.text.push_str("<skipped: too deep>");
        } else {
            self.content(value, depth, color);
        }
        if color.is_some() {
            self.text.push_str(RESET);
        }
    }

    fn content(&mut self, value: &Value, depth: usize, color: Option<&str>) {
        match value {
            Value::Null => self.text.push_str("null"),
            Value::Bool(true) => self.text.push_str("true"),
            Value::Bool(false) => self.text.push_str("false"),
            // Not-a-number is written as null, with the colour of null too.
            Value::Number(number) if number.is_nan() && color.is_some() => self.value(&Value::Null, depth),
            Value::Number(number) => write_double(self.text, *number),
            Value::Decimal(decimal) => self.text.push_str(decimal.text()),
            Value::String(text) => write_string(self.text, text, self.style.ascii),
            Value::Array(items) if items.0.is_empty() => self.text.push_str("[]"),
            Value::Array(items) => self.array(&items.0, depth, color),
            Value::Object(fields) if fields.0.is_empty() => self.text.push_str("{}"),
            Value::Object(fields) => {
                let members: Vec<(&str, &Value)> = match self.style.sort_keys {
                    true => {
                        sorted_keys(&fields.0).into_iter().map(|key| (&**key, &fields.0[&**key])).collect()
                    }
                    false => fields.0.iter().map(|(key, value)| (&**key, value)).collect(),
                };
                self.object(&members, depth, color);
            }
        }
    }

    fn array(&mut self, items: &[Value], depth: usize, color: Option<&str>) {
        self.text.push('[');
        self.new_line(depth + 1);
        for (index, item) in items.iter().enumerate() {
            if index > 0 {
                self.text.push(',');
                self.new_line(depth + 1);
            }
            self.value(item, depth + 1);
            self.text.push_str(color.unwrap_or_default());
        }
        self.new_line(depth);
        self.text.push_str(color.unwrap_or_default());
        self.text.push(']');
    }

    fn object(&mut self, members: &[(&str, &Value)], depth: usize, color: Option<&str>) {
        let style = self.style;
        self.text.push('{');
        self.new_line(depth + 1);
        for (index, (name, value)) in members.iter().enumerate() {
            if index > 0 {
                self.text.push(',');
                self.new_line(depth + 1);
            }
            let separator = if style.indent.is_some() { ": " } else { ":" };
            match (&style.colors, color) {
                (Some(colors), Some(color)) => {
                    self.text.push_str(RESET);
                    self.text.push_str(colors.of_names());
                    write_string(self.text, name, style.ascii);
                    let _ = write!(self.text, "{RESET}{color}{separator}{RESET}");
                }
                _ => {
                    write_string(self.text, name, style.ascii);
                    self.text.push_str(separator);
                }
            }
            self.value(value, depth + 1);
            self.text.push_str(color.unwrap_or_default());
        }
        self.new_line(depth);
        self.text.push_str(color.unwrap_or_default());
        self.text.push('}');
    }

    fn new_line(&mut self, depth: usize) {
        let Some(indent) = self.style.indent else { return };
        self.text.push('\n');
        match indent {
            Indent::Tab => self.text.extend(std::iter::repeat_n('\t', depth)),
            Indent::Spaces(count) => self.text.extend(std::iter::repeat_n(' ', depth * count)),
        }
    }
}

/// Appends a string in quotes.
pub(super) fn write_string(text: &mut String, string: &str, ascii: bool) {
    text.push('"');
    let bytes = string.as_bytes();
    let mut start = 0;
    for (index, byte) in bytes.iter().enumerate() {
        let is_plain =
            matches!(byte, 0x20..=0x7e if !matches!(byte, b'"' | b'\\')) || (*byte >= 0x80 && !ascii);
        if is_plain || (*byte & 0xc0 == 0x80) {
            continue;
        }
        text.push_str(string.get(start..index).unwrap_or_default());
        let letter = string[index..].chars().next().unwrap_or('\u{fffd}');
        write_escape(text, letter);
        start = index + letter.len_utf8();
    }
    text.push_str(string.get(start..).unwrap_or_default());
    text.push('"');
}

fn write_escape(text: &mut String, letter: char) {
    match letter {
        '"' => text.push_str("\\\""),
        '\\' => text.push_str("\\\\"),
        '\u{8}' => text.push_str("\\b"),
        '\t' => text.push_str("\\t"),
        '\r' => text.push_str("\\r"),
        '\n' => text.push_str("\\n"),
        '\u{c}' => text.push_str("\\f"),
        letter => {
            for unit in letter.encode_utf16(&mut [0; 2]) {
                let _ = write!(text, "\\u{unit:04x}");
            }
        }
    }
}
