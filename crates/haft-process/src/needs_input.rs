//! Detects whether a process waits for input, from the system call that it is blocked in.

use std::fs;
use std::os::fd::{AsFd, AsRawFd as _};
use std::os::unix::fs::MetadataExt as _;
use std::path::Path;
use std::sync::atomic::{AtomicI32, Ordering};
use std::sync::{Arc, Mutex, PoisonError, Weak};

use crate::capability::with_tracing;
use crate::sys;

/// Device and inode of a file, to compare descriptors of different processes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct FileIdentity {
    device: u64,
    inode: u64,
}

impl FileIdentity {
    /// Returns the identity of the file at a path, such as `/proc/PID/fd/N`.
    pub(crate) fn of(path: impl AsRef<Path>) -> Option<FileIdentity> {
        let metadata = fs::metadata(path).ok()?;
        Some(FileIdentity { device: metadata.dev(), inode: metadata.ino() })
    }
}

/// Returns the first process that is blocked reading, or polling, one of the files.
pub(crate) fn waiting_process(processes: &[i32], inputs: &[FileIdentity]) -> Option<i32> {
    let own = rustix::process::getpid().as_raw_pid();
    let blocked = |pid: i32| threads(pid).iter().any(|&thread| is_thread_waiting(pid, thread, inputs));
    let waiting = |&pid: &i32| blocked(pid) || (pid == own && own_thread_waits(inputs));
    with_tracing(|| processes.iter().copied().find(waiting))
}

/// The descriptor that each thread of this process waits to read. A protected process cannot read its own
/// `/proc/self/task/TID/syscall`.
static THREAD_READS: Mutex<Vec<Weak<AtomicI32>>> = Mutex::new(Vec::new());
/// The thread does not read.
const NO_DESCRIPTOR: i32 = -1;

thread_local! {
    static OWN_READ: Arc<AtomicI32> = {
        let reading = Arc::new(AtomicI32::new(NO_DESCRIPTOR));
        let mut all = THREAD_READS.lock().unwrap_or_else(PoisonError::into_inner);
        all.retain(|thread| thread.strong_count() > 0);
        all.push(Arc::downgrade(&reading));
        reading
    };
}

/// Runs `action`, which may block until `descriptor` is readable. Meanwhile, jobs whose input is that file report that they
/// need input.
pub fn while_reading<T>(descriptor: impl AsFd, action: impl FnOnce() -> T) -> T {
    let number = descriptor.as_fd().as_raw_fd();
    OWN_READ.with(|reading| {
        reading.store(number, Ordering::Relaxed);
        let result = action();
        reading.store(NO_DESCRIPTOR, Ordering::Relaxed);
        result
    })
}

fn own_thread_waits(inputs: &[FileIdentity]) -> bool {
    let reading: Vec<i32> = {
        let all = THREAD_READS.lock().unwrap_or_else(PoisonError::into_inner);
        all.iter().filter_map(Weak::upgrade).map(|thread| thread.load(Ordering::Relaxed)).collect()
    };
    let identities = reading.into_iter().filter(|&number| number != NO_DESCRIPTOR);
    let mut identities = identities.filter_map(|number| FileIdentity::of(format!("/proc/self/fd/{number}")));
    identities.any(|identity| inputs.contains(&identity))
}

fn threads(pid: i32) -> Vec<i32> {
    let Ok(entries) = fs::read_dir(format!("/proc/{pid}/task")) else { return Vec::new() };
    entries.flatten().filter_map(|entry| entry.file_name().to_str()?.parse().ok()).collect()
}

fn is_thread_waiting(pid: i32, thread: i32, inputs: &[FileIdentity]) -> bool {
    let Ok(line) = fs::read_to_string(format!("/proc/{pid}/task/{thread}/syscall")) else { return false };
    let Some(call) = BlockedCall::parse(&line) else { return false };
    call.read_descriptors(pid).iter().any(|descriptor| {
        let identity = FileIdentity::of(format!("/proc/{pid}/fd/{descriptor}"));
        identity.is_some_and(|identity| inputs.contains(&identity))
    })
}

/// The system call that a thread is blocked in.
#[derive(Debug, PartialEq, Eq)]
struct BlockedCall {
    number: i64,
    arguments: [u64; 6],
}

impl BlockedCall {
    /// Parses a line of `/proc/PID/syscall`. Returns `None` for a running thread.
    fn parse(line: &str) -> Option<BlockedCall> {
        let mut words = line.split_ascii_whitespace();
        let number = words.next()?.parse().ok()?;
        let mut arguments = [0; 6];
        for argument in &mut arguments {
            *argument = u64::from_str_radix(words.next()?.strip_prefix("0x")?, 16).ok()?;
        }
        Some(BlockedCall { number, arguments })
    }

    /// Returns the descriptors that the call waits to read.
    fn read_descriptors(&self, pid: i32) -> Vec<i32> {
        match self.number {
            libc::SYS_read | libc::SYS_readv | libc::SYS_pread64 | libc::SYS_preadv | libc::SYS_preadv2 => {
                vec![self.arguments[0] as i32]
            }
            libc::SYS_ppoll => polled(pid, self.arguments[0], self.arguments[1]),
            libc::SYS_pselect6 => selected(pid, self.arguments[0], self.arguments[1]),
            libc::SYS_epoll_pwait | libc::SYS_epoll_pwait2 => watched(pid, self.arguments[0] as i32),
            #[cfg(target_arch = "x86_64")]
            libc::SYS_poll => polled(pid, self.arguments[0], self.arguments[1]),
            #[cfg(target_arch = "x86_64")]
            libc::SYS_select => selected(pid, self.arguments[0], self.arguments[1]),
            #[cfg(target_arch = "x86_64")]
            libc::SYS_epoll_wait => watched(pid, self.arguments[0] as i32),
            _ => Vec::new(),
        }
    }
}

/// Returns the descriptors that an array of `struct pollfd` polls for input.
fn polled(pid: i32, address: u64, count: u64) -> Vec<i32> {
    const POLLFD_BYTES: usize = 8;
    const MAX_DESCRIPTORS: u64 = 1024;
    let mut bytes = vec![0; (count.min(MAX_DESCRIPTORS) as usize) * POLLFD_BYTES];
    let read = sys::read_memory(pid, address, &mut bytes).unwrap_or(0);
    bytes[..read]
        .chunks_exact(POLLFD_BYTES)
        .filter_map(|entry| {
            let descriptor = i32::from_ne_bytes(entry[..4].try_into().ok()?);
            let events = i16::from_ne_bytes(entry[4..6].try_into().ok()?);
            (events & (libc::POLLIN | libc::POLLRDNORM) != 0 && descriptor >= 0).then_some(descriptor)
        })
        .collect()
}

/// Returns the descriptors of an `fd_set` for reading.
fn selected(pid: i32, count: u64, address: u64) -> Vec<i32> {
    let count = count.min(1024) as usize;
    let mut bytes = vec![0; count.div_ceil(64) * 8];
    let read = if address == 0 { 0 } else { sys::read_memory(pid, address, &mut bytes).unwrap_or(0) };
    (0..count.min(read * 8))
        .filter(|bit| bytes[bit / 8] & (1 << (bit % 8)) != 0)
        .map(|bit| bit as i32)
        .collect()
}

/// Returns the descriptors that an epoll instance polls for input.
fn watched(pid: i32, epoll: i32) -> Vec<i32> {
    let listed = fs::read_to_string(format!("/proc/{pid}/fdinfo/{epoll}")).unwrap_or_default();
    listed
        .lines()
        .filter_map(|line| {
            let mut words = line.strip_prefix("tfd:")?.split_ascii_whitespace();
            let descriptor = words.next()?.parse().ok()?;
            let events = u32::from_str_radix(words.nth(1)?, 16).ok()?;
            (events & libc::EPOLLIN as u32 != 0).then_some(descriptor)
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn blocked_reads_have_a_descriptor() {
        let line = format!("{} 0x5 0x7ffe 0x400 0x0 0x0 0x0 0x7ffe 0x7f00", libc::SYS_read);
        let call = BlockedCall::parse(&line).unwrap();
        assert_eq!(call.read_descriptors(1), [5]);
    }

    #[test]
    fn running_threads_have_no_blocked_call() {
        assert_eq!(BlockedCall::parse("running"), None);
        assert_eq!(BlockedCall::parse("-1 0x7ffe 0x7f00"), None);
        assert_eq!(BlockedCall::parse(""), None);
    }
}
