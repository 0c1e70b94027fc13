//! Detects the end of the client's messages, even while an answer waits to be read.

use std::io;
use std::pin::Pin;
use std::task::{Context, Poll, ready};
use std::time::Duration;

use tokio::io::{AsyncRead, ReadBuf};
use tokio_util::sync::CancellationToken;

use super::stdio::BoxedReader;

/// The time to read messages that the client sent before it closed its end.
const UNREAD_INPUT_TIMEOUT: Duration = Duration::from_millis(500);

/// Set when the end of the input was read.
#[derive(Clone, Debug, Default)]
pub(crate) struct EndOfInput(CancellationToken);

impl EndOfInput {
    /// Wraps a reader so that its end is recorded.
    pub(crate) fn observe(&self, reader: BoxedReader) -> BoxedReader {
        Box::pin(EndOfInputReader { reader, end: self.0.clone() })
    }

    /// Waits until the end was read, or until the client has closed its end and the time to read the rest is over.
    pub(crate) async fn reached(&self, closed: &CancellationToken) {
        tokio::select! {
            () = self.0.cancelled() => {}
            () = async { closed.cancelled().await; tokio::time::sleep(UNREAD_INPUT_TIMEOUT).await } => {}
        }
    }
}

struct EndOfInputReader {
    reader: BoxedReader,
    end: CancellationToken,
}

impl AsyncRead for EndOfInputReader {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let before = buffer.filled().len();
        let result = ready!(self.reader.as_mut().poll_read(context, buffer));
        if result.is_err() || buffer.filled().len() == before {
            self.end.cancel();
        }
        Poll::Ready(result)
    }
}
