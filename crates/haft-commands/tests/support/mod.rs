//! Runs scripts in sessions that have the commands.

use std::fs::File;
use std::io::{Read as _, Seek as _};
use std::os::fd::OwnedFd;
use std::sync::Arc;

use haft_kernel::{Kernel, Session};

/// The result of a script.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct ScriptResult {
    pub(crate) status: i32,
    pub(crate) stdout: String,
    pub(crate) stderr: String,
}

/// A session with the commands on real files. It is not a plain shell.
pub(crate) fn session() -> Session {
    session_with(Kernel::builder().commands(haft_commands::TABLE).build())
}

/// A session of this kernel, with a standard `PATH` and empty standard input.
pub(crate) fn session_with(kernel: Arc<Kernel>) -> Session {
    let mut session = Session::new(kernel);
    let path = "/usr/local/bin:/usr/bin:/bin";
    session.import_environment([("PATH", path), ("HOME", "/")]);
    session.set_command(b"haft", Vec::new());
    let null = File::open("/dev/null").expect("/dev/null");
    session.open_descriptor(0, OwnedFd::from(null));
    session
}

/// Runs a script and captures its output.
pub(crate) fn run_in(session: Session, script: &str) -> ScriptResult {
    run_bytes_in(session, script.as_bytes())
}

/// Output as text. Bytes that are not UTF-8 are escaped.
pub(crate) fn text(bytes: &[u8]) -> String {
    let chunk =
        |chunk: std::str::Utf8Chunk<'_>| format!("{}{}", chunk.valid(), chunk.invalid().escape_ascii());
    bytes.utf8_chunks().map(chunk).collect()
}

/// The same for a script that need not be UTF-8.
pub(crate) fn run_bytes_in(mut session: Session, script: &[u8]) -> ScriptResult {
    let [mut stdout, mut stderr] = [(); 2].map(|()| tempfile::tempfile().expect("a temporary file"));
    for (number, file) in [(1, &stdout), (2, &stderr)] {
        session.open_descriptor(number, OwnedFd::from(file.try_clone().expect("a descriptor")));
    }
    let status = session.run_main(script).unwrap_or_else(haft_kernel::Unwind::status);
    let _ = session.finish();
    let text = |file: &mut File| {
        let mut output = Vec::new();
        file.rewind().and_then(|()| file.read_to_end(&mut output)).expect("the captured output");
        text(&output)
    };
    ScriptResult { status, stdout: text(&mut stdout), stderr: text(&mut stderr) }
}

/// Runs a script in a new [`session`].
pub(crate) fn run(script: &str) -> ScriptResult {
    run_in(session(), script)
}
