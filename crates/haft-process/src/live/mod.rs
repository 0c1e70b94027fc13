//! Runs of this process that other processes of the same user can look at and end.
//!
//! A process with [`LiveRuns`] listens on a Unix socket in the abstract namespace, which the kernel removes with the process.
//! A [`LiveClient`] of another process connects to it, and reads the output of a run while it is written, or ends the run.
//! The name of the socket has the pid and the start time of the process.
//!
//! Both sides check that the other one belongs to the same user. A process with `no_new_privs`, such as a program in a
//! sandbox, is refused, because it could get out of its sandbox through the terminal of another run.

mod client;
mod messages;
mod readable;
mod server;

pub use client::LiveClient;
pub use messages::{LiveStatus, LiveStream};
pub use readable::ReadableOutput;
pub use server::LiveRuns;

use std::os::linux::net::SocketAddrExt as _;
use std::os::unix::net::{SocketAddr, UnixStream};
use std::{fs, io};

use rustix::net::UCred;

/// The address of the process with this pid and start time.
fn address(pid: i32, started: u64) -> io::Result<SocketAddr> {
    SocketAddr::from_abstract_name(format!("haft-live-{pid}-{started}"))
}

/// The process at the other end.
///
/// # Errors
/// If it belongs to another user.
fn peer(stream: &UnixStream) -> io::Result<UCred> {
    let peer = rustix::net::sockopt::socket_peercred(stream)?;
    if peer.uid != rustix::process::geteuid() {
        return Err(io::Error::new(io::ErrorKind::PermissionDenied, "the process belongs to another user"));
    }
    Ok(peer)
}

/// Whether a process has `no_new_privs`, as every program in a sandbox has.
fn has_no_new_privileges(pid: i32) -> bool {
    let status = fs::read_to_string(format!("/proc/{pid}/status")).unwrap_or_default();
    !status.lines().any(|line| line.strip_prefix("NoNewPrivs:").is_some_and(|value| value.trim() == "0"))
}
