//! Networks of their own for programs.

use std::net::TcpListener;
use std::os::fd::{AsRawFd as _, OwnedFd};

use crate::error::{Error, ErrorKind, reason};
use crate::namespace::own_ids;
use crate::sys::{self, NetworkDescriptors, NetworkJoin};

/// A network with nothing but a loopback interface: a network namespace, and the user namespace that owns it if this process
/// may not create one.
///
/// Programs that join it reach each other and the listener, but no other machine and no server of this one. The network
/// exists as long as this value or a process in it; no helper process stays behind.
#[derive(Debug)]
pub struct PrivateNetwork {
    user: Option<OwnedFd>,
    network: OwnedFd,
}

impl PrivateNetwork {
    /// Creates a network. Returns it with a listener on its loopback address, through which this process can offer a proxy.
    ///
    /// # Errors
    /// If the system does not allow namespaces.
    pub fn create() -> Result<(PrivateNetwork, TcpListener), Error> {
        let created = match sys::create_network(None) {
            Err(error) if error.raw_os_error() == Some(libc::EPERM) => sys::create_network(Some(&own_ids())),
            created => created,
        };
        let NetworkDescriptors { user, network, listener } = created.map_err(|error| {
            let message = format!("cannot create a network namespace: {}", reason(&error));
            Error::new(ErrorKind::Namespace, message).with_source(error)
        })?;
        Ok((PrivateNetwork { user, network }, listener.into()))
    }

    /// Creates a socket of this network, for use by this process.
    ///
    /// # Errors
    /// If the network cannot be joined, or has no such sockets.
    pub fn socket(&self, family: i32, kind: i32) -> std::io::Result<OwnedFd> {
        sys::create_socket(&self.join_plan(), family, kind)
    }

    /// The user namespace that owns the network, if it is not that of this process.
    pub(crate) fn owner(&self) -> Option<std::os::fd::RawFd> {
        self.user.as_ref().map(|user| user.as_raw_fd())
    }

    pub(crate) fn join_plan(&self) -> NetworkJoin {
        NetworkJoin {
            user: self.user.as_ref().map(|user| user.as_raw_fd()),
            network: self.network.as_raw_fd(),
        }
    }
}
