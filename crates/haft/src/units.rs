//! Durations, sizes, ranges and counts as text.

use std::time::Duration;

/// Parses a duration: `500ms`, `5s`, `1.5m`, `2h`, `1d`; a bare number is seconds.
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
        _ => return Err(format!("unknown time unit '{unit}' (expected ms, s, m, h or d)")),
    };
    Duration::try_from_secs_f64(seconds).map_err(|_| "the duration is too long".to_owned())
}

/// Parses a size: `64k`, `1M`, `2G`, `1T`, with an optional `B` or `iB`, powers of 1024; a bare number is bytes.
pub(crate) fn size(text: &str) -> Result<u64, String> {
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

/// Parses a range of numbers: `10-20`, or `10-` to the end.
pub(crate) fn range(text: &str) -> Result<(u64, u64), String> {
    let wrong = || "expected a range such as 10-20 or 10-".to_owned();
    let (first, last) = text.split_once('-').ok_or_else(wrong)?;
    let first = first.parse().map_err(|_| wrong())?;
    let last = if last.is_empty() { Ok(u64::MAX - 1) } else { last.parse().map_err(|_| wrong()) }?;
    if first <= last { Ok((first, last)) } else { Err(format!("{first} is greater than {last}")) }
}

/// Splits a text into the number at its beginning and the rest.
fn split(text: &str) -> Result<(f64, &str), String> {
    let text = text.trim();
    let end = text.find(|letter: char| !letter.is_ascii_digit() && letter != '.').unwrap_or(text.len());
    let number = text[..end].parse().map_err(|_| "expected a number such as 10 or 2.5".to_owned())?;
    Ok((number, text[end..].trim_start()))
}

/// A number with its noun: `1 byte`, `2 bytes`, `3 processes`.
pub(crate) fn count(number: impl TryInto<u64>, noun: &str) -> String {
    let number = number.try_into().unwrap_or(u64::MAX);
    let ending = match number {
        1 => "",
        _ if noun.ends_with('s') => "es",
        _ => "s",
    };
    format!("{number} {noun}{ending}")
}

/// A time span in its largest unit: `5s`, `3m`, `2h`, `14d`.
pub(crate) fn age(seconds: u64) -> String {
    match seconds {
        0..60 => format!("{seconds}s"),
        60..3600 => format!("{}m", seconds / 60),
        3600..86400 => format!("{}h", seconds / 3600),
        _ => format!("{}d", seconds / 86400),
    }
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
    fn counts_agree_with_their_noun() {
        assert_eq!([count(0u64, "byte"), count(1u64, "line")], ["0 bytes", "1 line"]);
        assert_eq!([count(1usize, "process"), count(2usize, "process")], ["1 process", "2 processes"]);
    }

    #[test]
    fn ages_as_text() {
        assert_eq!([age(59), age(3599), age(7200), age(90000)], ["59s", "59m", "2h", "1d"]);
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
