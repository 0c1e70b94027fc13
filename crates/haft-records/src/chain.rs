//! The chain of hashes through the lines of a journal file.

use sha2::{Digest as _, Sha256};

/// Bytes of a hash that are kept.
const HASH_BYTES: usize = 16;

/// The number of hexadecimal digits of a hash.
pub(crate) const HASH_DIGITS: usize = 2 * HASH_BYTES;

/// The beginning of every line, before the hash.
const LINE_START: &[u8] = b"{\"prev\":\"";

/// The hash of a line: the first half of its SHA-256.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct ChainHash([u8; HASH_BYTES]);

impl ChainHash {
    /// Hashes a line without its newline.
    pub(crate) fn of(line: &[u8]) -> ChainHash {
        let digest = Sha256::digest(line);
        let mut hash = [0; HASH_BYTES];
        hash.copy_from_slice(&digest[..HASH_BYTES]);
        ChainHash(hash)
    }

    /// Its hexadecimal digits.
    pub(crate) fn to_hex(self) -> [u8; HASH_DIGITS] {
        const DIGITS: &[u8; 16] = b"0123456789abcdef";
        let mut text = [0; HASH_DIGITS];
        for (index, byte) in self.0.iter().enumerate() {
            text[2 * index] = DIGITS[usize::from(byte >> 4)];
            text[2 * index + 1] = DIGITS[usize::from(byte & 15)];
        }
        text
    }

    /// Parses hexadecimal digits.
    pub(crate) fn from_hex(text: &[u8]) -> Option<ChainHash> {
        let digit = |byte: u8| match byte {
            b'0'..=b'9' => Some(byte - b'0'),
            b'a'..=b'f' => Some(byte - b'a' + 10),
            _ => None,
        };
        if text.len() != HASH_DIGITS {
            return None;
        }
        let mut hash = [0; HASH_BYTES];
        for (index, pair) in text.chunks_exact(2).enumerate() {
            hash[index] = digit(pair[0])? << 4 | digit(pair[1])?;
        }
        Some(ChainHash(hash))
    }
}

/// Makes a line of a record's JSON object: with the hash of the line before it, without a newline.
pub(crate) fn chained_line(previous: ChainHash, json: &[u8]) -> Vec<u8> {
    let mut line = Vec::with_capacity(LINE_START.len() + HASH_DIGITS + 2 + json.len());
    line.extend_from_slice(LINE_START);
    line.extend_from_slice(&previous.to_hex());
    line.extend_from_slice(b"\",");
    line.extend_from_slice(json.strip_prefix(b"{").unwrap_or(json));
    line
}

/// The hash that a line has of the line before it. `None` if the line does not begin as every line does.
pub(crate) fn previous_hash(line: &[u8]) -> Option<ChainHash> {
    let rest = line.strip_prefix(LINE_START)?;
    ChainHash::from_hex(rest.get(..HASH_DIGITS)?).filter(|_| line.ends_with(b"}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_carries_the_hash_of_the_line_before_it() {
        let first = chained_line(ChainHash::default(), br#"{"a":1}"#);
        assert_eq!(first, br#"{"prev":"00000000000000000000000000000000","a":1}"#);
        let second = chained_line(ChainHash::of(&first), br#"{"b":2}"#);
        assert_eq!(previous_hash(&second), Some(ChainHash::of(&first)));
        assert_eq!(previous_hash(b"{\"a\":1}"), None);
        assert_eq!(previous_hash(&second[..second.len() - 1]), None);
    }
}
