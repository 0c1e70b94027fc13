//! Restrictions of programs by the kernel.

use std::os::fd::{AsRawFd as _, OwnedFd, RawFd};
use std::sync::Arc;

use super::Command;
use crate::namespace::Namespaces;
use crate::network::PrivateNetwork;
use crate::permission::StartPermission;
use crate::sys::{NamespaceJoin, NetworkJoin};

/// Restrictions that a child applies to itself before exec.
#[derive(Clone, Debug, Default)]
pub struct Sandbox {
    /// Sets `no_new_privs`; implied by a ruleset or a filter.
    pub no_new_privileges: bool,
    /// A network of its own, for all programs of the sandbox.
    pub network: Option<Arc<PrivateNetwork>>,
    /// Namespaces in which some paths are read-only. A command that has namespaces of its own does not join these.
    pub mounts: Option<Arc<Namespaces>>,
    /// A Landlock ruleset.
    pub landlock: Option<Arc<OwnedFd>>,
    /// A seccomp filter: classic BPF instructions of eight bytes each.
    pub seccomp: Option<Arc<[[u8; 8]]>>,
}

/// All sandboxes of a program: its own and those of the permissions to start it.
pub(super) struct AppliedSandboxes<'a> {
    sandboxes: Vec<&'a Sandbox>,
    pub(super) rulesets: Vec<RawFd>,
}

impl<'a> AppliedSandboxes<'a> {
    pub(super) fn new(command: &'a Command, permission: &'a StartPermission) -> AppliedSandboxes<'a> {
        let mut sandboxes: Vec<&Sandbox> = Vec::new();
        let shared = permission.sandboxes().chain(command.restriction.sandboxes());
        for sandbox in command.sandbox.iter().chain(shared.map(|sandbox| &**sandbox)) {
            if !sandboxes.iter().any(|known| std::ptr::eq(*known, sandbox)) {
                sandboxes.push(sandbox);
            }
        }
        let rulesets = sandboxes.iter().filter_map(|sandbox| sandbox.landlock.as_deref());
        let rulesets = rulesets.map(|ruleset| ruleset.as_raw_fd()).collect();
        AppliedSandboxes { sandboxes, rulesets }
    }

    pub(super) fn filters(&self) -> Vec<&'a [[u8; 8]]> {
        self.sandboxes.iter().filter_map(|sandbox| sandbox.seccomp.as_deref()).collect()
    }

    pub(super) fn network(&self) -> Option<NetworkJoin> {
        self.sandboxes.iter().find_map(|sandbox| sandbox.network.as_ref()).map(|network| network.join_plan())
    }

    pub(super) fn mounts(&self) -> Option<NamespaceJoin> {
        self.sandboxes.iter().find_map(|sandbox| sandbox.mounts.as_ref()).map(|mounts| mounts.join_plan())
    }

    pub(super) fn no_new_privileges(&self) -> bool {
        self.sandboxes.iter().any(|sandbox| sandbox.no_new_privileges)
    }
}
