//! The job log: one line for each attempt, in the form that GNU parallel writes.

use std::ffi::OsStr;
use std::io;
use std::os::unix::ffi::OsStrExt as _;
use std::time::SystemTime;

use haft_fs::OpenOptions;
use haft_kernel::io::OpenFile;
use haft_kernel::{Bytes, CancelToken, Session};

use super::item_result::ItemResult;
use super::schedule::ItemAttempt;

const HEADING: &str = "Seq\tHost\tStarttime\tJobRuntime\tSend\tReceive\tExitval\tSignal\tCommand\n";

#[derive(Debug)]
pub(super) struct JobLog {
    file: OpenFile,
    failure: Option<String>,
    cancel: CancelToken,
}

impl JobLog {
    pub(super) fn open(session: &Session, path: &[u8]) -> io::Result<Self> {
        let path = session.resolve(path);
        let options = OpenOptions::new().write(true).create(true).truncate(true);
        let file = OpenFile::opened(session.files().open(OsStr::from_bytes(&path).as_ref(), &options)?);
        let cancel = session.cancel_token().clone();
        file.write(HEADING.as_bytes(), Some(&cancel))?;
        file.flush(Some(&cancel))?;
        Ok(Self { file, failure: None, cancel })
    }

    /// Notes an attempt that has ended. What goes wrong is told once, at the end.
    pub(super) fn note(
        &mut self,
        variable: &Bytes,
        attempt: &ItemAttempt<Bytes>,
        end: &ItemResult,
        command: &Bytes,
    ) {
        let started = end.started.duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default().as_secs_f64();
        let item = haft_kernel::quote::single(&attempt.item);
        let line = format!(
            "{}\t:\t{started:.3}\t{:.3}\t{}\t{}\t{}\t0\t{variable}={} {}\n",
            attempt.index + 1,
            end.duration.as_secs_f64(),
            attempt.item.len() + 1,
            end.stdout.len(),
            end.status,
            String::from_utf8_lossy(&item).replace(['\n', '\t'], " "),
            command.lossy().replace(['\n', '\t'], " "),
        );
        let written = self
            .file
            .write(line.as_bytes(), Some(&self.cancel))
            .and_then(|_| self.file.flush(Some(&self.cancel)));
        if let Err(error) = written {
            self.failure.get_or_insert_with(|| haft_fs::message(&error).to_string());
        }
    }

    pub(super) fn failure(&self) -> Option<&str> {
        self.failure.as_deref()
    }
}
