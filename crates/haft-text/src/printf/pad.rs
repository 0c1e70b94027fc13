//! Padding to a width.

use super::directive::Flags;

/// The widest a field can be; wider ones are an attempt to use up memory.
pub(super) const WIDEST: usize = 1 << 28;

/// A number as its parts: sign or prefix, then digits.
pub(super) struct Digits {
    pub(super) prefix: Vec<u8>,
    pub(super) digits: Vec<u8>,
    /// Whether zeros may fill the field.
    pub(super) fill: bool,
}

/// Appends text padded with blanks.
pub(super) fn text(text: &[u8], width: usize, left: bool, output: &mut Vec<u8>) {
    let blanks = width.min(WIDEST).saturating_sub(text.len());
    if !left {
        output.resize(output.len() + blanks, b' ');
    }
    output.extend_from_slice(text);
    if left {
        output.resize(output.len() + blanks, b' ');
    }
}

/// Appends a number padded with blanks or zeros.
pub(super) fn number(number: &Digits, width: usize, flags: Flags, output: &mut Vec<u8>) {
    if flags.zero && number.fill && !flags.left {
        let zeros = width.min(WIDEST).saturating_sub(number.prefix.len() + number.digits.len());
        output.extend_from_slice(&number.prefix);
        output.resize(output.len() + zeros, b'0');
        output.extend_from_slice(&number.digits);
        return;
    }
    text(&[&number.prefix[..], &number.digits].concat(), width, flags.left, output);
}

/// The sign of a number that may have one.
pub(super) fn sign(negative: bool, flags: Flags) -> Vec<u8> {
    match (negative, flags.plus, flags.space) {
        (true, ..) => b"-".to_vec(),
        (false, true, _) => b"+".to_vec(),
        (false, false, true) => b" ".to_vec(),
        (false, false, false) => Vec::new(),
    }
}
