//! Integers as decimal text.

/// Writes a number in decimal to the end of a buffer, and returns the part of the buffer that holds it.
#[inline]
pub fn format_number(number: i64, buffer: &mut [u8; 20]) -> &[u8] {
    let mut rest = number.unsigned_abs();
    let mut at = buffer.len();
    loop {
        at -= 1;
        let digit = (rest % 10) as u8;
        buffer[at] = b'0' + digit;
        rest /= 10;
        if rest == 0 {
            break;
        }
    }
    if number < 0 {
        at -= 1;
        buffer[at] = b'-';
    }
    &buffer[at..]
}
