//! The descriptors that this process was started with.

use std::io;
use std::os::fd::{FromRawFd as _, OwnedFd, RawFd};

/// Numbers from here on are not looked at.
const END: RawFd = 256;

/// Takes over what is open beyond the standard descriptors and would be passed on by an exec. What this process has opened
/// itself is marked close-on-exec, so only what it was started with is found, and nothing is found twice.
pub(crate) fn take() -> Vec<(RawFd, OwnedFd)> {
    let mut asked: Vec<libc::pollfd> =
        (3..END).map(|fd| libc::pollfd { fd, events: 0, revents: 0 }).collect();
    // SAFETY: the array has as many entries as are passed.
    if unsafe { libc::poll(asked.as_mut_ptr(), asked.len() as libc::nfds_t, 0) } < 0 {
        return Vec::new();
    }
    let open = asked.iter().filter(|entry| entry.revents & libc::POLLNVAL == 0).map(|entry| entry.fd);
    open.filter(|&number| claim(number)).map(|number| (number, own(number))).collect()
}

/// Marks a descriptor that would be passed on, so that it is found only once.
fn claim(number: RawFd) -> bool {
    // SAFETY: plain calls.
    unsafe {
        let flags = libc::fcntl(number, libc::F_GETFD);
        flags >= 0
            && flags & libc::FD_CLOEXEC == 0
            && libc::fcntl(number, libc::F_SETFD, flags | libc::FD_CLOEXEC) >= 0
    }
}

fn own(number: RawFd) -> OwnedFd {
    // SAFETY: it is open, and was nobody's: everything that is somebody's carries the mark that it did not have.
    unsafe { OwnedFd::from_raw_fd(number) }
}

/// Duplicates a descriptor that this process was started with, without taking ownership of the original.
pub(crate) fn duplicate(number: RawFd) -> io::Result<OwnedFd> {
    // SAFETY: a plain call; the kernel checks the number.
    let copy = unsafe { libc::fcntl(number, libc::F_DUPFD_CLOEXEC, 3) };
    if copy < 0 {
        return Err(io::Error::last_os_error());
    }
    // SAFETY: the descriptor was created by the call above.
    Ok(unsafe { OwnedFd::from_raw_fd(copy) })
}
