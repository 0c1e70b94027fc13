//! The descriptors that this process was started with.

use std::os::fd::{OwnedFd, RawFd};

use crate::sys;

/// The descriptors beyond the standard three that this process was started with, each under its number. They are the caller's
/// from now on, so a second call finds none. Programs that are started get them only if they are given.
pub fn inherited_descriptors() -> Vec<(RawFd, OwnedFd)> {
    sys::take_inherited()
}
