//! Times of files as text.

use haft_fs::Timestamp;
use haft_text::printf::strftime;
use haft_text::printf::time_zone::LocalZone;

/// Digits of the nanoseconds.
const NANOSECOND_DIGITS: usize = 9;

/// Formats a time as `strftime` does, and `%N` as nanoseconds.
pub(crate) fn format_time(zone: &LocalZone, format: &[u8], time: Timestamp) -> Vec<u8> {
    let nanoseconds = format!("{:09}", time.nanoseconds);
    let mut expanded = Vec::new();
    let mut rest = format;
    while let Some(start) = memchr::memchr(b'%', rest) {
        expanded.extend_from_slice(&rest[..start]);
        let digits = rest[start + 1..].iter().take_while(|byte| byte.is_ascii_digit()).count();
        let end = start + 1 + digits;
        match rest.get(end) {
            Some(b'N') => {
                let width = str::from_utf8(&rest[start + 1..end]).ok().and_then(|text| text.parse().ok());
                let width: usize = width.unwrap_or(NANOSECOND_DIGITS).clamp(1, NANOSECOND_DIGITS);
                expanded.extend_from_slice(&nanoseconds.as_bytes()[..width]);
                rest = &rest[end + 1..];
            }
            Some(_) => {
                // The conversion character cannot be the start of another one.
                expanded.extend_from_slice(&rest[start..=end]);
                rest = &rest[end + 1..];
            }
            None => {
                expanded.extend_from_slice(&rest[start..]);
                rest = b"";
            }
        }
    }
    expanded.extend_from_slice(rest);
    strftime::format(&expanded, &zone.local_time(time.seconds))
}

/// The current time.
pub(crate) fn now() -> Timestamp {
    let elapsed = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap_or_default();
    Timestamp {
        seconds: i64::try_from(elapsed.as_secs()).unwrap_or(i64::MAX),
        nanoseconds: elapsed.subsec_nanos(),
    }
}
