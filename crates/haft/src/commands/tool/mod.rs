//! `haft tool`: list, call, check and create tools.

pub(crate) mod arguments;
pub(crate) mod batch;
mod call;
pub(crate) mod check;
pub(crate) mod list;
pub(crate) mod new;
mod show;

use std::time::Duration;

use haft_records::{OutputReference, RunEnd, RunKind, RunStart};
use haft_tools::{CallOptions, Envelope, Registry, TruncatedOutput};
use serde_json::Value;

pub(crate) use arguments::LIST_WAIT;
pub(crate) use list::{omitted, table};
pub(crate) use show::text as describe;

use self::arguments::{ToolArguments, ToolSubcommand};
use crate::failure::{Failure, print_message};
use crate::host::{self, SignalHandler};
use crate::process_context::ProcessContext;
use crate::records::{self, Recorder, RunRecord};
use crate::tools::{self, ToolSettings};

/// Runs a subcommand of `haft tool`.
pub(crate) fn run(
    tool: ToolArguments,
    recorder: &Recorder,
    process: &ProcessContext,
) -> Result<i32, Failure> {
    match tool.command {
        ToolSubcommand::List(arguments) => list::run(&ToolRuntime::new(process)?, &arguments),
        ToolSubcommand::Refresh(arguments) => {
            let runtime = ToolRuntime::new(process)?;
            runtime.registry.forget_remembered();
            list::run(&runtime, &arguments)
        }
        ToolSubcommand::Show { name, json } => show::run(&ToolRuntime::new(process)?, &name, json),
        ToolSubcommand::Call(arguments) => call::run(arguments, recorder, process),
        ToolSubcommand::Batch(arguments) => batch::run(&arguments, recorder, process),
        ToolSubcommand::Check { file, json } => check::run(&file, json, process),
        ToolSubcommand::New(arguments) => new::run(&arguments, process),
    }
}

/// A record of a call that begins now.
fn start_record(recorder: &Recorder, tool: &str, arguments: Option<Value>) -> RunRecord {
    let start = RunStart { tool: Some(tool.to_owned()), arguments, ..records::start_of(RunKind::Tool) };
    let record = recorder.prepare(start, None);
    record.begin(None);
    record
}

/// Records the result of a call.
fn end_record(record: &RunRecord, envelope: &Envelope) {
    let output = |output: &TruncatedOutput| OutputReference {
        stream: output.stream.to_owned(),
        id: output.id.clone(),
        bytes: output.total_bytes,
    };
    record.end(|| RunEnd {
        code: envelope.exit_status(),
        error: envelope.outcome.as_ref().err().map(|error| error.message.clone()),
        outputs: envelope.truncated.iter().map(output).collect(),
        ..RunEnd::default()
    });
}

/// The registry, signal handler and settings that the subcommands share.
struct ToolRuntime {
    registry: Registry,
    signals: SignalHandler,
    settings: ToolSettings,
}

impl ToolRuntime {
    fn new(process: &ProcessContext) -> Result<ToolRuntime, Failure> {
        let settings = ToolSettings::read(process)?;
        let signals = SignalHandler::start()?;
        let host = host::set_up(process);
        host.warnings().iter().for_each(print_message);
        let registry = tools::open(process, host, &settings, signals.cancel.clone());
        Ok(ToolRuntime { registry, signals, settings })
    }

    /// The options of calls, from the command line. A signal cancels them.
    fn call_options(&self, timeout: Option<Duration>, toolset: Option<&str>) -> Result<CallOptions, Failure> {
        Ok(CallOptions {
            timeout,
            cancel: Some(self.signals.cancel.clone()),
            toolset: toolset.map(|name| self.settings.toolset(name)).transpose()?,
            ..CallOptions::default()
        })
    }
}
