//! A forward proxy for programs in a private network: HTTP and, with `CONNECT`, everything over TLS.
//!
//! Programs cannot reach other machines. The proxy can, and connects them to the hosts that the policy allows. It resolves the
//! names itself, and refuses names that lead to private addresses. It does not look into TLS.

use std::io::{self, Read as _, Write as _};
use std::net::{IpAddr, Shutdown, SocketAddr, TcpListener, TcpStream, ToSocketAddrs as _};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;
use std::time::Duration;

use haft_kernel::CommandGate as _;

use super::guard::PolicyGuard;

/// The longest request line with headers.
const MAX_HEAD_BYTES: usize = 64 << 10;
/// Connections at one time.
const MAX_CONNECTIONS: usize = 256;
/// How long a program may take to send its request, and a host to answer.
const CONNECT_TIMEOUT: Duration = Duration::from_secs(30);
/// The port of plain HTTP.
const HTTP_PORT: u16 = 80;

/// Serves a listener in the background until this process ends. Returns the proxy's address.
///
/// # Errors
/// If the address is unknown, or a thread cannot be started.
pub(super) fn serve(listener: TcpListener, guard: Arc<PolicyGuard>) -> io::Result<SocketAddr> {
    let address = listener.local_addr()?;
    let active = Arc::new(AtomicUsize::new(0));
    let accept = move || {
        for client in listener.incoming().flatten() {
            if active.fetch_add(1, Ordering::Relaxed) >= MAX_CONNECTIONS {
                active.fetch_sub(1, Ordering::Relaxed);
                continue;
            }
            let (guard, active) = (guard.clone(), active.clone());
            let handle = move || {
                // The program sees the end of the connection.
                let _ = handle(client, &guard);
                active.fetch_sub(1, Ordering::Relaxed);
            };
            let _ = thread::Builder::new().name("proxy connection".to_owned()).spawn(handle);
        }
    };
    // Another thread handles the signals of this process.
    haft_process::with_blocked_signals(|| thread::Builder::new().name("proxy".to_owned()).spawn(accept))?;
    Ok(address)
}

/// A request to the proxy.
#[derive(Debug, PartialEq, Eq)]
struct ProxyRequest {
    host: String,
    port: u16,
    /// The bytes to send to the host first; `None` for `CONNECT`.
    forwarded: Option<Vec<u8>>,
}

fn handle(mut client: TcpStream, guard: &PolicyGuard) -> io::Result<()> {
    client.set_read_timeout(Some(CONNECT_TIMEOUT))?;
    let (head, rest) = read_head(&mut client)?;
    let Some(request) = parse(&head) else {
        return refuse(
            &mut client,
            "400 Bad Request",
            "haft's proxy understands CONNECT and http:// requests",
        );
    };
    if let Err(reason) = guard.check_connection(&request.host, request.port) {
        return refuse(&mut client, "403 Forbidden", &reason);
    }
    let mut server = match connect(&request) {
        Ok(server) => server,
        Err(error) => return refuse(&mut client, "502 Bad Gateway", &error.to_string()),
    };
    client.set_read_timeout(None)?;
    match &request.forwarded {
        Some(head) => server.write_all(head)?,
        None => client.write_all(b"HTTP/1.1 200 Connection established\r\n\r\n")?,
    }
    server.write_all(&rest)?;
    tunnel(client, server)
}

/// Reads up to the empty line after the headers. Returns the head and what came after it.
fn read_head(client: &mut TcpStream) -> io::Result<(Vec<u8>, Vec<u8>)> {
    const END: &[u8] = b"\r\n\r\n";
    let mut bytes = Vec::new();
    let mut buffer = [0; 4096];
    loop {
        if let Some(end) = bytes.windows(END.len()).position(|window| window == END) {
            let rest = bytes.split_off(end + END.len());
            return Ok((bytes, rest));
        }
        match client.read(&mut buffer)? {
            0 => return Err(io::ErrorKind::UnexpectedEof.into()),
            _ if bytes.len() > MAX_HEAD_BYTES => return Err(io::ErrorKind::InvalidData.into()),
            count => bytes.extend_from_slice(&buffer[..count]),
        }
    }
}

/// Parses the head of a request: `CONNECT host:port`, or a method with a URL of the form `http://host[:port]/path`.
fn parse(head: &[u8]) -> Option<ProxyRequest> {
    let head = std::str::from_utf8(head).ok()?;
    let (line, headers) = head.split_once("\r\n")?;
    let mut words = line.split(' ');
    let (method, target, version) = (words.next()?, words.next()?, words.next()?);
    if method == "CONNECT" {
        let (host, port) = split_authority(target, None)?;
        return Some(ProxyRequest { host, port, forwarded: None });
    }
    let rest = target.strip_prefix("http://")?;
    let slash = rest.find('/').unwrap_or(rest.len());
    let (authority, path) = rest.split_at(slash);
    let (host, port) = split_authority(authority, Some(HTTP_PORT))?;
    let path = if path.is_empty() { "/" } else { path };
    // The proxy sees one request per connection, so that it can judge each of them.
    let is_forwarded = |header: &&str| {
        let name = header.split(':').next().unwrap_or_default().to_ascii_lowercase();
        !name.is_empty() && !name.starts_with("proxy-") && name != "connection" && name != "keep-alive"
    };
    let headers: Vec<&str> = headers.split("\r\n").filter(is_forwarded).collect();
    let head = format!("{method} {path} {version}\r\n{}\r\nConnection: close\r\n\r\n", headers.join("\r\n"));
    Some(ProxyRequest { host, port, forwarded: Some(head.into_bytes()) })
}

/// Splits `host:port` or `[address]:port`.
fn split_authority(text: &str, default: Option<u16>) -> Option<(String, u16)> {
    let text = text.rsplit('@').next()?;
    let (host, port) = match text.rsplit_once(':') {
        Some((host, port)) if !port.contains(']') => (host, Some(port.parse().ok()?)),
        _ => (text, default),
    };
    let host = host.trim_start_matches('[').trim_end_matches(']');
    (!host.is_empty()).then(|| Some((host.to_owned(), port?)))?
}

/// Connects to the first address of the host that answers. A name must not lead to a private address: the policy has judged
/// the name only.
fn connect(request: &ProxyRequest) -> io::Result<TcpStream> {
    let is_literal = request.host.parse::<IpAddr>().is_ok();
    let mut last = io::Error::other(format!("'{}' has no address", request.host));
    for address in (request.host.as_str(), request.port).to_socket_addrs()? {
        if !is_literal && is_private(address.ip()) {
            last =
                io::Error::other(format!("'{}' leads to the private address {}", request.host, address.ip()));
            continue;
        }
        match TcpStream::connect_timeout(&address, CONNECT_TIMEOUT) {
            Ok(server) => return Ok(server),
            Err(error) => last = error,
        }
    }
    Err(last)
}

/// Whether an address is not one of the public internet.
fn is_private(address: IpAddr) -> bool {
    match address.to_canonical() {
        IpAddr::V4(address) => {
            let [first, second, ..] = address.octets();
            address.is_private()
                || address.is_loopback()
                || address.is_link_local()
                || address.is_unspecified()
                || address.is_broadcast()
                || address.is_multicast()
                || (first == 100 && (64..128).contains(&second))
        }
        IpAddr::V6(address) => {
            address.is_loopback()
                || address.is_unspecified()
                || address.is_multicast()
                || address.is_unique_local()
                || address.is_unicast_link_local()
        }
    }
}

/// Copies bytes in both directions until both ends are closed.
fn tunnel(client: TcpStream, server: TcpStream) -> io::Result<()> {
    let (mut from_client, mut to_server) = (client.try_clone()?, server.try_clone()?);
    let upload = move || {
        let _ = io::copy(&mut from_client, &mut to_server);
        let _ = to_server.shutdown(Shutdown::Write);
    };
    let upload = thread::Builder::new().name("proxy upload".to_owned()).spawn(upload)?;
    let (mut from_server, mut to_client) = (server, client);
    let _ = io::copy(&mut from_server, &mut to_client);
    let _ = to_client.shutdown(Shutdown::Write);
    let _ = upload.join();
    Ok(())
}

fn refuse(client: &mut TcpStream, status: &str, reason: &str) -> io::Result<()> {
    let text = format!("haft: {reason}\n");
    let head = format!(
        "HTTP/1.1 {status}\r\nContent-Type: text/plain\r\nConnection: close\r\nContent-Length: {}",
        text.len()
    );
    client.write_all(format!("{head}\r\n\r\n{text}").as_bytes())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn requests_name_their_host() {
        let connect =
            parse(b"CONNECT example.org:443 HTTP/1.1\r\nHost: example.org\r\n\r\n").expect("a request");
        assert_eq!((connect.host.as_str(), connect.port, connect.forwarded), ("example.org", 443, None));
        let plain =
            b"GET http://u:p@example.org/a?b HTTP/1.1\r\nHost: example.org\r\nProxy-Connection: x\r\n\r\n";
        let plain = parse(plain).expect("a request");
        assert_eq!((plain.host.as_str(), plain.port), ("example.org", 80));
        let sent = String::from_utf8(plain.forwarded.expect("a head")).expect("text");
        assert_eq!(sent, "GET /a?b HTTP/1.1\r\nHost: example.org\r\nConnection: close\r\n\r\n");
        assert_eq!(parse(b"CONNECT [::1]:8080 HTTP/1.1\r\n\r\n").expect("a request").host, "::1");
        for wrong in ["GET / HTTP/1.1\r\n\r\n", "CONNECT example.org HTTP/1.1\r\n\r\n", "\r\n\r\n"] {
            assert_eq!(parse(wrong.as_bytes()), None, "{wrong}");
        }
    }

    #[test]
    fn private_addresses_are_known() {
        for private in [
            "127.0.0.1",
            "10.1.2.3",
            "192.168.1.1",
            "169.254.169.254",
            "100.64.0.1",
            "::1",
            "fe80::1",
            "fd00::1",
            "::ffff:10.0.0.1",
        ] {
            assert!(is_private(private.parse().expect("an address")), "{private}");
        }
        for public in ["1.1.1.1", "2606:4700::1111"] {
            assert!(!is_private(public.parse().expect("an address")), "{public}");
        }
    }
}
