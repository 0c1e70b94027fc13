//! The byte string type of the tree.

use std::borrow::Borrow;
use std::fmt;
use std::hash::{Hash, Hasher};
use std::ops::Deref;
use std::sync::Arc;

/// Maximum length of a text stored without an allocation.
const MAX_INLINE_BYTES: usize = 22;

/// An immutable byte string. Short texts are stored inline and long ones are shared, so a clone is cheap.
#[derive(Clone)]
pub struct Text(TextRepr);

/// The name of a variable, function or parameter.
pub type Name = Text;

#[derive(Clone)]
enum TextRepr {
    Inline { length: u8, bytes: [u8; MAX_INLINE_BYTES] },
    Shared(Arc<[u8]>),
}

impl Text {
    /// Creates an empty text.
    #[must_use]
    pub const fn new() -> Self {
        Self(TextRepr::Inline { length: 0, bytes: [0; MAX_INLINE_BYTES] })
    }

    /// Returns the bytes.
    #[must_use]
    pub fn as_bytes(&self) -> &[u8] {
        match &self.0 {
            TextRepr::Inline { length, bytes } => &bytes[..usize::from(*length).min(MAX_INLINE_BYTES)],
            TextRepr::Shared(bytes) => bytes,
        }
    }

    /// Creates a text from the first `length` bytes of `source`. It may copy a fixed number of bytes, which
    /// is faster than copying exactly `length`.
    #[inline]
    pub(crate) fn prefix(source: &[u8], length: usize) -> Self {
        match source.first_chunk() {
            #[expect(clippy::cast_possible_truncation, reason = "the length was just bounded")]
            Some(bytes) if length <= MAX_INLINE_BYTES => {
                Self(TextRepr::Inline { length: length as u8, bytes: *bytes })
            }
            _ => Self::from(&source[..length]),
        }
    }
}

impl Default for Text {
    fn default() -> Self {
        Self::new()
    }
}

impl From<&[u8]> for Text {
    fn from(source: &[u8]) -> Self {
        if source.len() > MAX_INLINE_BYTES {
            return Self(TextRepr::Shared(source.into()));
        }
        let mut bytes = [0; MAX_INLINE_BYTES];
        bytes[..source.len()].copy_from_slice(source);
        #[expect(clippy::cast_possible_truncation, reason = "the length was just bounded")]
        Self(TextRepr::Inline { length: source.len() as u8, bytes })
    }
}

impl From<&str> for Text {
    fn from(source: &str) -> Self {
        source.as_bytes().into()
    }
}

impl Deref for Text {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        self.as_bytes()
    }
}

impl AsRef<[u8]> for Text {
    fn as_ref(&self) -> &[u8] {
        self.as_bytes()
    }
}

impl Borrow<[u8]> for Text {
    fn borrow(&self) -> &[u8] {
        self.as_bytes()
    }
}

impl PartialEq for Text {
    fn eq(&self, other: &Self) -> bool {
        self.as_bytes() == other.as_bytes()
    }
}

impl Eq for Text {}

impl PartialOrd for Text {
    fn partial_cmp(&self, other: &Self) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Text {
    fn cmp(&self, other: &Self) -> std::cmp::Ordering {
        self.as_bytes().cmp(other.as_bytes())
    }
}

impl PartialEq<[u8]> for Text {
    fn eq(&self, other: &[u8]) -> bool {
        self.as_bytes() == other
    }
}

impl PartialEq<&[u8]> for Text {
    fn eq(&self, other: &&[u8]) -> bool {
        self.as_bytes() == *other
    }
}

impl PartialEq<str> for Text {
    fn eq(&self, other: &str) -> bool {
        self.as_bytes() == other.as_bytes()
    }
}

impl PartialEq<&str> for Text {
    fn eq(&self, other: &&str) -> bool {
        self.as_bytes() == other.as_bytes()
    }
}

impl Hash for Text {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.as_bytes().hash(state);
    }
}

impl fmt::Debug for Text {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{:?}", String::from_utf8_lossy(self))
    }
}

impl fmt::Display for Text {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.pad(&String::from_utf8_lossy(self))
    }
}
