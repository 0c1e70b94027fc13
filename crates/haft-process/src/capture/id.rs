use std::collections::hash_map::RandomState;
use std::fmt;
use std::hash::{BuildHasher, Hasher};
use std::sync::Arc;

use rustix::rand::{GetRandomFlags, getrandom};
use serde::{Serialize, Serializer};

/// The unique id of an output, of twelve lower-case letters and digits.
#[derive(Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct OutputId(Arc<str>);

impl OutputId {
    pub(super) fn new() -> Self {
        Self(format!("o{}", random_word(11)).into())
    }

    /// Parses an id. Returns `None` if the name is not an id.
    pub fn parse(name: &str) -> Option<Self> {
        let plain = name.len() == 12 && name.bytes().all(|byte| matches!(byte, b'a'..=b'z' | b'0'..=b'9'));
        (plain && name.starts_with('o')).then(|| Self(name.into()))
    }

    /// Returns the id as text.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for OutputId {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.0)
    }
}

impl fmt::Debug for OutputId {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "OutputId({})", self.0)
    }
}

impl schemars::JsonSchema for OutputId {
    fn schema_name() -> std::borrow::Cow<'static, str> {
        "OutputId".into()
    }

    fn inline_schema() -> bool {
        true
    }

    fn json_schema(generator: &mut schemars::SchemaGenerator) -> schemars::Schema {
        String::json_schema(generator)
    }
}

impl Serialize for OutputId {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&self.0)
    }
}

/// Returns `length` random characters of a 32-letter alphabet, at most 13.
///
/// If `getrandom` is not available, on a kernel before 3.17 or under a seccomp filter, uses the random keys of the standard
/// library's hash maps.
pub(crate) fn random_word(length: usize) -> String {
    const ALPHABET: &[u8; 32] = b"0123456789abcdefghjkmnpqrstvwxyz";
    let mut bytes = [0_u8; 8];
    let mut bits = match getrandom(&mut bytes, GetRandomFlags::NONBLOCK) {
        Ok(8) => u64::from_le_bytes(bytes),
        _ => RandomState::new().build_hasher().finish(),
    };
    let letters = (0..length.min(13)).map(|_| {
        let letter = ALPHABET[(bits % 32) as usize];
        bits /= 32;
        char::from(letter)
    });
    letters.collect()
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;

    #[test]
    fn ids_are_short_and_unique() {
        let ids: HashSet<_> = (0..10_000).map(|_| OutputId::new()).collect();
        assert_eq!(ids.len(), 10_000);
        for id in ids {
            assert_eq!(id.as_str().len(), 12);
            assert!(id.as_str().bytes().all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit()));
        }
    }
}
