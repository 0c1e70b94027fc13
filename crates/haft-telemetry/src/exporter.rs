//! Sends spans to a collector, on a thread of its own.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender, TrySendError, channel, sync_channel};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};
use std::time::{Duration, Instant};

use http::{HeaderMap, HeaderName, HeaderValue, Request, Uri, header};
use http_body_util::{BodyExt as _, Full, Limited};
use hyper::body::Bytes;
use hyper_rustls::{HttpsConnector, HttpsConnectorBuilder};
use hyper_util::client::legacy::Client;
use hyper_util::client::legacy::connect::HttpConnector;
use hyper_util::rt::TokioExecutor;

use crate::{Attribute, Span, export_request};

/// Spans that wait to be sent. Further ones are dropped and counted.
const MAX_WAITING_SPANS: usize = 4096;
/// The most spans of one request.
const MAX_BATCH_SPANS: usize = 512;
/// A span is sent at most this long after its end.
const BATCH_INTERVAL: Duration = Duration::from_secs(1);
/// The most bytes of an answer.
const MAX_ANSWER_BYTES: usize = 64 << 10;

type HttpClient = Client<HttpsConnector<HttpConnector>, Full<Bytes>>;

/// Where spans are sent.
#[derive(Clone, Debug)]
pub struct CollectorSettings {
    /// The URL for traces.
    pub url: String,
    /// Names and values of additional headers, for example with a key.
    pub headers: Vec<(String, String)>,
    /// The longest time for a request.
    pub timeout: Duration,
    /// Attributes of this process.
    pub resource: Vec<Attribute>,
    /// The version of the application.
    pub version: String,
}

/// The URL and the headers of a request.
#[derive(Clone, Debug)]
struct RequestTarget {
    url: Uri,
    headers: HeaderMap,
}

impl RequestTarget {
    fn new(settings: &CollectorSettings) -> Result<RequestTarget, String> {
        let shown = &settings.url;
        let url: Uri = shown.parse().map_err(|error| format!("invalid endpoint '{shown}': {error}"))?;
        if !matches!(url.scheme_str(), Some("http" | "https")) || url.host().is_none() {
            return Err(format!("invalid endpoint '{shown}': it must begin with http:// or https://"));
        }
        let mut headers = HeaderMap::new();
        for (name, value) in &settings.headers {
            let parsed: HeaderName =
                name.parse().map_err(|_| format!("invalid name of a header: '{name}'"))?;
            let mut value =
                HeaderValue::from_str(value).map_err(|_| format!("header '{name}' cannot be sent"))?;
            value.set_sensitive(true);
            headers.insert(parsed, value);
        }
        Ok(RequestTarget { url, headers })
    }
}

/// Sends spans to a collector. Threads may share it. The thread that sends starts with the first span.
#[derive(Debug)]
pub struct SpanExporter {
    settings: CollectorSettings,
    target: RequestTarget,
    sender: OnceLock<Option<SyncSender<ExporterMessage>>>,
    shared: Arc<ExporterState>,
}

#[derive(Debug, Default)]
struct ExporterState {
    /// Spans that were dropped or not accepted.
    lost: AtomicU64,
    failure: Mutex<Option<String>>,
}

enum ExporterMessage {
    Export(Box<Span>),
    /// Sends what waits, then answers.
    Flush(std::sync::mpsc::Sender<()>),
}

impl SpanExporter {
    /// Makes an exporter. Sends nothing yet.
    ///
    /// # Errors
    /// If the URL or a header is invalid.
    pub fn new(settings: CollectorSettings) -> Result<SpanExporter, String> {
        let target = RequestTarget::new(&settings)?;
        Ok(SpanExporter { settings, target, sender: OnceLock::new(), shared: Arc::default() })
    }

    /// Sends a span soon. Does not wait.
    pub fn export(&self, span: Span) {
        let sent = self.sender().map(|sender| sender.try_send(ExporterMessage::Export(Box::new(span))));
        if !matches!(sent, Some(Ok(()))) {
            self.shared.lost.fetch_add(1, Ordering::Relaxed);
        }
    }

    /// Waits until all spans are sent, up to the time for a request.
    pub fn flush(&self) {
        let Some(Some(sender)) = self.sender.get() else { return };
        let end = Instant::now() + self.settings.timeout;
        let (done, flushed) = channel();
        let mut message = ExporterMessage::Flush(done);
        while let Err(TrySendError::Full(again)) = sender.try_send(message) {
            if Instant::now() >= end {
                return;
            }
            std::thread::sleep(Duration::from_millis(1));
            message = again;
        }
        if flushed.recv_timeout(end.saturating_duration_since(Instant::now())).is_err() {
            self.shared.fail(0, "the collector did not answer in time".to_owned());
        }
    }

    /// Returns the number of lost spans and the reason, if spans were lost.
    #[must_use]
    pub fn failure(&self) -> Option<(u64, String)> {
        let reason = self.shared.failure.lock().unwrap_or_else(PoisonError::into_inner).clone();
        let lost = self.shared.lost.load(Ordering::Relaxed);
        let reason = reason.or_else(|| (lost > 0).then(|| "there were too many at once".to_owned()))?;
        Some((lost, reason))
    }

    fn sender(&self) -> Option<&SyncSender<ExporterMessage>> {
        let start = || {
            let (sender, messages) = sync_channel(MAX_WAITING_SPANS);
            let (settings, target) = (self.settings.clone(), self.target.clone());
            let shared = self.shared.clone();
            let work = move || serve(&settings, &target, &messages, &shared);
            std::thread::Builder::new().name("telemetry".to_owned()).spawn(work).ok().map(|_| sender)
        };
        self.sender.get_or_init(start).as_ref()
    }
}

impl ExporterState {
    fn fail(&self, lost: u64, reason: String) {
        self.lost.fetch_add(lost, Ordering::Relaxed);
        *self.failure.lock().unwrap_or_else(PoisonError::into_inner) = Some(reason);
    }
}

/// Sends batches until the exporter is dropped.
fn serve(
    settings: &CollectorSettings,
    target: &RequestTarget,
    messages: &Receiver<ExporterMessage>,
    shared: &ExporterState,
) {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
    let connected =
        runtime.map_err(|error| error.to_string()).and_then(|runtime| Ok((runtime, client(target)?)));
    let mut batch = Vec::new();
    let send_batch = |batch: &mut Vec<Span>| {
        if batch.is_empty() {
            return;
        }
        let sent = connected.as_ref().map_err(Clone::clone).and_then(|(runtime, client)| {
            let body = export_request(&settings.resource, &settings.version, batch).to_string();
            runtime.block_on(within(settings.timeout, send(client, target, body)))
        });
        if let Err(reason) = sent {
            shared.fail(batch.len() as u64, reason);
        }
        batch.clear();
    };
    let mut due = None;
    loop {
        let wait = due.map_or(BATCH_INTERVAL, |due: Instant| due.saturating_duration_since(Instant::now()));
        match messages.recv_timeout(wait) {
            Ok(ExporterMessage::Export(span)) => {
                batch.push(*span);
                due.get_or_insert_with(|| Instant::now() + BATCH_INTERVAL);
                if batch.len() < MAX_BATCH_SPANS {
                    continue;
                }
                send_batch(&mut batch);
            }
            Ok(ExporterMessage::Flush(done)) => {
                send_batch(&mut batch);
                let _ = done.send(());
            }
            Err(RecvTimeoutError::Timeout) => send_batch(&mut batch),
            Err(RecvTimeoutError::Disconnected) => return send_batch(&mut batch),
        }
        due = None;
    }
}

async fn within(limit: Duration, request: impl Future<Output = Result<(), String>>) -> Result<(), String> {
    let late = |_| "the collector did not answer in time".to_owned();
    tokio::time::timeout(limit, request).await.map_err(late)?
}

/// Loads the certificates that the system trusts only for HTTPS, because that takes a while.
fn client(target: &RequestTarget) -> Result<HttpClient, String> {
    let provider = rustls::crypto::ring::default_provider();
    let builder = HttpsConnectorBuilder::new();
    let builder = if target.url.scheme_str() == Some("https") {
        builder.with_provider_and_native_roots(provider).map_err(|error| error.to_string())?
    } else {
        let config = rustls::ClientConfig::builder_with_provider(Arc::new(provider))
            .with_safe_default_protocol_versions()
            .map_err(|error| error.to_string())?;
        builder.with_tls_config(
            config.with_root_certificates(rustls::RootCertStore::empty()).with_no_client_auth(),
        )
    };
    let mut http = HttpConnector::new();
    http.enforce_http(false);
    http.set_nodelay(true);
    let connector = builder.https_or_http().enable_http1().wrap_connector(http);
    Ok(Client::builder(TokioExecutor::new()).build(connector))
}

async fn send(client: &HttpClient, target: &RequestTarget, body: String) -> Result<(), String> {
    let mut request = Request::post(target.url.clone())
        .header(header::CONTENT_TYPE, "application/json")
        .body(Full::new(Bytes::from(body)))
        .map_err(|error| error.to_string())?;
    request.headers_mut().extend(target.headers.clone());
    let reply = client.request(request).await.map_err(|error| root_cause(&error))?;
    let status = reply.status();
    // Read, so that the connection can be used again.
    let _ = Limited::new(reply.into_body(), MAX_ANSWER_BYTES).collect().await;
    if status.is_success() { Ok(()) } else { Err(format!("the collector answered with status {status}")) }
}

fn root_cause(error: &dyn std::error::Error) -> String {
    let mut cause = error;
    while let Some(next) = cause.source() {
        cause = next;
    }
    cause.to_string()
}
