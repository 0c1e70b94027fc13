//! Durations, sizes, ranges and counts as text.

pub(crate) use haft_config::{duration, size};

/// Parses a range of numbers: `10-20`, or `10-` to the end.
pub(crate) fn range(text: &str) -> Result<(u64, u64), String> {
    let wrong = || "expected a range such as 10-20 or 10-".to_owned();
    let (first, last) = text.split_once('-').ok_or_else(wrong)?;
    let first = first.parse().map_err(|_| wrong())?;
    let last = if last.is_empty() { Ok(u64::MAX - 1) } else { last.parse().map_err(|_| wrong()) }?;
    if first <= last { Ok((first, last)) } else { Err(format!("{first} is greater than {last}")) }
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
}
