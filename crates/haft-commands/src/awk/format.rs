//! `printf`.

use haft_text::encoding::Encoding;

use super::value::AwkValue;

/// The largest width or precision.
const MAX_WIDTH: usize = 1 << 24;

/// Codes of characters wrap at this number.
const CODES: f64 = 4_294_967_296.0;

/// A conversion: `%-5.2f`.
#[derive(Default)]
struct PrintfConversion {
    is_left: bool,
    has_plus: bool,
    has_space: bool,
    is_alternate: bool,
    has_zeros: bool,
    width: usize,
    precision: Option<usize>,
}

/// The arguments that have not been used.
struct PrintfArguments<'a> {
    values: &'a [AwkValue],
    at: usize,
    format: &'a [u8],
    /// The position of the current letter in the format.
    letter_at: usize,
}

impl<'a> PrintfArguments<'a> {
    fn next(&mut self) -> Result<&'a AwkValue, String> {
        self.at += 1;
        self.values.get(self.at - 1).ok_or_else(|| {
            let (shown, before) = (String::from_utf8_lossy(self.format), " ".repeat(self.letter_at));
            format!(
                "not enough arguments to satisfy format string\n\t`{shown}'\n\t{before}^ ran out for this one"
            )
        })
    }
}

/// Formats values. The error says what is wrong.
pub(super) fn sprintf(
    format: &[u8],
    values: &[AwkValue],
    convfmt: &[u8],
    encoding: Encoding,
    output: &mut Vec<u8>,
) -> Result<(), String> {
    let mut arguments = PrintfArguments { values, at: 0, format, letter_at: 0 };
    let mut rest = format;
    while let Some(start) = memchr::memchr(b'%', rest) {
        output.extend_from_slice(&rest[..start]);
        let (mut conversion, length) = parse(&rest[start..], &mut arguments)?;
        let Some(letter) = rest.get(start + length).copied() else {
            output.extend_from_slice(&rest[start..]);
            return Ok(());
        };
        arguments.letter_at = format.len() - rest.len() + start + length;
        let source = &rest[start..=start + length];
        rest = &rest[start + length + 1..];
        match letter {
            b'%' => output.push(b'%'),
            b'd' | b'i' => conversion.push_integer(arguments.next()?.to_number(), output),
            b'o' | b'x' | b'X' | b'u' => {
                conversion.push_unsigned(arguments.next()?.to_number(), letter, output);
            }
            b'e' | b'E' | b'f' | b'F' | b'g' | b'G' => {
                conversion.push_float(arguments.next()?.to_number(), letter, output);
            }
            b'c' => {
                let text = character(arguments.next()?, encoding);
                conversion.push_text(&text, encoding, output);
            }
            b's' => {
                let text = arguments.next()?.bytes(convfmt);
                let cut = conversion
                    .precision
                    .map_or(text.len(), |most| encoding.characters(&text).take(most).map(<[u8]>::len).sum());
                conversion.precision = None;
                conversion.push_text(&text[..cut], encoding, output);
            }
            b'a' | b'A' | b'$' => {
                return Err(format!("conversion {} is not supported", String::from_utf8_lossy(source)));
            }
            _ => output.extend_from_slice(source),
        }
    }
    output.extend_from_slice(rest);
    Ok(())
}

/// Parses flags, width and precision. Returns the length up to the letter.
fn parse(text: &[u8], arguments: &mut PrintfArguments<'_>) -> Result<(PrintfConversion, usize), String> {
    let mut conversion = PrintfConversion::default();
    let mut at = 1;
    while let Some(flag) = text.get(at) {
        match flag {
            b'-' => conversion.is_left = true,
            b'+' => conversion.has_plus = true,
            b' ' => conversion.has_space = true,
            b'#' => conversion.is_alternate = true,
            b'0' => conversion.has_zeros = true,
            b'\'' => {}
            _ => break,
        }
        at += 1;
    }
    let (width, length) = parse_number(&text[at..], arguments)?;
    at += length;
    conversion.is_left |= width < 0;
    conversion.width = bounded(width.abs())?;
    if text.get(at) == Some(&b'.') {
        let (precision, length) = parse_number(&text[at + 1..], arguments)?;
        at += 1 + length;
        conversion.precision = if precision < 0 { None } else { Some(bounded(precision)?) };
    }
    while matches!(text.get(at), Some(b'l' | b'h' | b'L' | b'j' | b'z')) && text.get(at + 1).is_some() {
        if text[at] == b'z' {
            break;
        }
        at += 1;
    }
    Ok((conversion, at))
}

fn bounded(number: i64) -> Result<usize, String> {
    usize::try_from(number)
        .ok()
        .filter(|number| *number <= MAX_WIDTH)
        .ok_or_else(|| "width is too large".to_owned())
}

/// A number or `*`.
fn parse_number(text: &[u8], arguments: &mut PrintfArguments<'_>) -> Result<(i64, usize), String> {
    if text.first() == Some(&b'*') {
        #[expect(clippy::cast_possible_truncation, reason = "large widths are refused")]
        return Ok((arguments.next()?.to_number() as i64, 1));
    }
    let digits = text.iter().take_while(|byte| byte.is_ascii_digit()).count();
    let number = text[..digits]
        .iter()
        .fold(0i64, |number, digit| number.saturating_mul(10).saturating_add(i64::from(digit - b'0')));
    Ok((number, digits))
}

/// The character of `%c`: that of a code, or the first of a text.
fn character(value: &AwkValue, encoding: Encoding) -> Vec<u8> {
    let Some(number) = value.as_number().filter(|_| !matches!(value, AwkValue::Unset)) else {
        let text = value.bytes(b"%d");
        return encoding.characters(&text).next().unwrap_or(b"\0").to_vec();
    };
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "the code wraps as in C")]
    let code = (number % CODES) as i64 as u32;
    match (encoding, char::from_u32(code)) {
        (Encoding::Utf8, Some(letter)) => letter.to_string().into_bytes(),
        _ => vec![code.to_le_bytes()[0]],
    }
}

impl PrintfConversion {
    fn push_text(&self, text: &[u8], encoding: Encoding, output: &mut Vec<u8>) {
        let padding = match self.width {
            0 => 0,
            width => width.saturating_sub(encoding.count(text)),
        };
        if !self.is_left {
            output.resize(output.len() + padding, b' ');
        }
        output.extend_from_slice(text);
        if self.is_left {
            output.resize(output.len() + padding, b' ');
        }
    }

    /// Appends sign, prefix and digits, padded.
    fn push_number(&self, sign: &str, digits: &str, zeros: bool, output: &mut Vec<u8>) {
        let padding = self.width.saturating_sub(sign.len() + digits.len());
        let (before, between, after) = match (self.is_left, zeros) {
            (true, _) => (0, 0, padding),
            (false, true) => (0, padding, 0),
            (false, false) => (padding, 0, 0),
        };
        output.resize(output.len() + before, b' ');
        output.extend_from_slice(sign.as_bytes());
        output.resize(output.len() + between, b'0');
        output.extend_from_slice(digits.as_bytes());
        output.resize(output.len() + after, b' ');
    }

    fn sign(&self, is_negative: bool) -> &'static str {
        match (is_negative, self.has_plus, self.has_space) {
            (true, ..) => "-",
            (false, true, _) => "+",
            (false, false, true) => " ",
            _ => "",
        }
    }

    fn with_precision(&self, digits: String) -> String {
        match self.precision {
            Some(0) if digits == "0" => String::new(),
            Some(precision) => format!("{digits:0>precision$}"),
            None => digits,
        }
    }

    fn push_integer(&self, number: f64, output: &mut Vec<u8>) {
        if !number.is_finite() {
            return self.push_not_finite(number, output);
        }
        let whole = number.trunc();
        let digits = self.with_precision(format!("{:.0}", whole.abs()));
        self.push_number(self.sign(whole < 0.0), &digits, self.has_zeros && self.precision.is_none(), output);
    }

    fn push_not_finite(&self, number: f64, output: &mut Vec<u8>) {
        self.push_number("", &not_finite(number), false, output);
    }

    fn push_unsigned(&self, number: f64, letter: u8, output: &mut Vec<u8>) {
        if !number.is_finite() {
            return self.push_not_finite(number, output);
        }
        let whole = number.trunc();
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "the range was checked")]
        let value = match whole {
            _ if (-9.3e18..0.0).contains(&whole) => whole as i64 as u64,
            _ if (0.0..1.8e19).contains(&whole) => whole as u64,
            // As in `gawk`, a number that does not fit is written as `%g`.
            _ => return self.push_float(whole, b'g', output),
        };
        let (digits, prefix) = match letter {
            b'o' => (format!("{value:o}"), "0"),
            b'x' => (format!("{value:x}"), "0x"),
            b'X' => (format!("{value:X}"), "0X"),
            _ => (value.to_string(), ""),
        };
        let prefix = if self.is_alternate && value != 0 { prefix } else { "" };
        let digits = self.with_precision(digits);
        self.push_number(prefix, &digits, self.has_zeros && self.precision.is_none(), output);
    }

    fn push_float(&self, number: f64, letter: u8, output: &mut Vec<u8>) {
        if !number.is_finite() {
            return self.push_not_finite(number, output);
        }
        let (size, precision) = (number.abs(), self.precision.unwrap_or(6));
        let text = match letter {
            b'f' | b'F' => {
                let point = if self.is_alternate && precision == 0 { "." } else { "" };
                format!("{size:.precision$}{point}")
            }
            b'e' | b'E' => exponential(size, precision, self.is_alternate),
            _ => general(size, precision, self.is_alternate),
        };
        let text = if letter.is_ascii_uppercase() { text.to_uppercase() } else { text };
        self.push_number(self.sign(number.is_sign_negative()), &text, self.has_zeros, output);
    }
}

/// Infinity or not a number, as `gawk` writes it.
pub(super) fn not_finite(number: f64) -> String {
    let sign = if number.is_sign_negative() { '-' } else { '+' };
    format!("{sign}{}", if number.is_nan() { "nan" } else { "inf" })
}

/// `%e`.
fn exponential(number: f64, precision: usize, is_alternate: bool) -> String {
    let text = format!("{number:.precision$e}");
    let (mantissa, exponent) = text.split_once('e').unwrap_or((&text, "0"));
    let exponent: i32 = exponent.parse().unwrap_or(0);
    let sign = if exponent < 0 { '-' } else { '+' };
    let point = if is_alternate && precision == 0 { "." } else { "" };
    format!("{mantissa}{point}e{sign}{:02}", exponent.abs())
}

/// `%g`.
pub(super) fn general(number: f64, precision: usize, is_alternate: bool) -> String {
    let precision = precision.max(1);
    let scientific = format!("{number:.*e}", precision - 1);
    let exponent: i32 = scientific.split_once('e').and_then(|(_, text)| text.parse().ok()).unwrap_or(0);
    let precision_signed = i32::try_from(precision).unwrap_or(i32::MAX);
    let text = if exponent < -4 || exponent >= precision_signed {
        exponential(number, precision - 1, is_alternate)
    } else {
        let places = usize::try_from(precision_signed - 1 - exponent).unwrap_or(0);
        format!("{number:.places$}")
    };
    if is_alternate {
        return text;
    }
    let (mantissa, exponent) =
        text.split_once('e').map_or((text.as_str(), None), |(left, right)| (left, Some(right)));
    let mantissa = match mantissa.contains('.') {
        true => mantissa.trim_end_matches('0').trim_end_matches('.'),
        false => mantissa,
    };
    exponent.map_or_else(|| mantissa.to_owned(), |exponent| format!("{mantissa}e{exponent}"))
}
