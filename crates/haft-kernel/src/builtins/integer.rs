//! Integer arguments.

/// Parses a decimal integer with an optional sign and surrounding blanks.
pub(super) fn parse_integer(text: &[u8]) -> Option<i64> {
    let text = std::str::from_utf8(text).ok()?;
    let trimmed = text.trim_matches([' ', '\t', '\n']);
    let digits = trimmed.strip_prefix('+').unwrap_or(trimmed);
    if digits.starts_with(['+']) || (digits.len() < trimmed.len() && digits.starts_with('-')) {
        return None;
    }
    digits.parse().ok()
}
