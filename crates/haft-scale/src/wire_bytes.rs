//! Bytes in JSON.

use std::fmt;
use std::ops::Deref;

use serde::de::{Error, MapAccess, Visitor};
use serde::ser::SerializeMap as _;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// The key of bytes that are not valid UTF-8.
const LATIN1: &str = "latin1";

/// Bytes that are exact in JSON: a string, or `{"latin1": "…"}` with one character per byte if they are not valid UTF-8.
///
/// ```
/// use haft_scale::WireBytes;
///
/// let bytes = WireBytes::from(b"a\xff".as_slice());
/// let json = serde_json::to_string(&bytes).unwrap();
/// assert_eq!(json, "{\"latin1\":\"aÿ\"}");
/// assert_eq!(serde_json::from_str::<WireBytes>(&json).unwrap(), bytes);
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct WireBytes(Vec<u8>);

impl WireBytes {
    /// Returns the bytes.
    #[must_use]
    pub fn into_vec(self) -> Vec<u8> {
        self.0
    }

    /// Whether there are none, for serde.
    pub(crate) fn is_blank(&self) -> bool {
        self.0.is_empty()
    }
}

impl Deref for WireBytes {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        &self.0
    }
}

impl From<Vec<u8>> for WireBytes {
    fn from(bytes: Vec<u8>) -> Self {
        Self(bytes)
    }
}

impl From<&[u8]> for WireBytes {
    fn from(bytes: &[u8]) -> Self {
        Self(bytes.to_vec())
    }
}

impl Serialize for WireBytes {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match std::str::from_utf8(&self.0) {
            Ok(text) => serializer.serialize_str(text),
            Err(_) => {
                let text: String = self.0.iter().copied().map(char::from).collect();
                let mut map = serializer.serialize_map(Some(1))?;
                map.serialize_entry(LATIN1, &text)?;
                map.end()
            }
        }
    }
}

impl<'de> Deserialize<'de> for WireBytes {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(BytesVisitor)
    }
}

struct BytesVisitor;

impl<'de> Visitor<'de> for BytesVisitor {
    type Value = WireBytes;

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("a string or an object with 'latin1'")
    }

    fn visit_str<E: Error>(self, text: &str) -> Result<WireBytes, E> {
        Ok(WireBytes(text.as_bytes().to_vec()))
    }

    fn visit_string<E: Error>(self, text: String) -> Result<WireBytes, E> {
        Ok(WireBytes(text.into_bytes()))
    }

    fn visit_map<M: MapAccess<'de>>(self, mut map: M) -> Result<WireBytes, M::Error> {
        let Some((key, text)) = map.next_entry::<String, String>()? else {
            return Err(M::Error::missing_field(LATIN1));
        };
        if key != LATIN1 {
            return Err(M::Error::unknown_field(&key, &[LATIN1]));
        }
        let bytes = text.chars().map(|letter| u8::try_from(u32::from(letter))).collect::<Result<_, _>>();
        bytes.map(WireBytes).map_err(|_| M::Error::custom("a character beyond one byte"))
    }
}
