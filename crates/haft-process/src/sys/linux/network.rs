//! Network namespaces.
//!
//! As for mount namespaces, a forked child creates the namespace, opens it in the table of descriptors that it shares with
//! this process, and ends.

use std::ffi::CStr;
use std::io;
use std::mem;
use std::os::fd::{AsRawFd as _, FromRawFd as _, OwnedFd, RawFd};

use super::child::errno;
use super::clone::CloneArguments;
use super::namespace::{IdMaps, map_ids};
use super::plan::NetworkJoin;

/// A new network namespace, and the user namespace that owns it.
#[derive(Debug)]
pub(crate) struct NetworkDescriptors {
    pub(crate) user: Option<OwnedFd>,
    pub(crate) network: OwnedFd,
    /// A TCP socket that listens on the loopback address of the namespace.
    pub(crate) listener: OwnedFd,
}

/// The child's report through a pipe: numbers of descriptors, or the error.
#[repr(C)]
#[derive(Clone, Copy)]
struct NetworkReport {
    user: RawFd,
    network: RawFd,
    listener: RawFd,
    errno: i32,
}

/// Creates a network namespace whose loopback interface is up, in a new user namespace if there are id maps.
pub(crate) fn create_network(ids: Option<&IdMaps>) -> io::Result<NetworkDescriptors> {
    let user = if ids.is_some() { libc::CLONE_NEWUSER } else { 0 };
    let report = in_helper(libc::CLONE_NEWNET | user, |report| set_up(ids, report))?;
    let (user, network, listener) = (own(report.user), own(report.network), own(report.listener));
    match (network, listener) {
        (Some(network), Some(listener)) => Ok(NetworkDescriptors { user, network, listener }),
        _ => Err(io::Error::other("the helper process was killed")),
    }
}

/// Creates a socket in a network namespace. This process stays in its own.
pub(crate) fn create_socket(network: &NetworkJoin, family: i32, kind: i32) -> io::Result<OwnedFd> {
    let report = in_helper(0, |report| {
        valid(join_network_raw(network.user, network.network))?;
        // SAFETY: a call without a pointer.
        report.network = valid(unsafe { libc::socket(family, kind, 0) })?;
        Ok(())
    })?;
    own(report.network).ok_or_else(|| io::Error::other("the helper process was killed"))
}

/// Runs system calls in a forked child that shares the table of descriptors, and returns its report.
fn in_helper(
    flags: i32,
    work: impl FnOnce(&mut NetworkReport) -> Result<(), ()>,
) -> io::Result<NetworkReport> {
    let (reader, writer) = rustix::pipe::pipe_with(rustix::pipe::PipeFlags::CLOEXEC)?;
    let arguments = CloneArguments::with_flags(libc::CLONE_FILES | libc::CLONE_VFORK | flags);
    let held = super::HeldSignals::all();
    // SAFETY: without CLONE_VM and without a stack this is a fork. The child makes system calls only and exits.
    let pid = unsafe {
        libc::syscall(libc::SYS_clone3, &raw const arguments, mem::size_of::<CloneArguments>()) as libc::pid_t
    };
    if pid == 0 {
        let report = run_child(work);
        // SAFETY: a complete structure that fits into the pipe; then the child exits at once.
        unsafe {
            libc::write(writer.as_raw_fd(), (&raw const report).cast(), mem::size_of::<NetworkReport>());
            libc::_exit(0);
        }
    }
    let error = io::Error::last_os_error();
    drop(held);
    drop(writer);
    if pid < 0 {
        return Err(error);
    }
    // SAFETY: waits for the child of this call; `__WCLONE` because it sends no signal at its end.
    unsafe { libc::waitpid(pid, std::ptr::null_mut(), libc::__WCLONE) };
    read_report(&reader)
}

fn read_report(reader: &OwnedFd) -> io::Result<NetworkReport> {
    let mut bytes = [0_u8; mem::size_of::<NetworkReport>()];
    if rustix::io::read(reader, &mut bytes)? != bytes.len() {
        return Err(io::Error::other("the helper process was killed"));
    }
    // SAFETY: the structure has only integers, and all its bytes were written by the child.
    let report: NetworkReport = unsafe { mem::transmute(bytes) };
    if report.errno != 0 {
        [report.user, report.network, report.listener].into_iter().for_each(|number| drop(own(number)));
        return Err(io::Error::from_raw_os_error(report.errno));
    }
    Ok(report)
}

/// Takes a descriptor that the child opened in the shared table.
fn own(number: RawFd) -> Option<OwnedFd> {
    // SAFETY: nothing else owns it.
    (number >= 0).then(|| unsafe { OwnedFd::from_raw_fd(number) })
}

/// The work of the child: system calls on prepared data only.
fn run_child(work: impl FnOnce(&mut NetworkReport) -> Result<(), ()>) -> NetworkReport {
    let mut report = NetworkReport { user: -1, network: -1, listener: -1, errno: 0 };
    if work(&mut report).is_err() {
        report.errno = errno();
    }
    report
}

fn set_up(ids: Option<&IdMaps>, report: &mut NetworkReport) -> Result<(), ()> {
    if let Some(ids) = ids {
        map_ids(ids)?;
        report.user = open(c"/proc/self/ns/user")?;
    }
    raise_loopback()?;
    report.network = open(c"/proc/self/ns/net")?;
    report.listener = listen()?;
    Ok(())
}

fn open(path: &CStr) -> Result<RawFd, ()> {
    // SAFETY: a constant, NUL-terminated path.
    valid(unsafe { libc::open(path.as_ptr(), libc::O_RDONLY | libc::O_CLOEXEC) })
}

/// Brings the loopback interface up.
fn raise_loopback() -> Result<(), ()> {
    // SAFETY: the structure is plain data, and the calls read it only.
    unsafe {
        let socket = valid(libc::socket(libc::AF_INET, libc::SOCK_DGRAM | libc::SOCK_CLOEXEC, 0))?;
        let mut request: libc::ifreq = mem::zeroed();
        request.ifr_name[0] = b'l'.cast_signed();
        request.ifr_name[1] = b'o'.cast_signed();
        request.ifr_ifru.ifru_flags = libc::IFF_UP as libc::c_short;
        let raised = libc::ioctl(socket, libc::SIOCSIFFLAGS, &raw const request);
        let error = errno();
        libc::close(socket);
        *libc::__errno_location() = error;
        valid(raised).map(|_| ())
    }
}

/// Listens on a free port of the loopback address.
fn listen() -> Result<RawFd, ()> {
    const BACKLOG: i32 = 128;
    // SAFETY: the address is plain data with its length.
    unsafe {
        let socket = valid(libc::socket(libc::AF_INET, libc::SOCK_STREAM | libc::SOCK_CLOEXEC, 0))?;
        let mut address: libc::sockaddr_in = mem::zeroed();
        address.sin_family = libc::AF_INET as libc::sa_family_t;
        address.sin_addr.s_addr = u32::from_ne_bytes([127, 0, 0, 1]);
        let length = mem::size_of::<libc::sockaddr_in>() as libc::socklen_t;
        valid(libc::bind(socket, (&raw const address).cast(), length))?;
        valid(libc::listen(socket, BACKLOG))?;
        Ok(socket)
    }
}

/// Joins a network namespace. The process may be in its user namespace already. Safe to call in a child that shares its parent's
/// memory.
pub(crate) fn join_network_raw(user: Option<RawFd>, network: RawFd) -> i32 {
    // SAFETY: calls without a pointer.
    unsafe {
        if let Some(user) = user {
            let joined = libc::setns(user, libc::CLONE_NEWUSER);
            if joined < 0 && errno() != libc::EINVAL {
                return joined;
            }
        }
        libc::setns(network, libc::CLONE_NEWNET)
    }
}

fn valid(result: i32) -> Result<i32, ()> {
    if result < 0 { Err(()) } else { Ok(result) }
}
