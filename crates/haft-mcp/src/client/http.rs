//! HTTP transport to a server at a URL.

use std::borrow::Cow;
use std::collections::{BTreeMap, HashMap};
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;

use futures_core::Stream;
use haft_process::Environment;
use haft_tools::exact;
use http::{HeaderName, HeaderValue, Method, Request, Response, StatusCode, Uri, header};
use http_body_util::{BodyExt as _, Full, Limited};
use hyper::body::{Bytes, Incoming};
use hyper_rustls::{HttpsConnector, HttpsConnectorBuilder};
use hyper_util::client::legacy::Client;
use hyper_util::client::legacy::connect::HttpConnector;
use hyper_util::rt::{TokioExecutor, TokioTimer};
use rmcp::model::{ClientJsonRpcMessage, ServerJsonRpcMessage};
use rmcp::transport::StreamableHttpClientTransport;
use rmcp::transport::streamable_http_client::{
    AuthRequiredError, SseError, StreamableHttpClient, StreamableHttpClientTransportConfig,
    StreamableHttpError, StreamableHttpPostResponse,
};
use sse_stream::{Sse, SseStream};

use crate::transport::line_transport::to_bytes;

/// The time to establish a connection.
const CONNECT_TIMEOUT: Duration = Duration::from_secs(10);
/// Unused connections are closed after this time.
const IDLE_TIMEOUT: Duration = Duration::from_secs(60);
/// Larger responses are rejected.
pub(super) const MAX_RESPONSE_BYTES: usize = 64 << 20;
/// The length of the excerpt of an invalid response in error messages.
const MAX_EXCERPT_CHARS: usize = 200;

const SESSION_HEADER: HeaderName = HeaderName::from_static("mcp-session-id");
const LAST_EVENT_HEADER: HeaderName = HeaderName::from_static("last-event-id");
const JSON_TYPE: &str = "application/json";
const EVENT_STREAM_TYPE: &str = "text/event-stream";

/// The transport to a server at a URL.
pub(super) type HttpTransport = StreamableHttpClientTransport<HttpClient>;

/// An HTTP error. The text follows the name of the server.
#[derive(Debug, thiserror::Error)]
pub(super) enum HttpError {
    #[error("cannot be reached: {0}")]
    Unreachable(String),
    #[error(
        "rejected the request with status {0}; add a token to its `headers`: Authorization = \"Bearer …\""
    )]
    Refused(StatusCode),
    #[error("has moved to {0}")]
    Moved(String),
    #[error("responded with status {0}{1}")]
    Status(StatusCode, String),
    #[error("does not speak MCP: {0}")]
    Foreign(String),
}

/// An HTTP client with a pool of connections.
#[derive(Clone, Debug)]
pub(super) struct HttpClient {
    client: Client<HttpsConnector<HttpConnector>, Full<Bytes>>,
}

type HttpResult<T> = std::result::Result<T, StreamableHttpError<HttpError>>;
type Headers = HashMap<HeaderName, HeaderValue>;
type Events = Pin<Box<dyn Stream<Item = std::result::Result<Sse, SseError>> + Send>>;

/// Creates the transport. Sends nothing yet.
pub(super) fn transport(
    url: &str,
    headers: &BTreeMap<String, String>,
    environment: &Environment,
) -> std::result::Result<HttpTransport, String> {
    let parsed: Uri = url.parse().map_err(|error| format!("has an invalid URL: {error}"))?;
    let secure = match parsed.scheme_str() {
        Some("https") => true,
        Some("http") => false,
        _ => return Err("has an invalid URL: it must begin with http:// or https://".to_owned()),
    };
    let config = StreamableHttpClientTransportConfig::with_uri(url)
        .custom_headers(resolve_headers(headers, environment)?);
    Ok(StreamableHttpClientTransport::with_client(HttpClient::new(secure)?, config))
}

/// Replaces `${NAME}` in header values by environment variables.
fn resolve_headers(
    headers: &BTreeMap<String, String>,
    environment: &Environment,
) -> std::result::Result<Headers, String> {
    let mut resolved = Headers::new();
    for (name, value) in headers {
        let wrong = |why: &str| format!("has a header '{name}' that {why}");
        let value = expand_variables(value, environment)
            .map_err(|missing| wrong(&format!("needs the variable '{missing}', which is not set")))?;
        let mut value = HeaderValue::from_str(&value).map_err(|_| wrong("cannot be sent"))?;
        value.set_sensitive(true);
        resolved.insert(name.parse().map_err(|_| wrong("has no valid name"))?, value);
    }
    Ok(resolved)
}

/// Replaces `${NAME}` in a text. Fails with the name of a missing variable.
fn expand_variables(text: &str, environment: &Environment) -> std::result::Result<String, String> {
    let mut expanded = String::new();
    let mut rest = text;
    while let Some((before, after)) = rest.split_once("${") {
        let Some((name, after)) = after.split_once('}') else { break };
        let value = environment.get(name).and_then(|value| value.to_str()).ok_or_else(|| name.to_owned())?;
        expanded.push_str(before);
        expanded.push_str(value);
        rest = after;
    }
    Ok(expanded + rest)
}

impl HttpClient {
    /// Loads the certificates that the system trusts only for HTTPS, because that takes a while.
    fn new(secure: bool) -> std::result::Result<HttpClient, String> {
        let provider = rustls::crypto::ring::default_provider();
        let builder = HttpsConnectorBuilder::new();
        let builder = if secure {
            let trusted = builder.with_provider_and_native_roots(provider);
            trusted.map_err(|error| format!("cannot be reached: no trusted certificates: {error}"))?
        } else {
            let config = rustls::ClientConfig::builder_with_provider(Arc::new(provider))
                .with_safe_default_protocol_versions()
                .map_err(|error| format!("cannot be reached: {error}"))?;
            let no_roots = rustls::RootCertStore::empty();
            builder.with_tls_config(config.with_root_certificates(no_roots).with_no_client_auth())
        };
        let mut http = HttpConnector::new();
        http.enforce_http(false);
        http.set_nodelay(true);
        http.set_connect_timeout(Some(CONNECT_TIMEOUT));
        let connector = builder.https_or_http().enable_http1().wrap_connector(http);
        let client = Client::builder(TokioExecutor::new())
            .pool_timer(TokioTimer::new())
            .pool_idle_timeout(IDLE_TIMEOUT)
            .build(connector);
        Ok(HttpClient { client })
    }

    async fn send(&self, request: OutgoingRequest, body: Vec<u8>) -> HttpResult<Response<Incoming>> {
        let OutgoingRequest { method, uri, session, mut headers } = request;
        let refused = |error: http::Error| client_error(HttpError::Unreachable(error.to_string()));
        headers.extend(session.and_then(|id| Some((SESSION_HEADER, HeaderValue::from_str(&id).ok()?))));
        let mut request = Request::builder()
            .method(method)
            .uri(uri.as_ref())
            .body(Full::new(Bytes::from(body)))
            .map_err(refused)?;
        request.headers_mut().extend(headers);
        self.client
            .request(request)
            .await
            .map_err(|error| client_error(HttpError::Unreachable(root_cause(&error))))
    }
}

/// A request without its body.
struct OutgoingRequest {
    method: Method,
    uri: Arc<str>,
    session: Option<Arc<str>>,
    headers: Headers,
}

impl StreamableHttpClient for HttpClient {
    type Error = HttpError;

    async fn post_message(
        &self,
        uri: Arc<str>,
        message: ClientJsonRpcMessage,
        session: Option<Arc<str>>,
        _: Option<String>,
        mut headers: Headers,
    ) -> HttpResult<StreamableHttpPostResponse> {
        headers.insert(header::CONTENT_TYPE, HeaderValue::from_static(JSON_TYPE));
        headers.insert(header::ACCEPT, HeaderValue::from_static("application/json, text/event-stream"));
        let body = to_bytes(&message)?;
        let in_session = session.is_some();
        let response =
            self.send(OutgoingRequest { method: Method::POST, uri, session, headers }, body).await?;
        if response.status() == StatusCode::NOT_FOUND && in_session {
            return Err(StreamableHttpError::SessionExpired);
        }
        let expects_answer = matches!(message, ClientJsonRpcMessage::Request(_));
        read_response(response, expects_answer).await
    }

    async fn delete_session(
        &self,
        uri: Arc<str>,
        session: Arc<str>,
        _: Option<String>,
        headers: Headers,
    ) -> HttpResult<()> {
        let request = OutgoingRequest { method: Method::DELETE, uri, session: Some(session), headers };
        self.send(request, Vec::new()).await.map(drop)
    }

    async fn get_stream(
        &self,
        uri: Arc<str>,
        session: Option<Arc<str>>,
        last_event: Option<String>,
        _: Option<String>,
        mut headers: Headers,
    ) -> HttpResult<Events> {
        headers.insert(header::ACCEPT, HeaderValue::from_static(EVENT_STREAM_TYPE));
        headers.extend(last_event.and_then(|id| Some((LAST_EVENT_HEADER, HeaderValue::from_str(&id).ok()?))));
        let response =
            self.send(OutgoingRequest { method: Method::GET, uri, session, headers }, Vec::new()).await?;
        match response.status() {
            StatusCode::UNAUTHORIZED | StatusCode::FORBIDDEN => {
                Err(StreamableHttpError::AuthRequired(AuthRequiredError::new(String::new())))
            }
            status if status.is_success() && has_content_type(&response, EVENT_STREAM_TYPE) => {
                Ok(events(response))
            }
            _ => Err(StreamableHttpError::ServerDoesNotSupportSse),
        }
    }
}

/// Converts a response to a protocol message.
async fn read_response(
    response: Response<Incoming>,
    expected: bool,
) -> HttpResult<StreamableHttpPostResponse> {
    let status = response.status();
    let session = response.headers().get(&SESSION_HEADER).and_then(|id| id.to_str().ok()).map(str::to_owned);
    if matches!(status, StatusCode::UNAUTHORIZED | StatusCode::FORBIDDEN) {
        return Err(client_error(HttpError::Refused(status)));
    }
    if status.is_redirection() {
        let place = response.headers().get(header::LOCATION).and_then(|place| place.to_str().ok());
        return Err(client_error(HttpError::Moved(place.unwrap_or("another URL").to_owned())));
    }
    if status.is_success() && !expected {
        return Ok(StreamableHttpPostResponse::Accepted);
    }
    if status.is_success() && has_content_type(&response, EVENT_STREAM_TYPE) {
        return Ok(StreamableHttpPostResponse::Sse(events(response), session));
    }
    let body = Limited::new(response.into_body(), MAX_RESPONSE_BYTES).collect().await;
    let body = body.map_err(|error| client_error(HttpError::Unreachable(error.to_string())))?.to_bytes();
    // JSON-RPC errors may come with HTTP error statuses.
    match exact::parse_as::<ServerJsonRpcMessage>(&String::from_utf8_lossy(&body)) {
        Ok(message) => Ok(StreamableHttpPostResponse::Json(message, session)),
        Err(_) if !status.is_success() => Err(client_error(HttpError::Status(status, excerpt(&body, ": ")))),
        Err(error) => Err(client_error(HttpError::Foreign(format!("{error}{}", excerpt(&body, " in "))))),
    }
}

/// The server-sent events of a response, up to the size limit.
fn events(response: Response<Incoming>) -> Events {
    let body = Limited::new(response.into_body(), MAX_RESPONSE_BYTES);
    Box::pin(ExactEvents(SseStream::new(body.map_err(std::io::Error::other))))
}

/// Events in whose data large integers are marked.
struct ExactEvents<S>(S);

impl<S: Stream<Item = std::result::Result<Sse, SseError>> + Unpin> Stream for ExactEvents<S> {
    type Item = S::Item;

    fn poll_next(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<S::Item>> {
        Pin::new(&mut self.0).poll_next(context).map_ok(|mut event| {
            if let Some(Cow::Owned(marked)) = event.data.as_deref().map(exact::marked) {
                event.data = Some(marked);
            }
            event
        })
    }
}

fn has_content_type(response: &Response<Incoming>, kind: &str) -> bool {
    let given = response.headers().get(header::CONTENT_TYPE).map(HeaderValue::as_bytes);
    given.is_some_and(|given| given.starts_with(kind.as_bytes()))
}

fn excerpt(body: &[u8], before: &str) -> String {
    let text = String::from_utf8_lossy(body);
    let line: String =
        text.trim().lines().next().unwrap_or_default().chars().take(MAX_EXCERPT_CHARS).collect();
    if line.is_empty() { line } else { format!("{before}{line}") }
}

fn client_error(fault: HttpError) -> StreamableHttpError<HttpError> {
    StreamableHttpError::Client(fault)
}

/// The innermost cause of an error.
fn root_cause(error: &hyper_util::client::legacy::Error) -> String {
    let mut inner: &dyn std::error::Error = error;
    while let Some(source) = inner.source() {
        inner = source;
    }
    match inner.downcast_ref::<std::io::Error>() {
        Some(error) => haft_process::reason(error),
        None => inner.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn environment() -> Environment {
        let mut environment = Environment::new();
        environment.set("TOKEN", "secret").unwrap();
        environment
    }

    #[test]
    fn environment_variables_are_replaced_in_headers() {
        let cases = [
            ("plain", Ok("plain")),
            ("Bearer ${TOKEN}", Ok("Bearer secret")),
            ("${TOKEN}-${TOKEN}!", Ok("secret-secret!")),
            ("$TOKEN ${", Ok("$TOKEN ${")),
            ("x ${NOTHING}", Err("NOTHING")),
        ];
        for (text, expected) in cases {
            let expected = expected.map(str::to_owned).map_err(str::to_owned);
            assert_eq!(expand_variables(text, &environment()), expected, "{text}");
        }
    }

    #[test]
    fn invalid_headers_are_named() {
        let refused = |name: &str, value: &str| {
            let headers = BTreeMap::from([(name.to_owned(), value.to_owned())]);
            resolve_headers(&headers, &environment()).unwrap_err()
        };
        assert!(refused("X-Key", "a\nb").contains("header 'X-Key' that cannot be sent"));
        assert!(refused("no name", "x").contains("header 'no name' that has no valid name"));
        assert!(refused("X-Key", "${NOTHING}").contains("needs the variable 'NOTHING'"));
    }

    #[tokio::test]
    async fn only_http_and_https_urls_are_accepted() {
        let error = |url: &str| transport(url, &BTreeMap::new(), &environment()).err();
        assert!(error("ftp://example.org/mcp").is_some_and(|error| error.contains("http:// or https://")));
        assert!(error("example.org").is_some());
        assert!(error("http://127.0.0.1:1/mcp").is_none());
    }
}
