//! Sizes as text.

use std::fmt;

/// A number of bytes, shown with a unit: `1 byte`, `64.0 KiB`. The precision of the format is that of the number:
/// `{:.0}` shows `64 KiB`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct ByteSize(pub u64);

/// Units of size, the largest first.
const UNITS: [(u64, &str); 4] = [(1 << 40, "TiB"), (1 << 30, "GiB"), (1 << 20, "MiB"), (1 << 10, "KiB")];

impl fmt::Display for ByteSize {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let precision = formatter.precision().unwrap_or(1);
        match (UNITS.into_iter().find(|(unit, _)| self.0 >= *unit), self.0) {
            (Some((unit, name)), bytes) => {
                write!(formatter, "{:.precision$} {name}", bytes as f64 / unit as f64)
            }
            (None, 1) => formatter.write_str("1 byte"),
            (None, bytes) => write!(formatter, "{bytes} bytes"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_have_the_largest_unit_that_fits() {
        let shown = [0, 1, 1023, 2048, 3 << 19, 5 << 30, 7 << 40].map(|bytes| ByteSize(bytes).to_string());
        assert_eq!(shown, ["0 bytes", "1 byte", "1023 bytes", "2.0 KiB", "1.5 MiB", "5.0 GiB", "7.0 TiB"]);
        assert_eq!(format!("{:.0}", ByteSize(256 << 20)), "256 MiB");
    }
}
