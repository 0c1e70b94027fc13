//! Durations and sizes as people write them.

use std::time::Duration;

/// Reads a duration: `500ms`, `5s`, `1.5m`, `2h`, `1d`; a bare number is seconds.
pub(crate) fn duration(text: &str) -> Result<Duration, String> {
    let (number, unit) = split(text)?;
    let seconds = match unit {
        "ns" => number / 1e9,
        "us" | "µs" => number / 1e6,
        "ms" => number / 1e3,
        "" | "s" => number,
        "m" | "min" => number * 60.0,
        "h" => number * 3600.0,
        "d" => number * 86400.0,
        _ => return Err(format!("'{unit}' is no unit of time; use ms, s, m, h or d")),
    };
    Duration::try_from_secs_f64(seconds).map_err(|_| "too long a time".to_owned())
}

/// Reads a size: `64k`, `1M`, `2G`, `1T`, with an optional `B` or `iB`, powers of 1024; a bare number is bytes.
pub(crate) fn size(text: &str) -> Result<u64, String> {
    let (number, unit) = split(text)?;
    let letter = unit.trim_end_matches(['B', 'b']).trim_end_matches('i');
    let factor = match letter.to_ascii_uppercase().as_str() {
        "" => 0,
        "K" => 1,
        "M" => 2,
        "G" => 3,
        "T" => 4,
        _ => return Err(format!("'{unit}' is no unit of size; use K, M, G or T")),
    };
    let bytes = number * 1024f64.powi(factor);
    if bytes >= u64::MAX as f64 { Err("too large a size".to_owned()) } else { Ok(bytes as u64) }
}

/// Reads a range of numbers: `10-20`, or `10-` to the end.
pub(crate) fn range(text: &str) -> Result<(u64, u64), String> {
    let wrong = || "a range is expected, such as 10-20 or 10-".to_owned();
    let (first, last) = text.split_once('-').ok_or_else(wrong)?;
    let first = first.parse().map_err(|_| wrong())?;
    let last = if last.is_empty() { Ok(u64::MAX - 1) } else { last.parse().map_err(|_| wrong()) }?;
    if first <= last { Ok((first, last)) } else { Err(format!("{first} is greater than {last}")) }
}

/// The number at the beginning, and what follows it.
fn split(text: &str) -> Result<(f64, &str), String> {
    let text = text.trim();
    let end = text.find(|letter: char| !letter.is_ascii_digit() && letter != '.').unwrap_or(text.len());
    let number = text[..end].parse().map_err(|_| "a number is expected, such as 10 or 2.5".to_owned())?;
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
    fn ranges() {
        assert_eq!(range("10-20"), Ok((10, 20)));
        assert_eq!(range("7-"), Ok((7, u64::MAX - 1)));
        assert!(
            range("7").is_err() && range("-7").is_err() && range("2-1").is_err() && range("a-b").is_err()
        );
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
