//! Sizes with units, as `ls -h` and `du -h` show them.

/// How sizes are shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum SizeUnit {
    /// A number of units of this many bytes.
    Bytes(u64),
    /// With the largest unit that fits, powers of 1024.
    Human,
    /// With the largest unit that fits, powers of 1000.
    Si,
}

/// A size as text. Fractions are rounded up.
pub(crate) fn format_size(bytes: u64, unit: SizeUnit) -> String {
    match unit {
        SizeUnit::Bytes(unit) => bytes.div_ceil(unit).to_string(),
        SizeUnit::Human => scaled(bytes, 1024, ["K", "M", "G", "T", "P", "E"]),
        SizeUnit::Si => scaled(bytes, 1000, ["k", "M", "G", "T", "P", "E"]),
    }
}

/// A size below this many units is shown with one decimal.
const MAX_DECIMAL: u128 = 10;

fn scaled(bytes: u64, base: u128, letters: [&str; 6]) -> String {
    let bytes = u128::from(bytes);
    if bytes < base {
        return bytes.to_string();
    }
    let mut unit = base;
    for letter in letters {
        let tenths = (bytes * 10).div_ceil(unit);
        let whole = bytes.div_ceil(unit);
        if tenths < MAX_DECIMAL * 10 {
            return format!("{}.{}{letter}", tenths / 10, tenths % 10);
        }
        if whole < base {
            return format!("{whole}{letter}");
        }
        unit *= base;
    }
    bytes.to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_are_rounded_up() {
        let human = |bytes| format_size(bytes, SizeUnit::Human);
        assert_eq!(
            [0, 1023, 1024, 1025, 10_239, 10_241].map(human),
            ["0", "1023", "1.0K", "1.1K", "10K", "11K"]
        );
        assert_eq!([1_048_575, 1_048_576, 100_000].map(human), ["1.0M", "1.0M", "98K"]);
        assert_eq!(format_size(8192, SizeUnit::Si), "8.2k");
        assert_eq!(format_size(1025, SizeUnit::Bytes(1024)), "2");
    }
}
