//! Streamable HTTP on a loopback address, protected by a bearer token.

use std::convert::Infallible;
use std::io;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use http::{HeaderMap, Request, Response, StatusCode, header};
use http_body_util::combinators::BoxBody;
use http_body_util::{BodyExt as _, Full};
use hyper::body::{Bytes, Incoming};
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::{TokioIo, TokioTimer};
use rmcp::ServerHandler;
use rmcp::transport::streamable_http_server::session::local::LocalSessionManager;
use rmcp::transport::streamable_http_server::{StreamableHttpServerConfig, StreamableHttpService};
use tokio::net::TcpListener;
use tokio_util::sync::CancellationToken;

/// Where to listen, and the token that clients must present.
#[derive(Clone, Debug)]
pub struct HttpOptions {
    /// A loopback address. Port 0 selects a free port.
    pub address: SocketAddr,
    /// The token that clients send as `Authorization: Bearer TOKEN`.
    pub token: String,
}

/// Callbacks of the HTTP server.
pub(crate) struct HttpCallbacks<R> {
    /// Receives the address that the server listens on.
    pub(crate) ready: R,
    /// Receives the reason for each rejected request.
    pub(crate) rejected: Arc<dyn Fn(&str) + Send + Sync>,
}

/// The pause after `accept` has failed.
const ACCEPT_RETRY_INTERVAL: Duration = Duration::from_millis(50);

type HttpResponse = Response<BoxBody<Bytes, Infallible>>;

/// Serves requests until `stop` is cancelled.
pub(crate) async fn serve<H: ServerHandler>(
    http: HttpOptions,
    handler: impl Fn() -> H + Send + Sync + 'static,
    outside: HttpCallbacks<impl FnOnce(SocketAddr)>,
    stop: CancellationToken,
) -> io::Result<()> {
    if !http.address.ip().is_loopback() {
        return Err(io::Error::new(io::ErrorKind::InvalidInput, "not a loopback address"));
    }
    let listener = TcpListener::bind(http.address).await?;
    let HttpCallbacks { ready, rejected } = outside;
    ready(listener.local_addr()?);
    let config = StreamableHttpServerConfig::default()
        .with_allowed_origins(["http://localhost:*", "http://127.0.0.1:*", "http://[::1]:*"])
        .with_cancellation_token(stop.clone());
    let sessions = Arc::new(LocalSessionManager::default());
    let service = StreamableHttpService::new(move || Ok(handler()), sessions, config);
    let token: Arc<str> = http.token.into();
    loop {
        let (stream, _) = tokio::select! {
            accepted = listener.accept() => match accepted {
                Ok(accepted) => accepted,
                // A transient error: no free descriptor, or a client that gave up while it waited.
                Err(_) => { tokio::time::sleep(ACCEPT_RETRY_INTERVAL).await; continue }
            },
            () = stop.cancelled() => return Ok(()),
        };
        let _ = stream.set_nodelay(true);
        let (service, token, stop, rejected) =
            (service.clone(), token.clone(), stop.clone(), rejected.clone());
        tokio::spawn(async move {
            let answer = service_fn(move |request: Request<Incoming>| {
                let (service, token, rejected) = (service.clone(), token.clone(), rejected.clone());
                async move {
                    let rejection = rejection(&request, &token);
                    Ok::<HttpResponse, Infallible>(match rejection {
                        Some((status, message)) => {
                            rejected(message);
                            reject(status, message)
                        }
                        None => service.handle(request).await,
                    })
                }
            });
            let connection =
                http1::Builder::new().timer(TokioTimer::new()).serve_connection(TokioIo::new(stream), answer);
            tokio::select! { _ = connection => (), () = stop.cancelled() => () }
        });
    }
}

/// The reason to reject a request, or `None` to accept it.
fn rejection(request: &Request<Incoming>, token: &str) -> Option<(StatusCode, &'static str)> {
    if !is_authorized(request.headers(), token) {
        let message = "missing or wrong token: send \"Authorization: Bearer TOKEN\"";
        return Some((StatusCode::UNAUTHORIZED, message));
    }
    let known = matches!(request.uri().path(), "/" | "/mcp");
    (!known).then_some((StatusCode::NOT_FOUND, "the MCP endpoint is \"/mcp\""))
}

/// Compares the token in constant time, so that the response time does not reveal a correct prefix.
fn is_authorized(headers: &HeaderMap, token: &str) -> bool {
    let given =
        headers.get(header::AUTHORIZATION).and_then(|value| value.as_bytes().strip_prefix(b"Bearer "));
    given.is_some_and(|given| {
        given.len() == token.len()
            && given.iter().zip(token.as_bytes()).fold(0, |differs, (a, b)| differs | (a ^ b)) == 0
    })
}

fn reject(status: StatusCode, message: &'static str) -> HttpResponse {
    let mut response = Response::new(Full::new(Bytes::from_static(message.as_bytes())).boxed());
    *response.status_mut() = status;
    if status == StatusCode::UNAUTHORIZED {
        response.headers_mut().insert(header::WWW_AUTHENTICATE, header::HeaderValue::from_static("Bearer"));
    }
    response
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_exact_token_is_accepted() {
        let with = |value: &str| {
            let mut headers = HeaderMap::new();
            headers.insert(header::AUTHORIZATION, value.parse().unwrap());
            headers
        };
        assert!(is_authorized(&with("Bearer secret"), "secret"));
        for wrong in ["Bearer secre", "Bearer secrets", "bearer secret", "Basic secret", "secret", "Bearer "]
        {
            assert!(!is_authorized(&with(wrong), "secret"), "{wrong}");
        }
        assert!(!is_authorized(&HeaderMap::new(), "secret"));
    }
}
