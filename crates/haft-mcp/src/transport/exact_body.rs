//! Bodies of HTTP responses in which integers beyond 64 bits are as exact as the caller wrote them.

use std::borrow::Cow;
use std::convert::Infallible;
use std::pin::Pin;
use std::task::{Context, Poll, ready};

use haft_tools::exact;
use http::header;
use http_body_util::combinators::BoxBody;
use http_body_util::{BodyExt as _, Full};
use hyper::body::{Body, Bytes, Frame};

use super::http::HttpResponse;

/// Restores large integers in a body: at once in JSON, and line by line in a stream of events.
pub(super) async fn restore(response: HttpResponse) -> HttpResponse {
    let (parts, body) = response.into_parts();
    let kind = parts.headers.get(header::CONTENT_TYPE).map(header::HeaderValue::as_bytes);
    if kind.is_some_and(|kind| kind.starts_with(b"text/event-stream")) {
        let body = ExactLines { body, incomplete: Vec::new() };
        return HttpResponse::from_parts(parts, body.boxed());
    }
    match body.collect().await {
        Ok(body) => HttpResponse::from_parts(parts, Full::new(restored(body.to_bytes())).boxed()),
        Err(never) => match never {},
    }
}

/// The bytes with their large integers. Bytes without one are returned as they are.
fn restored(bytes: Bytes) -> Bytes {
    match std::str::from_utf8(&bytes).map(exact::restored) {
        Ok(Cow::Owned(exact)) => exact.into(),
        _ => bytes,
    }
}

/// A stream of lines.
struct ExactLines {
    body: BoxBody<Bytes, Infallible>,
    /// The beginning of a line whose end has not arrived.
    incomplete: Vec<u8>,
}

impl ExactLines {
    /// The complete lines up to the end of these bytes. At the end of the stream, also the incomplete one.
    fn lines(&mut self, bytes: &[u8], is_end: bool) -> Option<Bytes> {
        self.incomplete.extend_from_slice(bytes);
        let end = self.incomplete.iter().rposition(|byte| *byte == b'\n').map_or(0, |place| place + 1);
        let rest = self.incomplete.split_off(if is_end { self.incomplete.len() } else { end });
        let lines = std::mem::replace(&mut self.incomplete, rest);
        (!lines.is_empty()).then(|| restored(lines.into()))
    }
}

impl Body for ExactLines {
    type Data = Bytes;
    type Error = Infallible;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Infallible>>> {
        loop {
            let lines = match ready!(Pin::new(&mut self.body).poll_frame(context)) {
                None => return Poll::Ready(self.lines(b"", true).map(|lines| Ok(Frame::data(lines)))),
                Some(Err(never)) => match never {},
                Some(Ok(frame)) => match frame.into_data() {
                    Ok(bytes) => self.lines(&bytes, false),
                    Err(trailers) => return Poll::Ready(Some(Ok(trailers))),
                },
            };
            if let Some(lines) = lines {
                return Poll::Ready(Some(Ok(Frame::data(lines))));
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_restored_wherever_they_are_cut() {
        let text = r#"data: {"id":123456789012345678901234567890}"#;
        let marked = format!("{}\n\ndata: {{}}", exact::marked(text));
        for cut in 0..=marked.len() {
            let mut lines = ExactLines { body: BoxBody::default(), incomplete: Vec::new() };
            let parts = [
                lines.lines(&marked.as_bytes()[..cut], false),
                lines.lines(&marked.as_bytes()[cut..], false),
                lines.lines(b"", true),
            ];
            let all = parts.into_iter().flatten().collect::<Vec<_>>().concat();
            assert_eq!(String::from_utf8(all).unwrap(), format!("{text}\n\ndata: {{}}"), "{cut}");
        }
    }
}
