//! `haft launch --supervised`: run the agent as a child with a deadline and a transcript.

use std::fs::{self, DirBuilder, File, OpenOptions};
use std::io::Write as _;
use std::os::unix::fs::{DirBuilderExt as _, OpenOptionsExt as _};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use haft_process::{
    Input, Job, JobOutcome, OutputCallback, Redactor, ScopeLimits, Streams, Task, Tracing, protect_process,
    reason,
};
use rustix::stdio::{stdin, stdout};
use rustix::termios::isatty;
use schemars::JsonSchema;
use serde::Serialize;

use super::arguments::LaunchOptions;
use super::become_agent::{command, write_files};
use super::prepare::PreparedLaunch;
use super::summary;
use crate::commands::changes;
use crate::commands::changes::overlay::AtEnd;
use crate::commands::changes::report::RunOverlayReport;
use crate::commands::print::print_json;
use crate::commands::supervise::{LEFTOVER_GRACE, OutputPrinter, print_survivors, terminal};
use crate::commands::{output, program};
use crate::failure::{Failure, print_message};
use crate::host;
use crate::process_context::ProcessContext;
use crate::records::{self, RunRecord};

/// The number of transcripts kept in the default directory.
const MAX_TRANSCRIPTS: usize = 50;

/// The result of a supervised agent.
#[derive(JsonSchema, Serialize)]
pub(crate) struct SupervisedReport<'a> {
    #[serde(flatten)]
    report: haft_process::JobOutcomeReport,
    agent: &'a str,
    /// The file with everything that the agent wrote; null if it could not be created.
    transcript: Option<&'a Path>,
    /// With '--overlay': what the agent changed.
    #[serde(skip_serializing_if = "Option::is_none")]
    overlay: Option<RunOverlayReport>,
}

/// Runs the agent to its end. Returns its exit status.
pub(super) fn run(
    mut prepared: PreparedLaunch,
    options: &LaunchOptions,
    record: &RunRecord,
    process: &ProcessContext,
) -> Result<i32, Failure> {
    let mut command = command(&prepared, process)?;
    let mut overlay =
        options.overlay.is_wanted().then(|| options.overlay.create(process, None)).transpose()?;
    if let Some(overlay) = &mut overlay {
        command.namespaces(overlay.namespaces()?);
        if let Some(directory) = process.working_directory.clone() {
            command.working_directory(directory);
        }
    }
    command.parent_death_signal(haft_process::Signals::KILL);
    if !options.close_descriptors {
        program::pass_inherited_descriptors(&mut command);
    }
    let (path, transcript) = open_transcript(&prepared, options)?.unzip();
    write_files(&mut prepared)?;
    summary::show(&prepared, false);
    protect_process(Tracing::Allowed)?;
    let signals = host::SignalHandler::start()?;
    let disk = options.overlay.watch(overlay.as_mut())?;
    let host = host::set_up(process);
    let terminal = isatty(stdin()) && isatty(stdout()) && prepared.plan.stdin.is_none();
    let mut task = Task::new(command).input(input(&prepared, terminal)?).cancel(&signals.cancel);
    if terminal {
        task = task.streams(Streams::Terminal(terminal::own_size().unwrap_or_default()));
    }
    if let Some(timeout) = options.timeout {
        task = task.timeout(timeout);
    }
    if let Some(disk) = disk {
        let limits = ScopeLimits { disk: Some(disk.bytes), ..ScopeLimits::default() };
        task = task.scope_limits(limits).disk_meter(disk.meter);
    }
    let shown = OutputPrinter::new(None, options.timeout, &signals.cancel);
    let task = task.on_output(live(transcript, shown.clone(), options.json && !terminal));
    let raw = terminal::RawMode::enter(terminal);
    let outcome = task.start(&host).map(|job| {
        record.begin_as(Some(&job.controller()), None);
        wait(job, terminal, &signals, process)
    });
    drop(raw);
    shown.finish();
    drop(prepared.files);
    let at_end = if options.json { AtEnd::Report } else { AtEnd::Ask };
    let changes = overlay.map(|overlay| changes::overlay::finish(overlay, at_end, process)).transpose();
    let (outcome, changes) = (outcome?, changes?);
    record.add_decisions(process);
    record.end_program(&outcome, changes.as_ref().map(records::overlay_changes));
    let redactor = Redactor::new(process.environment.iter());
    if record.is_recorded() {
        output::keep(&outcome.captured, &redactor.text(&prepared.agent), None, process);
    }
    let status = report(&outcome, path.as_deref(), options, &prepared.agent, (changes, &redactor));
    Ok(status)
}

fn wait(job: Job, terminal: bool, signals: &host::SignalHandler, process: &ProcessContext) -> JobOutcome {
    if terminal {
        let controller = job.controller();
        signals.on_resize(move || controller.resize(terminal::own_size().unwrap_or_default()));
    }
    let mut outcome = job.wait();
    outcome.working_directory = outcome.working_directory.or_else(|| process.directory_or_link());
    if let Some(left) = outcome.adopted.take() {
        left.wait_for(LEFTOVER_GRACE);
        left.controller().set_grace(LEFTOVER_GRACE);
        if let Some(end) = left.end() {
            outcome.tree.add_leftovers(&end.tree);
        }
    }
    outcome
}

/// Copies the agent's output to the transcript and to the terminal.
fn live(mut transcript: Option<File>, shown: OutputPrinter, silent: bool) -> OutputCallback {
    OutputCallback::new(move |kind, bytes| {
        if let Some(Err(error)) = transcript.as_mut().map(|file| file.write_all(bytes)) {
            transcript = None;
            print_message(format_args!("the transcript is incomplete: {}", reason(&error)));
        }
        if !silent {
            shown.take(kind, bytes);
        }
    })
}

fn input(prepared: &PreparedLaunch, terminal: bool) -> Result<Input, Failure> {
    if let Some(prompt) = &prepared.plan.stdin {
        return Ok(Input::Bytes(Arc::from(prompt.as_slice())));
    }
    let own = rustix::io::fcntl_dupfd_cloexec(stdin(), 3);
    let own = own.map_err(|error| Failure::usage(format!("no standard input: {}", reason(&error.into()))))?;
    Ok(if terminal { Input::Forward(Arc::new(own)) } else { Input::File(Arc::new(own)) })
}

/// Opens the transcript: the given file, or a new one in the default directory. Without a directory that can be written,
/// there is no transcript.
fn open_transcript(
    prepared: &PreparedLaunch,
    options: &LaunchOptions,
) -> Result<Option<(PathBuf, File)>, Failure> {
    let default = || Some(transcript_in(&prepared.state.as_ref()?.join("transcripts"), &prepared.agent));
    let Some(path) = options.transcript.clone().or_else(default) else {
        print_message("no transcript: no state directory for it; name a file with --transcript");
        return Ok(None);
    };
    match OpenOptions::new().write(true).create(true).truncate(true).mode(0o600).open(&path) {
        Ok(file) => Ok(Some((path, file))),
        Err(error) => {
            let message = format!("cannot write transcript '{}': {}", path.display(), reason(&error));
            if options.transcript.is_some() {
                return Err(Failure::usage(message));
            }
            print_message(message);
            Ok(None)
        }
    }
}

/// A new path in the directory of transcripts. Removes the oldest ones.
fn transcript_in(directory: &Path, agent: &str) -> PathBuf {
    let _ = DirBuilder::new().recursive(true).mode(0o700).create(directory);
    let entries = fs::read_dir(directory).into_iter().flatten().flatten();
    let mut names: Vec<PathBuf> = entries.map(|entry| entry.path()).collect();
    names.sort();
    let excess = (names.len() + 1).saturating_sub(MAX_TRANSCRIPTS);
    names.iter().take(excess).for_each(|old| drop(fs::remove_file(old)));
    let plain = |letter: char| if letter.is_alphanumeric() { letter } else { '-' };
    let agent: String = agent.chars().map(plain).collect();
    let time = jiff::Timestamp::now().strftime("%Y%m%dT%H%M%S%.6fZ").to_string();
    directory.join(format!("{time}-{agent}-{}.log", std::process::id()))
}

fn report(
    outcome: &JobOutcome,
    transcript: Option<&Path>,
    options: &LaunchOptions,
    agent: &str,
    (overlay, redactor): (Option<RunOverlayReport>, &Redactor),
) -> i32 {
    let status = outcome.code();
    if options.json {
        let mut report = outcome.report(1 << 20);
        report.redact(redactor);
        return print_json(&SupervisedReport { report, agent, transcript, overlay }, status);
    }
    if let Some(timeout) = options.timeout.filter(|_| outcome.timed_out) {
        print_message(format_args!("agent '{agent}' timed out after {timeout:?}"));
    }
    outcome.limits.messages().iter().for_each(print_message);
    print_survivors(&outcome.tree.survivors);
    if let Some(path) = transcript {
        print_message(format_args!("transcript: {}", path.display()));
    }
    status
}
