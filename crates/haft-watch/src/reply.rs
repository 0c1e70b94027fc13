//! HTTP responses.

use std::convert::Infallible;
use std::pin::Pin;
use std::task::{Context, Poll};

use http::{HeaderMap, HeaderValue, Response, StatusCode, header};
use http_body_util::combinators::BoxBody;
use http_body_util::{BodyExt as _, Full};
use hyper::body::{Body, Bytes, Frame};
use serde::Serialize;
use tokio::sync::mpsc;

use crate::access::Refusal;

pub(crate) type Reply = Response<BoxBody<Bytes, Infallible>>;

/// Allows only the page's own files, and no HTML from strings.
const CONTENT_SECURITY_POLICY: &str = "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; \
     img-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'; \
     require-trusted-types-for 'script'; trusted-types 'none'";

/// An error that the page shows.
#[derive(Debug)]
pub(crate) struct RequestError {
    pub(crate) status: StatusCode,
    pub(crate) message: String,
}

impl RequestError {
    pub(crate) fn new(status: StatusCode, message: impl Into<String>) -> RequestError {
        RequestError { status, message: message.into() }
    }

    pub(crate) fn not_found(message: impl Into<String>) -> RequestError {
        RequestError::new(StatusCode::NOT_FOUND, message)
    }

    pub(crate) fn bad_request(message: impl Into<String>) -> RequestError {
        RequestError::new(StatusCode::BAD_REQUEST, message)
    }
}

impl From<Refusal> for RequestError {
    fn from(refusal: Refusal) -> RequestError {
        RequestError::new(refusal.status, refusal.message)
    }
}

impl From<std::io::Error> for RequestError {
    fn from(error: std::io::Error) -> RequestError {
        RequestError::new(StatusCode::INTERNAL_SERVER_ERROR, error.to_string())
    }
}

/// A response with a value as JSON.
pub(crate) fn json(value: &impl Serialize) -> Result<Reply, RequestError> {
    let text = serde_json::to_vec(value).map_err(std::io::Error::from)?;
    Ok(bytes("application/json", text))
}

/// A response with an error, as plain text.
pub(crate) fn error(error: RequestError) -> Reply {
    let mut reply = bytes("text/plain; charset=utf-8", error.message + "\n");
    *reply.status_mut() = error.status;
    reply
}

/// A response with bytes of a type.
pub(crate) fn bytes(content_type: &'static str, bytes: impl Into<Bytes>) -> Reply {
    with_headers(content_type, Full::new(bytes.into()).boxed())
}

/// A response whose bytes are sent as they arrive.
pub(crate) fn stream(content_type: &'static str, parts: mpsc::Receiver<Bytes>) -> Reply {
    with_headers(content_type, ChannelBody(parts).boxed())
}

fn with_headers(content_type: &'static str, body: BoxBody<Bytes, Infallible>) -> Reply {
    let mut reply = Response::new(body);
    let headers = reply.headers_mut();
    headers.insert(header::CONTENT_TYPE, HeaderValue::from_static(content_type));
    add_security(headers);
    reply
}

fn add_security(headers: &mut HeaderMap) {
    let fixed = [
        (header::CONTENT_SECURITY_POLICY, CONTENT_SECURITY_POLICY),
        (header::X_CONTENT_TYPE_OPTIONS, "nosniff"),
        (header::X_FRAME_OPTIONS, "DENY"),
        (header::REFERRER_POLICY, "no-referrer"),
        (header::CACHE_CONTROL, "no-store"),
        (header::HeaderName::from_static("cross-origin-opener-policy"), "same-origin"),
        (header::HeaderName::from_static("cross-origin-resource-policy"), "same-origin"),
    ];
    for (name, value) in fixed {
        headers.insert(name, HeaderValue::from_static(value));
    }
}

/// A body whose parts come from a channel.
struct ChannelBody(mpsc::Receiver<Bytes>);

impl Body for ChannelBody {
    type Data = Bytes;
    type Error = Infallible;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Infallible>>> {
        self.0.poll_recv(context).map(|part| part.map(|part| Ok(Frame::data(part))))
    }
}
