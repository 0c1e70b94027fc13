//! Descriptors that this process inherited when it was started.

use std::os::fd::{OwnedFd, RawFd};

use crate::sys;

/// Returns the descriptors above 2 that this process inherited, with their numbers. The caller owns them, so a second call
/// returns none. Programs inherit them only if a command passes them.
pub fn inherited_descriptors() -> Vec<(RawFd, OwnedFd)> {
    sys::take_inherited()
}
