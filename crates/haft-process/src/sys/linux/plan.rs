//! Everything that a new process is started with, in the form of the system calls.

use std::ffi::{CStr, CString};
use std::os::fd::RawFd;

use super::signal::SignalSet;
use crate::command::ProcessGroup;

/// The program to execute and what it receives.
#[derive(Debug)]
pub(crate) struct Executable<'a> {
    pub(crate) path: &'a CStr,
    /// The child's descriptor of the file to execute instead of the path.
    pub(crate) file: Option<RawFd>,
    pub(crate) argv: &'a [CString],
    /// Strings of the form `name=value`.
    pub(crate) environment: &'a [&'a CStr],
    pub(crate) working_directory: Option<&'a CStr>,
}

/// Process group, session, terminal and parent-death signal of a child.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct SessionSetup {
    pub(crate) group: ProcessGroup,
    /// A terminal of the parent that becomes the child's controlling terminal.
    pub(crate) controlling_terminal: Option<RawFd>,
    /// A terminal of the parent whose foreground group becomes the child's group.
    pub(crate) foreground_of: Option<RawFd>,
    pub(crate) parent_death_signal: Option<i32>,
}

/// Control groups that a child joins.
#[derive(Debug, Default)]
pub(crate) struct CgroupJoin {
    /// The directory of the control group that the child is cloned into.
    pub(crate) directory: Option<RawFd>,
    /// `cgroup.procs` files, open for writing, that the child joins before exec.
    pub(crate) files: Vec<RawFd>,
}

/// Namespaces that a child joins.
#[derive(Clone, Copy, Debug)]
pub(crate) struct NamespaceJoin {
    pub(crate) user: Option<RawFd>,
    pub(crate) mount: RawFd,
}

/// A network namespace that a child joins.
#[derive(Clone, Copy, Debug)]
pub(crate) struct NetworkJoin {
    pub(crate) user: Option<RawFd>,
    pub(crate) network: RawFd,
}

/// Resource limits, file mode creation mask and signal dispositions of a program.
#[derive(Debug)]
pub(crate) struct ProcessAttributes<'a> {
    pub(crate) limits: &'a [RawLimit],
    pub(crate) nice: Option<i32>,
    pub(crate) umask: Option<u32>,
    pub(crate) ignored_signals: SignalSet,
}

/// A resource limit.
#[derive(Clone, Copy, Debug)]
pub(crate) struct RawLimit {
    pub(crate) resource: u32,
    pub(crate) soft: u64,
    pub(crate) hard: u64,
}

/// Privileges that a child gives up before exec.
#[derive(Debug)]
pub(crate) struct Restrictions<'a> {
    /// Whether the child keeps `CAP_SYS_PTRACE` even if other children lose it.
    pub(crate) keep_tracing: bool,
    pub(crate) no_new_privileges: bool,
    /// A network namespace to join.
    pub(crate) network: Option<NetworkJoin>,
    /// Landlock rulesets.
    pub(crate) landlock: &'a [RawFd],
    /// Instructions of seccomp filters.
    pub(crate) seccomp: &'a [&'a [[u8; 8]]],
}

/// A child to start.
#[derive(Debug)]
pub(crate) struct SpawnPlan<'a> {
    pub(crate) program: Executable<'a>,
    /// Pairs of the parent's number and the child's number.
    pub(crate) descriptors: &'a [(RawFd, RawFd)],
    pub(crate) session: SessionSetup,
    pub(crate) cgroups: &'a CgroupJoin,
    pub(crate) namespaces: Option<NamespaceJoin>,
    pub(crate) attributes: ProcessAttributes<'a>,
    pub(crate) restrictions: Restrictions<'a>,
    /// Whether a pidfd is opened only when it is needed, where that is safe.
    pub(crate) pidfd_on_demand: bool,
}
