//! `/dev/tcp/HOST/PORT` and `/dev/udp/HOST/PORT`: names of redirections that mean connections.

use std::io;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr, ToSocketAddrs as _};
use std::os::fd::OwnedFd;
use std::time::Duration;

use haft_process::CancelToken;
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::Errno;
use rustix::net::{AddressFamily, SocketFlags, SocketType, connect, socket_with, sockopt};

/// How long nobody looks whether it is still wanted.
const LOOK: Duration = Duration::from_millis(50);

/// What such a name means.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Address<'a> {
    kind: SocketType,
    host: &'a str,
    port: u16,
}

impl<'a> Address<'a> {
    /// What a name means, if it is such a name.
    pub(super) fn of(name: &'a [u8]) -> Option<Self> {
        let name = std::str::from_utf8(name.strip_prefix(b"/dev/")?).ok()?;
        let (kind, rest) = match name.split_once('/')? {
            ("tcp", rest) => (SocketType::STREAM, rest),
            ("udp", rest) => (SocketType::DGRAM, rest),
            _ => return None,
        };
        let (host, port) = rest.split_once('/')?;
        Some(Self { kind, host, port: port.parse().ok()? })
    }

    /// Connects to the first of the host's addresses that answers.
    ///
    /// # Errors
    /// What the last of them said; [`io::ErrorKind::Interrupted`] if the token is cancelled.
    pub(super) fn connect(self, found: &[SocketAddr], cancel: &CancelToken) -> io::Result<OwnedFd> {
        let mut last = io::Error::other("no address for this name");
        for address in found {
            match connected(*address, self.kind, cancel) {
                Err(error) if error.kind() != io::ErrorKind::Interrupted => last = error,
                result => return result,
            }
        }
        Err(last)
    }

    /// What is known of the host without asking anybody.
    pub(super) fn host(self) -> Host {
        let addresses: Vec<IpAddr> = match (self.host, self.host.parse()) {
            (_, Ok(address)) => vec![address],
            ("localhost", _) => vec![Ipv6Addr::LOCALHOST.into(), Ipv4Addr::LOCALHOST.into()],
            _ => return Host::Named(Name { host: self.host.to_owned(), port: self.port }),
        };
        Host::Known(addresses.into_iter().map(|address| SocketAddr::new(address, self.port)).collect())
    }
}

/// Where a host is.
#[derive(Debug)]
pub(super) enum Host {
    /// At one of these addresses.
    Known(Vec<SocketAddr>),
    /// Its name has to be looked up.
    Named(Name),
}

/// The name of a host, and a port there.
#[derive(Debug)]
pub(super) struct Name {
    host: String,
    port: u16,
}

impl Name {
    /// Asks for its addresses, however long that takes.
    pub(super) fn look_up(&self) -> io::Result<Vec<SocketAddr>> {
        Ok((self.host.as_str(), self.port).to_socket_addrs()?.collect())
    }
}

fn connected(address: SocketAddr, kind: SocketType, cancel: &CancelToken) -> io::Result<OwnedFd> {
    let family = if address.is_ipv4() { AddressFamily::INET } else { AddressFamily::INET6 };
    let socket = socket_with(family, kind, SocketFlags::CLOEXEC | SocketFlags::NONBLOCK, None)?;
    match connect(&socket, &address) {
        Ok(()) => {}
        Err(Errno::INPROGRESS) => finished(&socket, cancel)?,
        Err(error) => return Err(error.into()),
    }
    rustix::io::ioctl_fionbio(&socket, false)?;
    Ok(socket)
}

/// Waits until a connection is there.
fn finished(socket: &OwnedFd, cancel: &CancelToken) -> io::Result<()> {
    let look = Timespec::try_from(LOOK).ok();
    loop {
        if cancel.is_cancelled() {
            return Err(io::ErrorKind::Interrupted.into());
        }
        match poll(&mut [PollFd::new(socket, PollFlags::OUT)], look.as_ref()) {
            Ok(0) | Err(Errno::INTR) => {}
            Ok(_) => return Ok(sockopt::socket_error(socket)??),
            Err(error) => return Err(error.into()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_connections_are_told_from_names_of_files() {
        let of = |name: &'static str| Address::of(name.as_bytes());
        let wanted = Address { kind: SocketType::STREAM, host: "::1", port: 80 };
        assert_eq!(of("/dev/tcp/::1/80"), Some(wanted));
        assert!(of("/dev/udp/localhost/53").is_some_and(|address| address.kind == SocketType::DGRAM));
        for file in
            ["/dev/tcp", "/dev/tcp/host", "/dev/tcp/host/x", "/dev/null", "dev/tcp/a/1", "/dev/tcp/a/70000"]
        {
            assert_eq!(of(file), None, "{file}");
        }
    }
}
