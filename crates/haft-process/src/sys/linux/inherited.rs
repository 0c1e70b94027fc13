//! Descriptors that this process inherited when it was started.

use std::io;
use std::os::fd::{FromRawFd as _, OwnedFd, RawFd};

/// Descriptors from this number on are ignored.
const MAX_INHERITED: RawFd = 256;

/// Takes ownership of the inherited descriptors above 2. Descriptors that this process opened itself are marked
/// close-on-exec, so descriptors without that flag are the inherited ones. Marks them, so a second call finds none.
pub(crate) fn take() -> Vec<(RawFd, OwnedFd)> {
    let mut asked: Vec<libc::pollfd> =
        (3..MAX_INHERITED).map(|fd| libc::pollfd { fd, events: 0, revents: 0 }).collect();
    // SAFETY: the array has the length that is passed.
    if unsafe { libc::poll(asked.as_mut_ptr(), asked.len() as libc::nfds_t, 0) } < 0 {
        return Vec::new();
    }
    let open = asked.iter().filter(|entry| entry.revents & libc::POLLNVAL == 0).map(|entry| entry.fd);
    open.filter(|&number| claim(number)).map(|number| (number, own(number))).collect()
}

/// Sets close-on-exec, and returns whether the descriptor did not have it.
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
    // SAFETY: the descriptor is open and has no owner: every owned descriptor is marked close-on-exec, and it was not.
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
