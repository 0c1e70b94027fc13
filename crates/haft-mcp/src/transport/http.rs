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
pub struct Http {
    /// A loopback address; port 0 takes any.
    pub address: SocketAddr,
    /// What a client must present as `Authorization: Bearer …`.
    pub token: String,
}

/// Who wants to know what happens.
pub(crate) struct Outside<R> {
    /// Is told where it listens.
    pub(crate) ready: R,
    /// Is told why a request was turned away.
    pub(crate) refused: Arc<dyn Fn(&str) + Send + Sync>,
}

type Answer = Response<BoxBody<Bytes, Infallible>>;

/// Serves until `over` is cancelled.
pub(crate) async fn serve<H: ServerHandler>(
    http: Http,
    handler: impl Fn() -> H + Send + Sync + 'static,
    outside: Outside<impl FnOnce(SocketAddr)>,
    over: CancellationToken,
) -> io::Result<()> {
    if !http.address.ip().is_loopback() {
        return Err(io::Error::new(io::ErrorKind::InvalidInput, "not a loopback address"));
    }
    let listener = TcpListener::bind(http.address).await?;
    let Outside { ready, refused } = outside;
    ready(listener.local_addr()?);
    let config = StreamableHttpServerConfig::default()
        .with_allowed_origins(["http://localhost:*", "http://127.0.0.1:*", "http://[::1]:*"])
        .with_cancellation_token(over.clone());
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
            () = over.cancelled() => return Ok(()),
        };
        let _ = stream.set_nodelay(true);
        let (service, token, over, refused) = (service.clone(), token.clone(), over.clone(), refused.clone());
        tokio::spawn(async move {
            let answer = service_fn(move |request: Request<Incoming>| {
                let (service, token, refused) = (service.clone(), token.clone(), refused.clone());
                async move {
                    let refusal = refusal(&request, &token);
                    Ok::<Answer, Infallible>(match refusal {
                        Some((status, message)) => {
                            refused(message);
                            refuse(status, message)
                        }
                        None => service.handle(request).await,
                    })
                }
            });
            let connection =
                http1::Builder::new().timer(TokioTimer::new()).serve_connection(TokioIo::new(stream), answer);
            tokio::select! { _ = connection => (), () = over.cancelled() => () }
        });
    }
}

/// Why a request is turned away.
fn refusal(request: &Request<Incoming>, token: &str) -> Option<(StatusCode, &'static str)> {
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

fn refuse(status: StatusCode, message: &'static str) -> Answer {
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
