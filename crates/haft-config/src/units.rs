//! Durations and sizes as text.

use std::time::Duration;

/// Parses a duration: `500ms`, `5s`, `1.5m`, `2h`, `1d`; a bare number is seconds.
///
/// # Errors
/// If the text has another form, or the duration is too long.
pub fn duration(text: &str) -> Result<Duration, String> {
    let (number, unit) = split(text)?;
    let seconds = match unit {
        "ns" => number / 1e9,
        "us" | "µs" => number / 1e6,
        "ms" => number / 1e3,
        "" | "s" => number,
        "m" | "min" => number * 60.0,
        "h" => number * 3600.0,
        "d" => number * 86400.0,
        _ => return Err(format!("unknown time unit '{unit}' (expected ms, s, m, h or d)")),
    };
    Duration::try_from_secs_f64(seconds).map_err(|_| "the duration is too long".to_owned())
}

/// Parses a size: `64k`, `1M`, `2G`, `1T`, with an optional `B` or `iB`, powers of 1024; a bare number is bytes.
///
/// # Errors
/// If the text has another form, or the size is too large.
pub fn size(text: &str) -> Result<u64, String> {
    let (number, unit) = split(text)?;
    let letter = unit.trim_end_matches(['B', 'b']).trim_end_matches('i');
    let factor = match letter.to_ascii_uppercase().as_str() {
        "" => 0,
        "K" => 1,
        "M" => 2,
        "G" => 3,
        "T" => 4,
        _ => return Err(format!("unknown size unit '{unit}' (expected K, M, G or T)")),
    };
    let bytes = number * 1024f64.powi(factor);
    if bytes >= u64::MAX as f64 { Err("the size is too large".to_owned()) } else { Ok(bytes as u64) }
}

/// Splits a text into the number at its beginning and the rest.
fn split(text: &str) -> Result<(f64, &str), String> {
    let text = text.trim();
    let end = text.find(|letter: char| !letter.is_ascii_digit() && letter != '.').unwrap_or(text.len());
    let number = text[..end].parse().map_err(|_| "expected a number such as 10 or 2.5".to_owned())?;
    Ok((number, text[end..].trim_start()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn durations() {
        assert_eq!(duration("5s"), Ok(Duration::from_secs(5)));
        assert_eq!(duration("5"), Ok(Duration::from_secs(5)));
        assert_eq!(duration("250ms"), Ok(Duration::from_millis(250)));
        assert_eq!(duration("1.5m"), Ok(Duration::from_secs(90)));
        assert_eq!(duration("2h"), Ok(Duration::from_secs(7200)));
        assert!(duration("").is_err() && duration("s").is_err() && duration("5 parsecs").is_err());
        assert!(duration("-1s").is_err() && duration("1e5s").is_err());
        assert!(duration("99999999999999999999999d").is_err());
    }

    #[test]
    fn sizes() {
        assert_eq!(size("0"), Ok(0));
        assert_eq!(size("64k"), Ok(65536));
        assert_eq!(size("1M"), Ok(1 << 20));
        assert_eq!(size("1.5G"), Ok(3 << 29));
        assert_eq!(size("2GiB"), Ok(2 << 30));
        assert_eq!(size("10B"), Ok(10));
        assert!(size("x").is_err() && size("10Q").is_err() && size("99999999999999T").is_err());
    }
}
