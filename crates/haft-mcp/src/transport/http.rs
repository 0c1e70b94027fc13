//! Streamable HTTP on a loopback address, protected by a bearer token.

use std::borrow::Cow;
use std::convert::Infallible;
use std::io;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use haft_tools::exact;
use http::{HeaderMap, Method, Request, Response, StatusCode, header};
use http_body_util::combinators::BoxBody;
use http_body_util::{BodyExt as _, Full, Limited};
use hyper::body::{Bytes, Incoming};
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::{TokioIo, TokioTimer};
use rmcp::ServerHandler;
use rmcp::transport::streamable_http_server::session::local::LocalSessionManager;
use rmcp::transport::streamable_http_server::{StreamableHttpServerConfig, StreamableHttpService};
use serde_json::Value;
use tokio::net::TcpListener;
use tokio_util::sync::CancellationToken;

use super::exact_body;

/// The address to listen on, and the token that clients must present.
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

/// Longer messages are rejected.
pub(crate) const MAX_MESSAGE_BYTES: usize = 16 << 20;
/// The JSON-RPC code for a message that is not JSON.
pub(crate) const PARSE_ERROR: i32 = -32700;
/// The JSON-RPC code for an unknown method.
const METHOD_NOT_FOUND: i32 = -32601;
/// The revision without sessions.
const STATELESS_REVISION: &str = "2026-07-28";
/// Methods that the stateless revision no longer has.
const REMOVED_METHODS: [&str; 5] =
    ["initialize", "ping", "logging/setLevel", "resources/subscribe", "resources/unsubscribe"];

/// The pause after `accept` has failed.
const ACCEPT_RETRY_INTERVAL: Duration = Duration::from_millis(50);

pub(super) type HttpResponse = Response<BoxBody<Bytes, Infallible>>;

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
                        None => answer(&service, request).await,
                    })
                }
            });
            let connection =
                http1::Builder::new().timer(TokioTimer::new()).serve_connection(TokioIo::new(stream), answer);
            tokio::select! { _ = connection => (), () = stop.cancelled() => () }
        });
    }
}

/// Passes a request to the protocol implementation. It is read first, because a message that is not JSON must be
/// answered with the code for that.
async fn answer<H: ServerHandler>(
    service: &StreamableHttpService<H, LocalSessionManager>,
    request: Request<Incoming>,
) -> HttpResponse {
    let is_delete = request.method() == Method::DELETE;
    let is_post = request.method() == Method::POST;
    let (parts, body) = request.into_parts();
    let Ok(body) = Limited::new(body, MAX_MESSAGE_BYTES).collect().await else {
        return reject(StatusCode::PAYLOAD_TOO_LARGE, "the message is longer than 16 MiB");
    };
    let body = body.to_bytes();
    if is_post {
        match serde_json::from_slice::<Envelope>(&body) {
            Err(error) => {
                return json_error(StatusCode::BAD_REQUEST, &Value::Null, PARSE_ERROR, &error.to_string());
            }
            Ok(message) if message.is_removed(&parts.headers) => {
                let reason = format!("unknown method '{}'", message.method);
                return json_error(StatusCode::NOT_FOUND, &message.id, METHOD_NOT_FOUND, &reason);
            }
            Ok(_) => {}
        }
    }
    let body = match std::str::from_utf8(&body).map(exact::marked) {
        Ok(Cow::Owned(marked)) => Bytes::from(marked),
        _ => body,
    };
    let mut response = service.handle(Request::from_parts(parts, Full::new(body))).await;
    if is_delete && response.status() == StatusCode::ACCEPTED {
        *response.status_mut() = StatusCode::OK;
    }
    exact_body::restore(response).await
}

/// The facts that decide how a message is answered.
#[derive(Default)]
struct Envelope {
    method: String,
    id: Value,
}

impl<'de> serde::Deserialize<'de> for Envelope {
    /// Reads the two fields of an object, and accepts every other JSON value as an empty envelope.
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Envelope, D::Error> {
        let mut message = Value::deserialize(deserializer)?;
        let mut take = |name: &str| message.get_mut(name).map(Value::take).unwrap_or_default();
        let (method, id) = (take("method"), take("id"));
        Ok(Envelope { method: method.as_str().unwrap_or_default().to_owned(), id })
    }
}

impl Envelope {
    /// Whether the stateless revision, which the headers name, no longer has this method.
    fn is_removed(&self, headers: &HeaderMap) -> bool {
        let revision = headers.get("mcp-protocol-version").and_then(|value| value.to_str().ok());
        revision == Some(STATELESS_REVISION) && REMOVED_METHODS.contains(&self.method.as_str())
    }
}

/// A JSON-RPC error as an HTTP response.
fn json_error(status: StatusCode, id: &Value, code: i32, message: &str) -> HttpResponse {
    let error = serde_json::json!({ "code": code, "message": message });
    let body = serde_json::json!({ "jsonrpc": "2.0", "id": id, "error": error });
    let mut response = Response::new(Full::new(Bytes::from(body.to_string())).boxed());
    *response.status_mut() = status;
    let json = header::HeaderValue::from_static("application/json");
    response.headers_mut().insert(header::CONTENT_TYPE, json);
    response
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
