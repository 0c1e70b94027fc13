//! Which sandboxes the kernel of this machine has.

use crate::sys;

/// Sandbox features of the running kernel.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Machine {
    /// The version of Landlock's interface; 0 if there is none.
    pub landlock_abi: u32,
    /// Whether the kernel has seccomp filters.
    pub seccomp: bool,
}

/// The first version of Landlock that restricts TCP ports.
const TCP_ABI: u32 = 4;

impl Machine {
    /// Asks the kernel.
    #[must_use]
    pub fn probe() -> Machine {
        Machine { landlock_abi: sys::landlock_abi(), seccomp: sys::has_seccomp_filters() }
    }

    /// Whether Landlock restricts files.
    #[must_use]
    pub fn restricts_files(&self) -> bool {
        self.landlock_abi > 0
    }

    /// Whether Landlock restricts TCP ports.
    #[must_use]
    pub fn restricts_ports(&self) -> bool {
        self.landlock_abi >= TCP_ABI
    }
}
