//! `/dev/tcp/HOST/PORT` and `/dev/udp/HOST/PORT`: redirections that connect to a host.

use std::io;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr, ToSocketAddrs as _};
use std::os::fd::OwnedFd;
use std::time::Duration;

use haft_process::{CancelToken, PrivateNetwork};
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::Errno;
use rustix::net::{AddressFamily, SocketFlags, SocketType, connect, socket_with, sockopt};

/// Interval between checks for cancellation.
const CANCEL_CHECK_INTERVAL: Duration = Duration::from_millis(50);

/// The host and port of such a name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct ConnectionAddress<'a> {
    kind: SocketType,
    host: &'a str,
    port: u16,
}

impl<'a> ConnectionAddress<'a> {
    /// Parses a name of this form.
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

    /// The name or address of the host.
    pub(super) fn host_name(&self) -> &'a str {
        self.host
    }

    /// The port.
    pub(super) fn port(&self) -> u16 {
        self.port
    }

    /// Connects to the first of the host's addresses that answers.
    ///
    /// # Errors
    /// The error of the last address; [`io::ErrorKind::Interrupted`] if the token is cancelled.
    pub(super) fn connect(
        self,
        found: &[SocketAddr],
        network: Option<&PrivateNetwork>,
        cancel: &CancelToken,
    ) -> io::Result<OwnedFd> {
        let mut last = io::Error::other("no address for this name");
        for address in found {
            // Programs with a network of their own have its loopback interface, and so has the script.
            let network = network.filter(|_| address.ip().is_loopback());
            match connected(*address, self.kind, network, cancel) {
                Err(error) if error.kind() != io::ErrorKind::Interrupted => last = error,
                result => return result,
            }
        }
        Err(last)
    }

    /// The addresses of the host, if they are known without a lookup.
    pub(super) fn host(self) -> ConnectionHost {
        let addresses: Vec<IpAddr> = match (self.host, self.host.parse()) {
            (_, Ok(address)) => vec![address],
            ("localhost", _) => vec![Ipv6Addr::LOCALHOST.into(), Ipv4Addr::LOCALHOST.into()],
            _ => return ConnectionHost::Named(HostName { host: self.host.to_owned(), port: self.port }),
        };
        ConnectionHost::Known(
            addresses.into_iter().map(|address| SocketAddr::new(address, self.port)).collect(),
        )
    }
}

/// The addresses of a host, or its name.
#[derive(Debug)]
pub(super) enum ConnectionHost {
    /// The addresses are known.
    Known(Vec<SocketAddr>),
    /// The name has to be looked up.
    Named(HostName),
}

/// A host name and a port.
#[derive(Debug)]
pub(super) struct HostName {
    host: String,
    port: u16,
}

impl HostName {
    /// Looks up the addresses. This may take long and cannot be interrupted.
    pub(super) fn look_up(&self) -> io::Result<Vec<SocketAddr>> {
        Ok((self.host.as_str(), self.port).to_socket_addrs()?.collect())
    }
}

fn connected(
    address: SocketAddr,
    kind: SocketType,
    network: Option<&PrivateNetwork>,
    cancel: &CancelToken,
) -> io::Result<OwnedFd> {
    let family = if address.is_ipv4() { AddressFamily::INET } else { AddressFamily::INET6 };
    let flags = SocketFlags::CLOEXEC | SocketFlags::NONBLOCK;
    let socket = match network {
        Some(network) => {
            let kind = kind.as_raw() | flags.bits();
            network.socket(i32::from(family.as_raw()), kind.cast_signed())?
        }
        None => socket_with(family, kind, flags, None)?,
    };
    match connect(&socket, &address) {
        Ok(()) => {}
        Err(Errno::INPROGRESS) => finished(&socket, cancel)?,
        Err(error) => return Err(error.into()),
    }
    rustix::io::ioctl_fionbio(&socket, false)?;
    Ok(socket)
}

/// Waits until the connection is established.
fn finished(socket: &OwnedFd, cancel: &CancelToken) -> io::Result<()> {
    let look = Timespec::try_from(CANCEL_CHECK_INTERVAL).ok();
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
    fn only_valid_host_and_port_names_are_connections() {
        let of = |name: &'static str| ConnectionAddress::of(name.as_bytes());
        let wanted = ConnectionAddress { kind: SocketType::STREAM, host: "::1", port: 80 };
        assert_eq!(of("/dev/tcp/::1/80"), Some(wanted));
        assert!(of("/dev/udp/localhost/53").is_some_and(|address| address.kind == SocketType::DGRAM));
        for file in
            ["/dev/tcp", "/dev/tcp/host", "/dev/tcp/host/x", "/dev/null", "dev/tcp/a/1", "/dev/tcp/a/70000"]
        {
            assert_eq!(of(file), None, "{file}");
        }
    }
}
