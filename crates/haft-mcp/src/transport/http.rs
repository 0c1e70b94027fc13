//! Streamable HTTP on a loopback address, for those who know the token.

use std::convert::Infallible;
use std::io;
use std::net::SocketAddr;
use std::sync::Arc;

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

/// Where and for whom to listen.
#[derive(Clone, Debug)]
pub struct HttpOptions {
    /// A loopback address; port 0 takes any.
    pub address: SocketAddr,
    /// What a client must present as `Authorization: Bearer …`.
    pub token: String,
}

/// Who wants to know what happens.
pub(crate) struct HttpCallbacks<R> {
    /// Is told where it listens.
    pub(crate) ready: R,
    /// Is told why a request was turned away.
    pub(crate) rejected: Arc<dyn Fn(&str) + Send + Sync>,
}

type HttpResponse = Response<BoxBody<Bytes, Infallible>>;

/// Serves until `over` is cancelled.
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
                // Out of descriptors for a moment, or a client that went away while it waited.
                Err(_) => { tokio::time::sleep(std::time::Duration::from_millis(50)).await; continue }
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

/// Why a request is turned away.
fn rejection(request: &Request<Incoming>, token: &str) -> Option<(StatusCode, &'static str)> {
    if !is_authorized(request.headers(), token) {
        let message = "the token is missing or wrong: send \"Authorization: Bearer TOKEN\"";
        return Some((StatusCode::UNAUTHORIZED, message));
    }
    let known = matches!(request.uri().path(), "/" | "/mcp");
    (!known).then_some((StatusCode::NOT_FOUND, "the server is at \"/mcp\""))
}

/// Whether the token is the right one, found out in a time that does not tell how much of it is right.
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
    fn only_the_whole_token_opens() {
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
