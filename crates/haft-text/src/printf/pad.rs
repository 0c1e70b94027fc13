//! Padding to a field width.

use super::directive::PrintfFlags;

/// The largest field width and precision. As in C, a field that is wider has no output.
pub(super) const MAX_FIELD_WIDTH: usize = i32::MAX as usize;
/// The largest width and precision of a number, which is formatted without a check for cancellation.
pub(super) const MAX_NUMBER_WIDTH: usize = 1 << 24;

/// A formatted number before padding.
pub(super) struct Digits {
    /// The sign and the prefix such as `0x`.
    pub(super) prefix: Vec<u8>,
    pub(super) digits: Vec<u8>,
    /// Whether the field may be padded with zeros.
    pub(super) allows_zeros: bool,
}

/// Appends text padded with blanks.
pub(super) fn text(text: &[u8], width: usize, left: bool, output: &mut Vec<u8>) {
    let blanks = width.saturating_sub(text.len());
    if !left {
        output.resize(output.len() + blanks, b' ');
    }
    output.extend_from_slice(text);
    if left {
        output.resize(output.len() + blanks, b' ');
    }
}

/// Appends a number padded with blanks or zeros.
pub(super) fn number(number: &Digits, width: usize, flags: PrintfFlags, output: &mut Vec<u8>) {
    if flags.zero && number.allows_zeros && !flags.left {
        let zeros = width.saturating_sub(number.prefix.len() + number.digits.len());
        output.extend_from_slice(&number.prefix);
        output.resize(output.len() + zeros, b'0');
        output.extend_from_slice(&number.digits);
        return;
    }
    text(&[&number.prefix[..], &number.digits].concat(), width, flags.left, output);
}

/// Returns the sign of a number.
pub(super) fn sign(negative: bool, flags: PrintfFlags) -> Vec<u8> {
    match (negative, flags.plus, flags.space) {
        (true, ..) => b"-".to_vec(),
        (false, true, _) => b"+".to_vec(),
        (false, false, true) => b" ".to_vec(),
        (false, false, false) => Vec::new(),
    }
}
