//! Byte strings as strings and paths of the operating system. On Unix both are bytes, so the conversions cost nothing.

use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt as _;
use std::path::Path;

/// Returns bytes as a string of the operating system.
#[must_use]
#[inline]
pub fn os_str(bytes: &[u8]) -> &OsStr {
    OsStr::from_bytes(bytes)
}

/// Returns bytes as a path.
#[must_use]
#[inline]
pub fn path(bytes: &[u8]) -> &Path {
    Path::new(OsStr::from_bytes(bytes))
}
