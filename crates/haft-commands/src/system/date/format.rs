//! The formats of `date`: `strftime` with GNU's additions.

use haft_text::printf::strftime;
use haft_text::printf::time_zone::LocalZone;

use super::PointInTime;

/// The largest width of a field; a larger one would only use up memory.
const MAX_WIDTH: usize = 4096;

/// The digits of a number of nanoseconds.
const NANOSECOND_DIGITS: usize = 9;

/// A conversion with its flags: `%-5:z`.
struct DateConversion<'a> {
    source: &'a [u8],
    /// `_`, `-`, `0` or `+`.
    padding: Option<u8>,
    width: Option<usize>,
    colons: usize,
    letter: u8,
}

/// Formats a time. Returns a conversion that is not supported as the error.
pub(super) fn format(format: &[u8], time: PointInTime, zone: &LocalZone) -> Result<Vec<u8>, Vec<u8>> {
    let local = zone.local_time(time.seconds);
    let mut output = Vec::new();
    let mut rest = format;
    while let Some(start) = memchr::memchr(b'%', rest) {
        output.extend_from_slice(&rest[..start]);
        let conversion = parse(&rest[start..]);
        rest = &rest[start + conversion.source.len()..];
        match conversion.letter {
            b'Y' if !conversion.is_unusual() => conversion.push_number(local.civil().year, 4, &mut output),
            b'C' if !conversion.is_unusual() => {
                conversion.push_number(local.civil().year.div_euclid(100), 2, &mut output);
            }
            b'F' | b'c' if conversion.source.len() == 2 => {
                let parts: &[u8] =
                    if conversion.letter == b'F' { b"%Y-%m-%d" } else { b"%a %b %e %H:%M:%S %Y" };
                output.extend_from_slice(&self::format(parts, time, zone)?);
            }
            b'G' if conversion.source.len() == 2 => {
                let year: i64 =
                    String::from_utf8_lossy(&strftime::format(b"%G", &local)).parse().unwrap_or(0);
                conversion.push_number(year, 4, &mut output);
            }
            b'N' => conversion.push_nanoseconds(time.nanoseconds, &mut output),
            b'z' => conversion.push_offset(local.offset(), &mut output),
            b'q' => conversion.push_number((local.civil().month + 2) / 3, 1, &mut output),
            b's' => conversion.push_number(time.seconds, 1, &mut output),
            b'c' | b'D' | b'F' | b'r' | b'R' | b'T' | b'x' | b'X' | b'Y' | b'C' | b'G' | b'+'
                if conversion.is_unusual() =>
            {
                return Err(conversion.source.to_vec());
            }
            b'a' | b'A' | b'b' | b'B' | b'h' | b'p' | b'P' | b'Z' if conversion.padding == Some(b'-') => {
                let without: Vec<u8> =
                    conversion.source.iter().copied().filter(|byte| !byte.is_ascii_digit()).collect();
                output.extend_from_slice(&strftime::format(&without, &local));
            }
            _ => output.extend_from_slice(&strftime::format(conversion.source, &local)),
        }
    }
    output.extend_from_slice(rest);
    Ok(output)
}

/// Parses the conversion at the start of a format.
fn parse(format: &[u8]) -> DateConversion<'_> {
    let mut at = 1;
    let mut padding = None;
    while let Some(flag @ (b'_' | b'-' | b'0' | b'+' | b'^' | b'#')) = format.get(at) {
        if !matches!(flag, b'^' | b'#') {
            padding = Some(*flag);
        }
        at += 1;
    }
    let mut width = None;
    while let Some(digit @ b'0'..=b'9') = format.get(at) {
        width = Some((width.unwrap_or(0) * 10 + usize::from(digit - b'0')).min(MAX_WIDTH));
        at += 1;
    }
    let colons = format[at..].iter().take_while(|byte| **byte == b':').count();
    let letter = format.get(at + colons).copied().unwrap_or(0);
    if colons > 0 && (letter != b'z' || colons > 3) {
        // The conversion is unknown, and is copied.
        return DateConversion { source: &format[..at], padding, width, colons: 0, letter: 0 };
    }
    at += colons;
    at += usize::from(matches!(letter, b'E' | b'O'));
    let source = &format[..format.len().min(at + 1)];
    let letter = format.get(at).copied().unwrap_or(0);
    DateConversion { source, padding, width, colons, letter }
}

impl DateConversion<'_> {
    /// Whether the padding of the parts of the conversion would change.
    fn is_unusual(&self) -> bool {
        let composite = b"cDFrRTxX".contains(&self.letter);
        self.padding == Some(b'+') || self.letter == b'+' || composite && self.padding.is_some()
    }

    fn push_nanoseconds(&self, nanoseconds: u32, output: &mut Vec<u8>) {
        let width = self.width.filter(|width| *width > 0).unwrap_or(NANOSECOND_DIGITS);
        let digits = format!("{nanoseconds:09}");
        let cut = &digits[..width.min(NANOSECOND_DIGITS)];
        let end = cut.trim_end_matches('0').len().max(1);
        let fill = match self.padding {
            Some(b'_') => " ",
            Some(b'-') if self.width.is_some() => "",
            _ => "0",
        };
        output.extend_from_slice(&cut.as_bytes()[..end]);
        output.extend_from_slice(fill.repeat(width - end).as_bytes());
    }

    fn push_number(&self, number: i64, digits: usize, output: &mut Vec<u8>) {
        let width = self.width.unwrap_or(0).max(digits);
        let text = match self.padding {
            Some(b'-') => number.to_string(),
            Some(b'_') => format!("{number:width$}"),
            _ => format!("{number:0width$}"),
        };
        output.extend_from_slice(text.as_bytes());
    }

    fn push_offset(&self, offset: i32, output: &mut Vec<u8>) {
        let sign = if offset < 0 { '-' } else { '+' };
        let (hours, minutes, seconds) = (offset.abs() / 3600, offset.abs() / 60 % 60, offset.abs() % 60);
        let (body, least) = match self.colons {
            0 => (format!("{}", hours * 100 + minutes), 5),
            1 => (format!("{hours}:{minutes:02}"), 6),
            2 => (format!("{hours}:{minutes:02}:{seconds:02}"), 9),
            _ if seconds != 0 => (format!("{hours}:{minutes:02}:{seconds:02}"), 9),
            _ if minutes != 0 => (format!("{hours}:{minutes:02}"), 6),
            _ => (format!("{hours}"), 3),
        };
        let width = self.width.unwrap_or(0).max(least);
        let text = match self.padding {
            Some(b'-') => format!("{sign}{body}"),
            Some(b'_') => format!("{:>width$}", format!("{sign}{body}")),
            _ => format!("{sign}{body:0>0$}", width - 1),
        };
        output.extend_from_slice(text.as_bytes());
    }
}
