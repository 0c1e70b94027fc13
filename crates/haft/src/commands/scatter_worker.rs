//! `haft __scatter-worker`: runs items for a `scatter` on another machine.
//!
//! The messages are described in `haft_scale`'s protocol.

use std::io::{self, BufRead as _, Write as _};
use std::os::unix::ffi::OsStrExt as _;
use std::sync::Arc;

use haft_commands::{WorkerItems, WorkerRecords, transfer_of};
use haft_kernel::run::Run;
use haft_kernel::{Script, Session, Transfer, belongs_to_machine};
use haft_process::{DEFAULT_GRACE, Environment, Input, Streams, SupervisionOptions};
use haft_scale::{PROTOCOL, WorkerInfo, WorkerReply, WorkerRequest, WorkerSetup, encode};

use crate::commands::supervise::LEFTOVER_GRACE;
use crate::failure::Failure;
use crate::process_context::ProcessContext;
use crate::tools::SessionTools;
use crate::{host, sessions};

/// The exit status if there is no setup, or it cannot be used.
const REFUSED: i32 = 1;

/// Serves the submitter at the other end of standard input and output. Returns the exit status.
pub(crate) fn run(process: &ProcessContext) -> Result<i32, Failure> {
    send(&WorkerReply::Ready(info()))?;
    let Some(setup) = receive_setup() else { return Ok(REFUSED) };
    let transfer = transfer_of(&setup);
    match session(&setup, &transfer, process) {
        Ok(session) => serve(session, &transfer, process),
        Err(reason) => {
            send(&WorkerReply::Refused(reason))?;
            Ok(REFUSED)
        }
    }
}

fn info() -> WorkerInfo {
    WorkerInfo {
        version: env!("CARGO_PKG_VERSION").to_owned(),
        protocol: PROTOCOL,
        node: rustix::system::uname().nodename().to_string_lossy().into_owned(),
        processors: std::thread::available_parallelism().map_or(1, std::num::NonZero::get),
    }
}

fn send(reply: &WorkerReply) -> Result<(), Failure> {
    let mut output = io::stdout().lock();
    output
        .write_all(&encode(reply))
        .and_then(|()| output.flush())
        .map_err(|error| Failure::usage(format_args!("cannot write: {}", haft_process::reason(&error))))
}

/// Reads the first request. The submitter sends no second one before it has an answer, so nothing else is read.
fn receive_setup() -> Option<WorkerSetup> {
    let mut line = Vec::new();
    io::stdin().lock().read_until(b'\n', &mut line).ok()?;
    match serde_json::from_slice(&line).ok()? {
        WorkerRequest::Setup(setup) => Some(*setup),
        _ => None,
    }
}

/// The session of the submitter, with the variables of this machine.
fn session(setup: &WorkerSetup, transfer: &Transfer, process: &ProcessContext) -> Result<Session, String> {
    let tools = SessionTools::new(process, &process.permission());
    let kernel = sessions::kernel(&tools, process)
        .permission(&process.permission())
        .command(Arc::new(WorkerItems::new(setup)))
        .command(Arc::new(WorkerRecords));
    let mut environment = Environment::new();
    for (name, value) in process.environment.iter() {
        if belongs_to_machine(name.as_bytes()) {
            let _ = environment.set(name, value);
        }
    }
    let mut session = sessions::familiar(kernel, &environment, process);
    session.receive(transfer)?;
    Ok(session)
}

fn serve(session: Session, transfer: &Transfer, process: &ProcessContext) -> Result<i32, Failure> {
    let signals = host::SignalHandler::start_with(&[])?;
    let host = host::set_up(process);
    let input = rustix::io::fcntl_dupfd_cloexec(rustix::stdio::stdin(), 3)
        .map_err(|error| Failure::usage(format_args!("cannot use standard input: {error}")))?;
    let options = SupervisionOptions {
        input: Input::File(Arc::new(input)),
        streams: Streams::Inherit,
        cancel: Some(signals.cancel.clone()),
        ..SupervisionOptions::default()
    };
    let script = Run::prepared(Script::new(transfer.pipeline.padded()))
        .name(transfer.name.clone())
        .arguments(transfer.arguments.clone())
        .supervision(options);
    let (mut session, outcome) = script.start(&host, session)?.finish();
    session.end_jobs(LEFTOVER_GRACE, DEFAULT_GRACE);
    session.part();
    Ok(outcome.code())
}
