//! The tools of a server, remembered for later processes.
//!
//! A list is valid for an hour, and as long as neither the server's configuration nor its program or script has changed. The first call compares it with the server's own list.

use std::fs;
use std::os::unix::fs::{DirBuilderExt as _, MetadataExt as _};
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use haft_config::trust::ContentHash;
use haft_config::{FileRules, MAX_STATE_BYTES, Owners, replace_file};
use haft_process::find_program;
use haft_tools::exact;
use rmcp::model::Tool;

use super::{RemoteServer, RemoteSetup, RemoteTransport};
use crate::transport::line_transport::to_bytes;

/// How long a list is valid.
const MAX_AGE: Duration = Duration::from_secs(3600);
/// How long the list of a server that is no longer configured is kept.
const MAX_UNUSED: Duration = Duration::from_secs(7 * 24 * 3600);

/// The remembered tools of one server.
#[derive(Clone, Debug)]
pub(super) struct ToolCache {
    /// The file; `None` if nothing is remembered.
    path: Option<PathBuf>,
}

impl ToolCache {
    pub(super) fn new(server: &RemoteServer, setup: &RemoteSetup) -> ToolCache {
        let key = ContentHash::of(identity(server, setup).as_bytes());
        let path = setup.cache.as_ref().map(|cache| cache.join("mcp").join(format!("{}.json", key.as_str())));
        ToolCache { path }
    }

    /// The remembered tools, if they are still valid.
    pub(super) fn read(&self) -> Option<Vec<Tool>> {
        let path = self.path.as_ref()?;
        if age(path)? > MAX_AGE {
            return None;
        }
        let bytes = FileRules::up_to(MAX_STATE_BYTES).owned_by(&Owners::of_process()).read(path).ok()?;
        exact::parse_as(std::str::from_utf8(&bytes).ok()?).ok()
    }

    /// Remembers the tools. Without success, the next process asks the server.
    pub(super) fn write(&self, tools: &[Tool]) {
        let Some((path, directory)) = self.path.as_ref().and_then(|path| Some((path, path.parent()?))) else {
            return;
        };
        let made = fs::DirBuilder::new().recursive(true).mode(0o700).create(directory);
        if let (Ok(()), Ok(text)) = (made, to_bytes(&tools)) {
            let _ = replace_file(path, &text);
        }
        for entry in fs::read_dir(directory).into_iter().flatten().flatten() {
            if age(&entry.path()).is_some_and(|age| age > MAX_UNUSED) {
                let _ = fs::remove_file(entry.path());
            }
        }
    }
}

/// Returns true if both lists describe the same tools.
pub(super) fn is_same(one: &[Tool], other: &[Tool]) -> bool {
    serde_json::to_value(one).ok() == serde_json::to_value(other).ok()
}

fn age(path: &Path) -> Option<Duration> {
    SystemTime::now().duration_since(fs::metadata(path).ok()?.modified().ok()?).ok()
}

/// Everything that decides which tools a server has: its configuration, its program, and the first file that its command
/// names, which may be a script.
fn identity(server: &RemoteServer, setup: &RemoteSetup) -> String {
    let RemoteTransport::Command { command, .. } = &server.transport else {
        return format!("{}\n{:?}", server.name, server.transport);
    };
    let program = command.first().and_then(|program| {
        find_program(program.as_ref(), setup.environment.get("PATH"), Some(&setup.directory)).ok()
    });
    // A later file may be a log or a database, which changes with every run.
    let script = command.iter().skip(1).map(PathBuf::from).find(|file| setup.directory.join(file).is_file());
    let files = script.into_iter().chain(program).map(|file| setup.directory.join(file));
    let stamps = files.map(|file| {
        fs::metadata(file).map(|found| (found.ino(), found.len(), found.mtime(), found.mtime_nsec())).ok()
    });
    format!(
        "{}\n{:?}\n{:?}\n{:?}",
        server.name,
        server.transport,
        setup.directory,
        stamps.collect::<Vec<_>>()
    )
}
