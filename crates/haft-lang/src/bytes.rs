//! The byte string of the syntax tree and of shell data.

use std::borrow::Borrow;
use std::fmt;
use std::hash::{Hash, Hasher};
use std::ops::Deref;
use std::sync::Arc;

/// The length of the longest string that is stored without an allocation.
const MAX_INLINE_BYTES: usize = 22;

/// A byte string that is cheap to clone: short strings are stored in place, long ones are shared and copied on write. Appending to
/// a string that is not shared takes amortised constant time.
#[derive(Clone)]
pub struct Bytes(BytesRepr);

#[derive(Clone)]
enum BytesRepr {
    Inline { length: u8, bytes: [u8; MAX_INLINE_BYTES] },
    Shared(Arc<Vec<u8>>),
}

impl Bytes {
    /// Returns an empty string.
    #[must_use]
    #[inline]
    pub const fn new() -> Self {
        Self(BytesRepr::Inline { length: 0, bytes: [0; MAX_INLINE_BYTES] })
    }

    /// Returns the bytes.
    #[must_use]
    #[inline]
    pub fn as_bytes(&self) -> &[u8] {
        match &self.0 {
            BytesRepr::Inline { length, bytes } => &bytes[..usize::from(*length).min(MAX_INLINE_BYTES)],
            BytesRepr::Shared(bytes) => bytes,
        }
    }

    /// Appends bytes.
    #[inline]
    pub fn push(&mut self, more: &[u8]) {
        match &mut self.0 {
            BytesRepr::Inline { length, bytes } => {
                let (old, new) = (usize::from(*length), usize::from(*length) + more.len());
                if let (true, Ok(fits)) = (new <= MAX_INLINE_BYTES, u8::try_from(new)) {
                    bytes[old..new].copy_from_slice(more);
                    *length = fits;
                    return;
                }
                let mut grown = Vec::with_capacity((new * 2).max(64));
                grown.extend_from_slice(&bytes[..old]);
                grown.extend_from_slice(more);
                self.0 = BytesRepr::Shared(Arc::new(grown));
            }
            BytesRepr::Shared(bytes) => Arc::make_mut(bytes).extend_from_slice(more),
        }
    }

    /// Returns the bytes as a vector. Copies them if the string is shared or stored in place.
    #[must_use]
    #[inline]
    pub fn into_vec(self) -> Vec<u8> {
        match self.0 {
            BytesRepr::Inline { .. } => self.as_bytes().to_vec(),
            BytesRepr::Shared(bytes) => Arc::unwrap_or_clone(bytes),
        }
    }

    /// Creates a string from the first `length` bytes of `source`. It may copy a fixed number of bytes, which is faster
    /// than copying exactly `length`.
    #[inline]
    pub(crate) fn prefix(source: &[u8], length: usize) -> Self {
        match source.first_chunk() {
            #[expect(clippy::cast_possible_truncation, reason = "the length was just bounded")]
            Some(bytes) if length <= MAX_INLINE_BYTES => {
                Self(BytesRepr::Inline { length: length as u8, bytes: *bytes })
            }
            _ => Self::from(&source[..length]),
        }
    }

    /// Returns the text for messages, with invalid UTF-8 replaced.
    #[must_use]
    pub fn lossy(&self) -> std::borrow::Cow<'_, str> {
        String::from_utf8_lossy(self)
    }
}

impl Default for Bytes {
    #[inline]
    fn default() -> Self {
        Self::new()
    }
}

impl From<&[u8]> for Bytes {
    #[inline]
    fn from(source: &[u8]) -> Self {
        if source.len() > MAX_INLINE_BYTES {
            return Self(BytesRepr::Shared(Arc::new(source.to_vec())));
        }
        let mut bytes = [0; MAX_INLINE_BYTES];
        bytes[..source.len()].copy_from_slice(source);
        #[expect(clippy::cast_possible_truncation, reason = "the length was just bounded")]
        Self(BytesRepr::Inline { length: source.len() as u8, bytes })
    }
}

impl From<Vec<u8>> for Bytes {
    #[inline]
    fn from(source: Vec<u8>) -> Self {
        if source.len() > MAX_INLINE_BYTES {
            Self(BytesRepr::Shared(Arc::new(source)))
        } else {
            source.as_slice().into()
        }
    }
}

impl From<&str> for Bytes {
    #[inline]
    fn from(source: &str) -> Self {
        source.as_bytes().into()
    }
}

impl From<String> for Bytes {
    #[inline]
    fn from(source: String) -> Self {
        source.into_bytes().into()
    }
}

impl<const N: usize> From<&[u8; N]> for Bytes {
    #[inline]
    fn from(source: &[u8; N]) -> Self {
        source.as_slice().into()
    }
}

impl Deref for Bytes {
    type Target = [u8];

    #[inline]
    fn deref(&self) -> &[u8] {
        self.as_bytes()
    }
}

impl AsRef<[u8]> for Bytes {
    #[inline]
    fn as_ref(&self) -> &[u8] {
        self.as_bytes()
    }
}

impl Borrow<[u8]> for Bytes {
    #[inline]
    fn borrow(&self) -> &[u8] {
        self.as_bytes()
    }
}

impl PartialEq for Bytes {
    #[inline]
    fn eq(&self, other: &Self) -> bool {
        self.as_bytes() == other.as_bytes()
    }
}

impl Eq for Bytes {}

impl PartialEq<[u8]> for Bytes {
    #[inline]
    fn eq(&self, other: &[u8]) -> bool {
        self.as_bytes() == other
    }
}

impl PartialEq<&[u8]> for Bytes {
    #[inline]
    fn eq(&self, other: &&[u8]) -> bool {
        self.as_bytes() == *other
    }
}

impl PartialEq<str> for Bytes {
    #[inline]
    fn eq(&self, other: &str) -> bool {
        self.as_bytes() == other.as_bytes()
    }
}

impl PartialEq<&str> for Bytes {
    #[inline]
    fn eq(&self, other: &&str) -> bool {
        self.as_bytes() == other.as_bytes()
    }
}

impl PartialOrd for Bytes {
    #[inline]
    fn partial_cmp(&self, other: &Self) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Bytes {
    #[inline]
    fn cmp(&self, other: &Self) -> std::cmp::Ordering {
        self.as_bytes().cmp(other.as_bytes())
    }
}

impl Hash for Bytes {
    #[inline]
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.as_bytes().hash(state);
    }
}

impl fmt::Debug for Bytes {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{:?}", self.lossy())
    }
}

impl fmt::Display for Bytes {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.pad(&self.lossy())
    }
}
