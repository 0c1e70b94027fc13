//! Durations in GNU syntax.

use std::time::Duration;

/// Longer durations are cut to this (about 300 years), so that they fit into a [`Duration`].
const MAX_SECONDS: f64 = 1e10;

/// Parses a duration as GNU's `timeout` and `sleep` do: a number with an optional unit `s` (the default), `m`, `h` or
/// `d`. The number may be decimal, hexadecimal, or `inf`.
///
/// Returns `None` if the text is not a duration or is negative.
///
/// ```
/// use std::time::Duration;
/// assert_eq!(haft_commands::parse_duration(b"1.5m"), Some(Duration::from_secs(90)));
/// assert_eq!(haft_commands::parse_duration(b".5"), Some(Duration::from_millis(500)));
/// assert_eq!(haft_commands::parse_duration(b"5x"), None);
/// ```
#[must_use]
pub fn parse(text: &[u8]) -> Option<Duration> {
    let text = std::str::from_utf8(text).ok()?.trim_start();
    let (number, unit) = match text.char_indices().next_back()? {
        (at, 's') => (&text[..at], 1.0),
        (at, 'm') => (&text[..at], 60.0),
        (at, 'h') => (&text[..at], 3600.0),
        (at, 'd') => (&text[..at], 86400.0),
        _ => (text, 1.0),
    };
    let seconds = parse_number(number)? * unit;
    (seconds >= 0.0).then(|| Duration::from_secs_f64(seconds.min(MAX_SECONDS)))
}

/// Parses a number as `strtod` does: Rust alone accepts `NaN`, and does not accept hexadecimal.
fn parse_number(text: &str) -> Option<f64> {
    let unsigned = text.strip_prefix(['+', '-']).unwrap_or(text);
    if matches!(unsigned.to_ascii_lowercase().as_str(), "inf" | "infinity") {
        return Some(if text.starts_with('-') { f64::NEG_INFINITY } else { f64::INFINITY });
    }
    if let Some(digits) = unsigned.strip_prefix("0x").or_else(|| unsigned.strip_prefix("0X")) {
        return parse_hexadecimal(digits).map(|value| if text.starts_with('-') { -value } else { value });
    }
    let starts = unsigned.starts_with(|first: char| first.is_ascii_digit() || first == '.');
    if starts { text.parse().ok() } else { None }
}

fn parse_hexadecimal(text: &str) -> Option<f64> {
    let (mantissa, exponent) = match text.split_once(['p', 'P']) {
        Some((mantissa, exponent)) => (mantissa, exponent.parse::<i32>().ok()?),
        None => (text, 0),
    };
    let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
    if whole.is_empty() && fraction.is_empty() {
        return None;
    }
    let digits = |text: &str, start: f64| {
        text.chars().try_fold(start, |value, digit| Some(value * 16.0 + f64::from(digit.to_digit(16)?)))
    };
    let places = i32::try_from(fraction.len()).ok()?;
    let value = digits(fraction, digits(whole, 0.0)?)?;
    Some(value * 16f64.powi(-places) * 2f64.powi(exponent))
}

#[cfg(test)]
mod tests {
    use super::parse;
    use std::time::Duration;

    #[test]
    fn accepts_everything_that_gnu_accepts() {
        for (text, milliseconds) in [
            ("1", 1000),
            ("1s", 1000),
            ("0.25", 250),
            (".5m", 30_000),
            ("2.", 2000),
            ("1h", 3_600_000),
            ("1d", 86_400_000),
            ("1e1", 10_000),
            ("+3", 3000),
            (" 3", 3000),
            ("0x10", 16_000),
            ("0x1p-1", 500),
            ("0", 0),
            ("-0", 0),
        ] {
            assert_eq!(parse(text.as_bytes()), Some(Duration::from_millis(milliseconds)), "{text}");
        }
        assert!(parse(b"inf").is_some_and(|time| time > Duration::from_secs(1 << 30)));
        assert!(parse(b"1e400").is_some_and(|time| time > Duration::from_secs(1 << 30)));
    }

    #[test]
    fn rejects_everything_that_gnu_rejects() {
        for text in ["", "s", "x", "1x", "1ss", "-1", "1 ", "nan", "--", "0x", "1,5", "\u{e9}"] {
            assert_eq!(parse(text.as_bytes()), None, "{text}");
        }
    }
}
