//! The process and user that scripts see: real ones, or fixed values in an isolated session.

use crate::kernel::Kernel;
use crate::session::Session;

/// The process and user that scripts see.
#[derive(Clone, Debug)]
pub struct HostIdentity {
    /// `$$`.
    pub pid: i32,
    /// `PPID`.
    pub parent: i32,
    /// `UID`.
    pub user: u32,
    /// `EUID`.
    pub effective_user: u32,
    /// `GROUPS`, the primary group first.
    pub groups: Vec<u32>,
    /// `HOSTNAME`.
    pub host: Vec<u8>,
}

impl HostIdentity {
    /// The identity for sessions of this kernel.
    pub(crate) fn of(kernel: &Kernel) -> Self {
        if kernel.isolated { Self::nobody() } else { Self::of_process() }
    }

    /// Fixed values, the same on every machine.
    pub(crate) fn nobody() -> Self {
        const USER: u32 = 1000;
        Self {
            pid: 2,
            parent: 1,
            user: USER,
            effective_user: USER,
            groups: vec![USER],
            host: b"localhost".to_vec(),
        }
    }

    fn of_process() -> Self {
        Self {
            pid: process_number(),
            parent: haft_process::parent_process(),
            user: rustix::process::getuid().as_raw(),
            effective_user: rustix::process::geteuid().as_raw(),
            groups: groups(),
            host: rustix::system::uname().nodename().to_bytes().to_vec(),
        }
    }
}

impl Session {
    /// The process and user that scripts see.
    #[must_use]
    pub fn host_identity(&self) -> HostIdentity {
        HostIdentity::of(&self.kernel)
    }

    /// The effective user and group, which own new files.
    pub(crate) fn effective_owner(&self) -> (u32, u32) {
        if self.kernel.isolated {
            let user = HostIdentity::nobody().user;
            return (user, user);
        }
        (rustix::process::geteuid().as_raw(), rustix::process::getegid().as_raw())
    }

    /// Whether scripts see nothing of the machine.
    #[must_use]
    pub fn is_isolated(&self) -> bool {
        self.kernel.isolated
    }
}

/// `$$` of a new session, without computing the rest of its identity.
pub(crate) fn shell_number(kernel: &Kernel) -> i32 {
    if kernel.isolated { HostIdentity::nobody().pid } else { process_number() }
}

fn process_number() -> i32 {
    i32::try_from(std::process::id()).unwrap_or(0)
}

fn groups() -> Vec<u32> {
    let mut all = vec![rustix::process::getgid().as_raw()];
    for group in rustix::process::getgroups().unwrap_or_default() {
        if !all.contains(&group.as_raw()) {
            all.push(group.as_raw());
        }
    }
    all
}
