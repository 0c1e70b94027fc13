//! Messages as lines of JSON, as the protocol defines for standard input and output.

use std::borrow::Cow;
use std::io;
use std::sync::Arc;

use haft_tools::exact;
use rmcp::service::{RxJsonRpcMessage, ServiceRole, TxJsonRpcMessage};
use rmcp::transport::Transport;
use serde::Serialize;
use serde_json::{Value, json};
use tokio::io::{AsyncBufReadExt as _, AsyncWriteExt as _, BufReader};
use tokio::sync::Mutex;
use tokio_util::sync::CancellationToken;

use super::http::{MAX_MESSAGE_BYTES, PARSE_ERROR};
use super::stdio::{BoxedReader, BoxedWriter};

/// The JSON-RPC code for JSON that is not a request.
const INVALID_REQUEST: i32 = -32600;

/// Reads and writes messages. Integers beyond 64 bits stay exact. A server answers a line that is not a valid message
/// with an error; a client ignores it.
pub(crate) struct LineTransport {
    reader: BufReader<BoxedReader>,
    /// The beginning of the next message. It stays here if reading is interrupted.
    line: Vec<u8>,
    /// Whether the rest of a message that is too long is being skipped.
    skipping: bool,
    writer: Arc<Mutex<BoxedWriter>>,
    /// Nothing is written after this is cancelled.
    closed: CancellationToken,
    /// Longer messages are rejected.
    max_bytes: usize,
    /// Whether invalid messages are answered.
    answers: bool,
}

impl LineTransport {
    /// Creates the transport of a server, which stops writing when `closed` is cancelled.
    pub(crate) fn server(
        reader: BoxedReader,
        writer: BoxedWriter,
        closed: CancellationToken,
    ) -> LineTransport {
        LineTransport {
            reader: BufReader::new(reader),
            line: Vec::new(),
            skipping: false,
            writer: Arc::new(Mutex::new(writer)),
            closed,
            max_bytes: MAX_MESSAGE_BYTES,
            answers: true,
        }
    }

    /// Creates the transport of a client.
    pub(crate) fn client(reader: BoxedReader, writer: BoxedWriter, max_bytes: usize) -> LineTransport {
        let transport = LineTransport::server(reader, writer, CancellationToken::new());
        LineTransport { max_bytes, answers: false, ..transport }
    }

    /// Reads one line into `self.line`. Can be interrupted and called again. Returns false at the end of the input.
    async fn read_line(&mut self) -> io::Result<bool> {
        loop {
            let available = self.reader.fill_buf().await?;
            if available.is_empty() {
                return Ok(false);
            }
            let end = available.iter().position(|byte| *byte == b'\n');
            let taken = end.map_or(available.len(), |end| end + 1);
            if !self.skipping {
                self.line.extend_from_slice(&available[..taken]);
            }
            self.reader.consume(taken);
            if self.line.len() > self.max_bytes {
                self.line.clear();
                self.skipping = true;
                let message = format!("the message is longer than {} bytes", self.max_bytes);
                self.reject(&Value::Null, INVALID_REQUEST, &message).await?;
            }
            if end.is_some() && !std::mem::take(&mut self.skipping) {
                return Ok(true);
            }
        }
    }

    /// Parses the line. Answers it with an error if it is not a message.
    async fn take_message<R: ServiceRole>(&mut self) -> io::Result<Option<RxJsonRpcMessage<R>>> {
        let line = std::mem::take(&mut self.line);
        let line = line.trim_ascii();
        if line.is_empty() {
            return Ok(None);
        }
        if let Some(message) = std::str::from_utf8(line).ok().and_then(|line| exact::parse_as(line).ok()) {
            return Ok(Some(message));
        }
        match serde_json::from_slice::<Value>(line) {
            Err(error) => {
                let message = format!("invalid JSON: {error}");
                self.reject(&Value::Null, PARSE_ERROR, &message).await?;
            }
            // Unknown notifications are ignored.
            Ok(value) if value.get("method").is_some() && value.get("id").is_none() => {}
            Ok(value) => {
                let id = value.get("id").filter(|id| id.is_string() || id.is_i64() || id.is_u64());
                let id = id.cloned().unwrap_or_default();
                self.reject(&id, INVALID_REQUEST, "not a JSON-RPC 2.0 request").await?;
            }
        }
        Ok(None)
    }

    async fn reject(&mut self, id: &Value, code: i32, message: &str) -> io::Result<()> {
        if !self.answers {
            return Ok(());
        }
        let error = json!({ "code": code, "message": message });
        let answer = json!({ "jsonrpc": "2.0", "id": id, "error": error });
        write(self.writer.clone(), self.closed.clone(), answer.to_string().into_bytes()).await
    }
}

impl<R: ServiceRole> Transport<R> for LineTransport {
    type Error = io::Error;

    fn send(
        &mut self,
        message: TxJsonRpcMessage<R>,
    ) -> impl Future<Output = io::Result<()>> + Send + 'static {
        let (writer, closed) = (self.writer.clone(), self.closed.clone());
        async move { write(writer, closed, to_bytes(&message)?).await }
    }

    async fn receive(&mut self) -> Option<RxJsonRpcMessage<R>> {
        loop {
            if !self.read_line().await.ok()? {
                return None;
            }
            if let Some(message) = self.take_message::<R>().await.ok()? {
                return Some(message);
            }
        }
    }

    async fn close(&mut self) -> io::Result<()> {
        self.closed.cancel();
        Ok(())
    }
}

/// A message as JSON, with its integers beyond 64 bits.
pub(crate) fn to_bytes(message: &impl Serialize) -> serde_json::Result<Vec<u8>> {
    let text = serde_json::to_string(message)?;
    Ok(match exact::restored(&text) {
        Cow::Owned(exact) => exact.into_bytes(),
        Cow::Borrowed(_) => text.into_bytes(),
    })
}

/// Writes a line, unless the transport is closed.
async fn write(
    writer: Arc<Mutex<BoxedWriter>>,
    closed: CancellationToken,
    mut line: Vec<u8>,
) -> io::Result<()> {
    line.push(b'\n');
    let mut writer = writer.lock().await;
    if closed.is_cancelled() {
        return Err(io::ErrorKind::BrokenPipe.into());
    }
    writer.write_all(&line).await?;
    writer.flush().await
}
