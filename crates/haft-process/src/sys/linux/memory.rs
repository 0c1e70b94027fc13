//! Reading another process's memory, to find out which descriptors a blocked `poll` waits for.

use std::io;

/// Reads up to `buffer.len()` bytes at `address` of process `pid`. Returns the number of bytes read.
pub(crate) fn read_memory(pid: i32, address: u64, buffer: &mut [u8]) -> io::Result<usize> {
    let local = libc::iovec { iov_base: buffer.as_mut_ptr().cast(), iov_len: buffer.len() };
    let remote = libc::iovec { iov_base: address as *mut libc::c_void, iov_len: buffer.len() };
    // SAFETY: the local vector covers exactly the buffer. The kernel checks the remote one.
    let read = unsafe { libc::process_vm_readv(pid, &raw const local, 1, &raw const remote, 1, 0) };
    usize::try_from(read).map_err(|_| io::Error::last_os_error())
}
