//! Linux, on x86-64 and aarch64.

mod child;
mod clone;
mod descriptors;
mod fork;
mod guard;
mod inherited;
mod memory;
mod namespace;
mod network;
mod plan;
mod protection;
mod replace;
mod schedule;
mod signal;
mod spawn;
mod wait;

pub(crate) use child::confine_thread;
pub(crate) use fork::{close_others, fork, is_single_threaded, open_pidfd};
pub(crate) use guard::{
    ForkSide, GuardEvent, close_all_but, end_as, has_other_threads, next_guard_event, split,
};
pub(crate) use inherited::{duplicate, take as take_inherited};
pub(crate) use memory::read_memory;
pub(crate) use namespace::{
    IdMaps, MountPlan, NamespaceDescriptors, NamespaceFailure, NamespaceOwner, NamespaceStep, OverlayPaths,
    create as create_namespaces, join as join_namespaces, join_in_thread,
};
pub(crate) use network::{NetworkDescriptors, create_network, create_socket};
pub(crate) use plan::{
    CgroupJoin, Executable, NamespaceJoin, NetworkJoin, ProcessAttributes, RawLimit, Restrictions,
    SessionSetup, SpawnPlan,
};
pub(crate) use protection::{hide_environment, withhold_tracing};
pub(crate) use replace::{ProcessReplacement, replace};
pub(crate) use schedule::set_realtime;
pub(crate) use signal::{
    HeldSignals, MAX_SIGNAL, SignalSet, TakenSignal, block, catch, claim as claim_signals, group_of,
    ignored_signals, kill, own_group, session_of, set_catcher, set_ignored, wait_for_info,
};
pub(crate) use spawn::{SpawnError, Spawned, spawn};
pub(crate) use wait::{
    ChildState, RawChange, RawExit, child_state, find_children, has_children, has_ended_children,
    started_count, wait_group_change, wait_pid, wait_pidfd, whole_cpu_time,
};

/// The steps of a child between clone and exec, in order.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u32)]
pub(crate) enum SpawnStep {
    /// No step failed.
    None = 0,
    /// `clone` itself.
    Clone,
    /// `setsid` or `setpgid`.
    Group,
    /// The controlling terminal, or the terminal's foreground group.
    Terminal,
    /// The parent-death signal.
    ParentDeath,
    /// Joining a control group.
    Cgroup,
    /// Joining namespaces.
    Namespace,
    /// Changing the working directory.
    WorkingDirectory,
    /// `no_new_privs`.
    NoNewPrivileges,
    /// Landlock.
    Landlock,
    /// Moving a descriptor; the index says which.
    Descriptor,
    /// A resource limit; the index says which.
    Limit,
    /// Niceness.
    Nice,
    /// seccomp.
    Seccomp,
    /// `execve`.
    Exec,
}
