//! The job log: one line per attempt, in the format of GNU parallel's `--joblog`.

use std::ffi::OsStr;
use std::io;
use std::os::unix::ffi::OsStrExt as _;
use std::time::SystemTime;

use haft_fs::OpenOptions;
use haft_kernel::io::OpenFile;
use haft_kernel::{Bytes, CancelToken, Session};
use haft_scale::{ItemAttempt, ItemRecord};

const HEADER: &str = "Seq\tHost\tStarttime\tJobRuntime\tSend\tReceive\tExitval\tSignal\tCommand\n";

/// An open job log.
#[derive(Debug)]
pub(super) struct JobLog {
    file: OpenFile,
    /// The first write error.
    failure: Option<String>,
    cancel: CancelToken,
}

impl JobLog {
    /// Creates or truncates the file and writes the header.
    pub(super) fn open(session: &Session, path: &[u8]) -> io::Result<Self> {
        let path = session.resolve(path);
        let options = OpenOptions::new().write(true).create(true).truncate(true);
        let file = OpenFile::opened(session.files().open(OsStr::from_bytes(&path).as_ref(), &options)?);
        let log = Self { file, failure: None, cancel: session.cancel_token().clone() };
        log.write(HEADER)?;
        Ok(log)
    }

    /// Writes the line of a finished attempt. A write error is kept for [`failure`](Self::failure).
    pub(super) fn record(
        &mut self,
        variable: &Bytes,
        attempt: &ItemAttempt,
        result: &ItemRecord,
        command: &Bytes,
    ) {
        let started = result.started.duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default().as_secs_f64();
        let item = haft_text::quote::single(&attempt.item);
        let line = format!(
            "{}\t{}\t{started:.3}\t{:.3}\t{}\t{}\t{}\t0\t{variable}={} {}\n",
            attempt.index + 1,
            result.node.as_deref().unwrap_or(":"),
            result.duration.as_secs_f64(),
            attempt.item.len() + 1,
            result.stdout.len(),
            result.status,
            String::from_utf8_lossy(&item).replace(['\n', '\t'], " "),
            command.lossy().replace(['\n', '\t'], " "),
        );
        if let Err(error) = self.write(&line) {
            self.failure.get_or_insert_with(|| haft_fs::message(&error).to_string());
        }
    }

    /// The first write error, if any.
    pub(super) fn failure(&self) -> Option<&str> {
        self.failure.as_deref()
    }

    fn write(&self, text: &str) -> io::Result<()> {
        self.file.write(text.as_bytes(), Some(&self.cancel))?;
        self.file.flush(Some(&self.cancel)).map(drop)
    }
}
