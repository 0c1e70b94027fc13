//! The escapes of awk's regular expressions.

use super::char_set;
use crate::encoding::Encoding;

/// The most digits of an octal escape.
const OCTAL_DIGITS: usize = 3;

/// Reads the escape after a backslash: the code of the character that it means, and its length. `text` is not empty.
pub(super) fn decode(text: &[u8], encoding: Encoding) -> (u32, usize) {
    let code = match text[0] {
        b'a' => 0x07,
        b'b' => 0x08,
        b'f' => 0x0C,
        b'n' => b'\n',
        b'r' => b'\r',
        b't' => b'\t',
        b'v' => 0x0B,
        b'0'..=b'7' => {
            let digits = text.iter().take(OCTAL_DIGITS).take_while(|digit| matches!(digit, b'0'..=b'7'));
            let (value, count) = digits
                .fold((0u32, 0), |(value, count), digit| (value * 8 + u32::from(digit - b'0'), count + 1));
            let byte = (value & 0xFF) as u8;
            return (char_set::decode(&[byte], encoding).0, count);
        }
        _ => return char_set::decode(text, encoding),
    };
    (code.into(), 1)
}
