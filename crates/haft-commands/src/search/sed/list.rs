//! The command `l`.

/// Writes text so that all its bytes can be seen, in lines of at most `length` characters. 0 means no limit.
pub(super) fn listed(text: &[u8], length: u64, end: u8) -> Vec<u8> {
    let limit = usize::try_from(length).unwrap_or(usize::MAX);
    let mut result = Vec::with_capacity(text.len() + 2);
    let mut width = 0;
    for byte in text {
        let shown = match byte {
            b'\\' => "\\\\".to_owned(),
            0x07 => "\\a".to_owned(),
            0x08 => "\\b".to_owned(),
            0x0C => "\\f".to_owned(),
            b'\n' => "\\n".to_owned(),
            b'\r' => "\\r".to_owned(),
            b'\t' => "\\t".to_owned(),
            0x0B => "\\v".to_owned(),
            b' '..=b'~' => char::from(*byte).to_string(),
            _ => format!("\\{byte:03o}"),
        };
        if limit > 0 && width + shown.len() > limit - 1 {
            result.extend([b'\\', end]);
            width = 0;
        }
        width += shown.len();
        result.extend_from_slice(shown.as_bytes());
    }
    result.extend([b'$', end]);
    result
}
