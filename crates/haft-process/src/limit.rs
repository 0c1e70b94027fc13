//! Resource limits of a child (`setrlimit`).

use std::time::Duration;

use crate::sys::RawLimit;

/// A resource that the system can limit for each process.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Resource {
    /// Bytes of address space.
    AddressSpace,
    /// Seconds of CPU time.
    CpuTime,
    /// Processes of the user.
    Processes,
    /// Open descriptors.
    OpenFiles,
    /// Bytes of a file that the process writes.
    FileSize,
    /// Bytes of a core file.
    CoreSize,
    /// Bytes of the data segment.
    DataSize,
    /// Bytes of the stack.
    StackSize,
    /// Bytes locked into memory.
    LockedMemory,
    /// File locks.
    FileLocks,
    /// Queued signals.
    PendingSignals,
    /// Bytes in message queues.
    MessageQueues,
    /// Ceiling of the niceness.
    Nice,
    /// Ceiling of the real-time priority.
    RealTimePriority,
    /// Microseconds of CPU time of a real-time process without a blocking call.
    RealTimeTimeout,
    /// Bytes of the resident set.
    ResidentSet,
}

impl Resource {
    fn number(self) -> u32 {
        match self {
            Resource::AddressSpace => libc::RLIMIT_AS,
            Resource::CpuTime => libc::RLIMIT_CPU,
            Resource::Processes => libc::RLIMIT_NPROC,
            Resource::OpenFiles => libc::RLIMIT_NOFILE,
            Resource::FileSize => libc::RLIMIT_FSIZE,
            Resource::CoreSize => libc::RLIMIT_CORE,
            Resource::DataSize => libc::RLIMIT_DATA,
            Resource::StackSize => libc::RLIMIT_STACK,
            Resource::LockedMemory => libc::RLIMIT_MEMLOCK,
            Resource::FileLocks => libc::RLIMIT_LOCKS,
            Resource::PendingSignals => libc::RLIMIT_SIGPENDING,
            Resource::MessageQueues => libc::RLIMIT_MSGQUEUE,
            Resource::Nice => libc::RLIMIT_NICE,
            Resource::RealTimePriority => libc::RLIMIT_RTPRIO,
            Resource::RealTimeTimeout => libc::RLIMIT_RTTIME,
            Resource::ResidentSet => libc::RLIMIT_RSS,
        }
    }

    /// Returns the name for messages.
    pub fn name(self) -> &'static str {
        match self {
            Resource::AddressSpace => "memory",
            Resource::CpuTime => "CPU time",
            Resource::Processes => "process",
            Resource::OpenFiles => "open file",
            Resource::FileSize => "file size",
            Resource::CoreSize => "core size",
            Resource::DataSize => "data size",
            Resource::StackSize => "stack size",
            Resource::LockedMemory => "locked memory",
            Resource::FileLocks => "file lock",
            Resource::PendingSignals => "pending signal",
            Resource::MessageQueues => "message queue",
            Resource::Nice => "niceness",
            Resource::RealTimePriority => "real-time priority",
            Resource::RealTimeTimeout => "real-time timeout",
            Resource::ResidentSet => "resident set",
        }
    }
}

/// A resource limit. The soft limit is enforced; the process may raise it up to the hard limit. `None` means unlimited.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ResourceLimit {
    /// The limited resource.
    pub resource: Resource,
    /// The soft limit.
    pub soft: Option<u64>,
    /// The hard limit.
    pub hard: Option<u64>,
}

impl ResourceLimit {
    /// Sets the soft and the hard limit to `value`.
    pub fn fixed(resource: Resource, value: u64) -> ResourceLimit {
        ResourceLimit { resource, soft: Some(value), hard: Some(value) }
    }

    /// Limits CPU time, rounded up to a second: the kernel sends `SIGXCPU` at the limit and `SIGKILL` a second later.
    pub fn cpu(time: Duration) -> ResourceLimit {
        let seconds = cpu_seconds(time);
        ResourceLimit { resource: Resource::CpuTime, soft: Some(seconds), hard: Some(seconds + 1) }
    }

    pub(crate) fn raw(self) -> RawLimit {
        let value = |value: Option<u64>| value.unwrap_or(libc::RLIM_INFINITY);
        RawLimit { resource: self.resource.number(), soft: value(self.soft), hard: value(self.hard) }
    }
}

/// Rounds a CPU time limit up to whole seconds, at least one.
pub(crate) fn cpu_seconds(time: Duration) -> u64 {
    (time.as_secs() + u64::from(time.subsec_nanos() > 0)).max(1)
}
