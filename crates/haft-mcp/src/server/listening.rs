//! Finds out which process listens on a TCP port.

use std::collections::HashSet;
use std::time::Duration;

use tokio::net::TcpStream;

use super::until::PortState;

/// The time that one connection attempt may take.
const CONNECT_TIMEOUT: Duration = Duration::from_millis(500);
/// The state of a listening socket in `/proc/net/tcp`.
const TCP_LISTEN: &str = "0A";

/// Whether a port accepts connections.
pub(crate) async fn is_open(address: &str) -> bool {
    matches!(tokio::time::timeout(CONNECT_TIMEOUT, TcpStream::connect(address)).await, Ok(Ok(_)))
}

/// Whether a port accepts connections, and whether one of the processes listens on it.
pub(crate) async fn port_state(address: &str, processes: impl FnOnce() -> Vec<i32>) -> PortState {
    if !is_open(address).await {
        return PortState::Closed;
    }
    let port = address.rsplit_once(':').and_then(|(_, port)| port.parse().ok());
    let processes = processes();
    if port.is_some_and(|port| processes.iter().any(|pid| listens(*pid, port))) {
        PortState::OpenedByJob
    } else {
        PortState::OpenedByOther
    }
}

/// Whether a process has a socket that listens on a port.
fn listens(pid: i32, port: u16) -> bool {
    let tables = ["tcp", "tcp6"].map(|name| std::fs::read_to_string(format!("/proc/{pid}/net/{name}")));
    let inodes: HashSet<String> =
        tables.iter().flatten().flat_map(|table| listening_inodes(table, port)).collect();
    let Ok(descriptors) = std::fs::read_dir(format!("/proc/{pid}/fd")) else { return false };
    !inodes.is_empty()
        && descriptors.flatten().filter_map(|entry| std::fs::read_link(entry.path()).ok()).any(|target| {
            let target = target.to_string_lossy();
            let inode = target.strip_prefix("socket:[").and_then(|rest| rest.strip_suffix(']'));
            inode.is_some_and(|inode| inodes.contains(inode))
        })
}

/// The inodes of the sockets that listen on a port, from the text of `/proc/net/tcp` or `tcp6`.
fn listening_inodes(table: &str, port: u16) -> impl Iterator<Item = String> {
    let port = format!("{port:04X}");
    table.lines().skip(1).filter_map(move |line| {
        let fields: Vec<&str> = line.split_whitespace().collect();
        let (_, local_port) = fields.get(1)?.rsplit_once(':')?;
        let listens = *fields.get(3)? == TCP_LISTEN && local_port == port;
        listens.then(|| fields.get(9).map(|inode| (*inode).to_owned()))?
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_listening_process_is_found() {
        let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
        let port = listener.local_addr().unwrap().port();
        let own = i32::try_from(std::process::id()).unwrap();
        assert!(listens(own, port));
        drop(listener);
        assert!(!listens(own, port));
    }
}
