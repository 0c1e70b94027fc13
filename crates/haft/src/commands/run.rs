//! `haft run`: run a script under supervision.

use std::ffi::OsString;
use std::os::unix::ffi::{OsStrExt as _, OsStringExt as _};
use std::path::Path;
use std::sync::Arc;

use clap::Args;
use haft_commands::with_gnu_commands;
use haft_fs::FileSystem;
use haft_kernel::run::{Outcome, Report, Run, Status};
use haft_kernel::{Bytes, Script, Session};
use haft_lang::ast::LineIndex;
use haft_lang::check::Diagnostic;
use haft_overlay::Overlay;
use haft_process::{DEFAULT_GRACE, Redactor, Signals, StartPermission, Tracing, protect_process};
use haft_records::{RunKind, RunStart};
use schemars::JsonSchema;
use serde::Serialize;

use crate::commands::changes::overlay::{self, AtEnd, OverlayOptions};
use crate::commands::changes::report::RunOverlayReport;
use crate::commands::confinement::ConfinementOptions;
use crate::commands::options::{EnvironmentOptions, ScriptArguments, SupervisionArguments};
use crate::commands::print::print_json;
use crate::commands::script::{self, ScriptText};
use crate::commands::supervise::{Ending, LEFTOVER_GRACE, OutputPrinter, terminal};
use crate::commands::{output, program};
use crate::enforcement::{ActivePolicy, EnforcementReport, PolicyOptions};
use crate::failure::{Failure, print_hint, print_message};
use crate::json::ErrorReport;
use crate::process_context::ProcessContext;
use crate::records::{self, Recorder, RunRecord};
use crate::tools::SessionTools;
use crate::units::count;
use crate::{host, sessions};

/// The error of every program with `--no-external`.
const NO_EXTERNAL: &str = "external commands are switched off by '--no-external'";

/// The errors of every program in a confined run.
const BY_ISOLATED: &str = "external commands are switched off by '--isolated'";
const BY_ROOT: &str = "external commands are switched off by '--root'";

/// A longer script is parsed while it runs, since no deadline bounds parsing before.
const MAX_CHECKED_BYTES: usize = 2 << 20;

const EXAMPLES: &str = "Examples:
  haft run --timeout 2m build.sh release           # a file with its arguments
  haft run -c 'make 2>&1 | tail -n 20'             # a script given as text
  echo 'echo \"got $1\"' | haft run - argument     # a script on standard input
  haft run --json -c 'ls | wc -l'                  # every pipeline stage with its status, as JSON
  haft run --dry-run -c 'rm *.log'                 # show what would change; change nothing
  haft run --isolated -c 'echo x > f; cat f'       # files in memory, no programs
  haft run --root . -c 'find / -type f'            # only the files of this directory, no programs";

const SCRIPT: &str = "Script";
const ISOLATION: &str = "Isolation";

#[derive(Args, Debug)]
#[command(after_help = EXAMPLES)]
pub(crate) struct RunArguments {
    #[command(flatten)]
    pub(crate) supervision: SupervisionArguments,
    #[command(flatten)]
    pub(crate) environment: EnvironmentOptions,
    /// Start no programs; only builtins, functions and haft's own commands run
    #[arg(long, help_heading = ISOLATION)]
    pub(crate) no_external: bool,
    #[command(flatten)]
    pub(crate) confinement: ConfinementOptions,
    #[command(flatten)]
    pub(crate) policy: PolicyOptions,
    #[command(flatten)]
    pub(crate) overlay: OverlayOptions,
    /// Run on a copy-on-write view, show what would change, and throw it away
    #[arg(long, conflicts_with_all = ["isolated", "root", "overlay_name", "keep_jobs"], help_heading = ISOLATION)]
    pub(crate) dry_run: bool,
    /// Leave detached processes (disown, nohup, setsid) running at the end
    #[arg(long, help_heading = ISOLATION)]
    pub(crate) keep_jobs: bool,
    /// The script's text; the words after it are its arguments
    #[arg(short = 'c', value_name = "TEXT", allow_hyphen_values = true, help_heading = SCRIPT)]
    pub(crate) command: Option<OsString>,
    /// The script's file, or '-' for standard input, and its arguments; with -c only arguments
    #[arg(value_name = "FILE", trailing_var_arg = true, allow_hyphen_values = true)]
    pub(crate) words: Vec<OsString>,
}

/// The result of a run.
#[derive(JsonSchema, Serialize)]
pub(crate) struct RunReport {
    #[serde(flatten)]
    run: Report,
    /// With '--overlay' or '--dry-run': what changed.
    #[serde(skip_serializing_if = "Option::is_none")]
    overlay: Option<RunOverlayReport>,
    /// With a policy: how far it was enforced, and what it decided.
    #[serde(flatten, skip_serializing_if = "Option::is_none")]
    policy: Option<EnforcementReport>,
}

impl RunArguments {
    /// Moves this process into the overlay of the run, if there is one. There must be no other thread yet.
    ///
    /// # Errors
    /// If a directory cannot be overlaid.
    pub(crate) fn enter_overlay(&self, process: &ProcessContext) -> Result<Option<Overlay>, Failure> {
        let cwd = self.environment.cwd.as_deref();
        match self.dry_run {
            true => self.overlay.enter_always(process, cwd).map(Some),
            false => self.overlay.enter(process, cwd),
        }
    }
}

/// Runs the script and prints its output or the JSON result. Returns its exit status.
pub(crate) fn run(
    mut run: RunArguments,
    mut overlay: Option<Overlay>,
    recorder: &Recorder,
    process: &ProcessContext,
) -> Result<i32, Failure> {
    let json = run.supervision.json;
    if let Some(policy) = &process.policy {
        run.supervision.tighten(&policy.budgets());
    }
    let is_masked = run.supervision.is_captured() || !run.environment.variables.is_empty();
    let redactor = is_masked.then(|| program::redactor(&run.environment, process));
    let words = run.words.iter().map(|word| word.to_string_lossy());
    let command =
        run.command.iter().map(|text| text.to_string_lossy()).chain(words).collect::<Vec<_>>().join(" ");
    let is_file = run.command.is_none();
    let text = read(&mut run);
    let record = text.as_ref().ok().map(|text| start_record(&run, text, recorder, redactor.clone()));
    let redactor = redactor.unwrap_or_default();
    let outcome = text.and_then(|text| {
        let script = NamedScript { text, is_file };
        supervise(&mut run, &script, overlay.as_mut(), record.as_ref(), process)
    });
    let changes = overlay.map(|overlay| finish_overlay(overlay, &run, process)).transpose();
    let result = outcome.and_then(|outcome| Ok((outcome, changes?)));
    if let Some(record) = record {
        record.add_decisions(process);
        end_record(&record, &result);
    }
    match result {
        Ok((outcome, overlay)) if json => {
            let mut report = outcome.report(run.supervision.budget());
            report.redact(&redactor);
            let time = run.supervision.keep_output;
            output::store(&outcome.captured, &mut report.shown, &redactor.text(&command), time, process);
            let policy = process.policy.as_ref().map(ActivePolicy::report);
            Ok(print_json(&RunReport { run: report, overlay, policy }, outcome.code()))
        }
        Ok((outcome, _)) => {
            if recorder.session().is_some() {
                let time = run.supervision.keep_output;
                output::keep(&outcome.captured, &redactor.text(&command), time, process);
            }
            Ok(outcome.code())
        }
        Err(failure) if json => Ok(print_json(&ErrorReport::new(&failure, &redactor), failure.status)),
        Err(failure) => Err(failure),
    }
}

/// Reports the changes, and does with them what the options say.
fn finish_overlay(
    overlay: Overlay,
    run: &RunArguments,
    process: &ProcessContext,
) -> Result<RunOverlayReport, Failure> {
    let at_end = match (run.supervision.json, run.dry_run) {
        (true, false) => AtEnd::Report,
        (_, true) => AtEnd::ShowAndDiscard,
        (false, false) => AtEnd::Ask,
    };
    overlay::finish(overlay, at_end, process)
}

/// A script that was read, and whether it was a file.
struct NamedScript {
    text: ScriptText,
    is_file: bool,
}

/// The record of a script that is about to run.
fn start_record(
    run: &RunArguments,
    text: &ScriptText,
    recorder: &Recorder,
    redactor: Option<Redactor>,
) -> Arc<RunRecord> {
    let start = RunStart {
        script: Some(String::from_utf8_lossy(&text.source).into_owned()),
        argv: run.words.iter().map(|word| word.to_string_lossy().into_owned()).collect(),
        ..records::start_of(RunKind::Run)
    };
    Arc::new(recorder.prepare(start, redactor))
}

fn end_record(record: &RunRecord, result: &Result<(Outcome, Option<RunOverlayReport>), Failure>) {
    match result {
        Ok((outcome, overlay)) => record.end_script(outcome, overlay.as_ref().map(records::overlay_changes)),
        Err(failure) => record.fail(failure),
    }
}

fn supervise(
    run: &mut RunArguments,
    script: &NamedScript,
    overlay: Option<&mut Overlay>,
    record: Option<&Arc<RunRecord>>,
    process: &ProcessContext,
) -> Result<Outcome, Failure> {
    let NamedScript { text, is_file } = script;
    let files = run.confinement.files(process)?;
    let mut session = session(run, files.clone(), process)?;
    let script = prepare(text, &session)?;
    // Opening a FIFO waits for its writer.
    let input = run.supervision.input()?;
    if run.supervision.json {
        // Only haft may write the result to standard output.
        protect_process(Tracing::Allowed)?;
    }
    let signals = host::SignalHandler::start_with(&[Signals::USR1, Signals::USR2])?;
    let disk = run.overlay.watch(overlay)?;
    for (number, descriptor) in program::kept_descriptors(&run.supervision.keep_descriptors)? {
        session.open_descriptor(number.cast_unsigned(), descriptor);
    }
    let host = host::set_up(process);
    host.warnings().iter().for_each(print_message);
    let supervision = &run.supervision;
    let shown = OutputPrinter::new(supervision.limit_output, supervision.timeout, &signals.cancel);
    let arguments = std::mem::take(&mut run.words).into_iter().map(|word| Bytes::from(word.into_vec()));
    let mut options = supervision.options(input, &signals.cancel, &shown)?;
    if let Some(disk) = disk {
        options.scope_limits.disk = Some(disk.bytes);
        options.disk_meter = Some(disk.meter);
    }
    let script = Run::prepared(script)
        .name(if *is_file { &text.name } else { "haft" })
        .arguments(arguments)
        .supervision(options);
    let script = record.into_iter().fold(script, |script, record| script.observer(record.clone()));
    let raw = supervision.raw_terminal();
    let running = script.start(&host, session)?;
    let script = running.controller().clone();
    signals.forward_signals(Some(Box::new(move |signal| script.signal_script(signal))));
    if supervision.follows_size() {
        let controller = running.controller().clone();
        signals.on_resize(move || controller.resize(terminal::own_size().unwrap_or_default()));
    }
    let mut outcome;
    (session, outcome) = running.finish();
    signals.forward_signals(None);
    end_jobs(&mut session, &mut outcome, run, &text.name);
    drop(raw);
    shown.finish();
    run.supervision.explain(&Ending {
        name: &text.name,
        timed_out: outcome.status == Status::TimedOut,
        cancelled: outcome.status == Status::Cancelled,
        signal: signals.cancelled_by(),
        needed_input: outcome.needed_input,
        tree: &outcome.tree,
    });
    match outcome.status.limit_hit() {
        // The script has already printed which limit it reached.
        Some(_) if run.supervision.json => {}
        Some(_) => {
            print_hint("'--limit-memory SIZE' sets how much memory the script and its programs may use");
        }
        None => run.supervision.explain_limits(&outcome.limits),
    }
    explain_late_output(&outcome, run.supervision.json);
    session.part();
    if let Some(files) = files {
        run.confinement.get_files(&*files, process)?;
    }
    Ok(outcome)
}

/// Prints that background jobs wrote something after their substitution had ended, because nothing else shows it.
fn explain_late_output(outcome: &Outcome, json: bool) {
    if let Some(late) = outcome.captured.late_output().filter(|_| !json) {
        let bytes = count(usize::try_from(late.total_bytes()).unwrap_or(usize::MAX), "byte");
        print_message(format_args!(
            "{bytes} that background jobs wrote after their substitution had ended were discarded"
        ));
        print_hint("with '--json', the result contains them as 'late'");
    }
}

/// Ends the jobs that the script left running, except for detached processes with `--keep-jobs`.
fn end_jobs(session: &mut Session, outcome: &mut Outcome, run: &RunArguments, name: &str) {
    if run.keep_jobs {
        session.release_detached();
    }
    let grace = run.supervision.grace.unwrap_or(DEFAULT_GRACE);
    let ended = session.end_jobs(LEFTOVER_GRACE, grace);
    outcome.tree.add_leftovers(&ended.tree);
    let later = ended.limits.into_iter().find(|(id, _)| *id == outcome.id);
    outcome.limits = later.map_or(outcome.limits, |(_, limits)| limits);
    outcome.jobs = session.running_jobs();
    run.supervision.explain_leftovers(name, ended.tree.killed);
}

/// Reads the script, and removes its file from the words.
fn read(run: &mut RunArguments) -> Result<ScriptText, Failure> {
    let command = run.command.take();
    if let (None, Some(word)) = (&command, run.words.first())
        && word.as_bytes().starts_with(b"-")
        && word != "-"
    {
        return Err(Failure::usage(format_args!("unknown option '{}'", word.display()))
            .with_hint("'haft run --help' lists the options; for a script of that name, type './NAME'"));
    }
    let file = match command {
        None if !run.words.is_empty() => Some(run.words.remove(0)),
        _ => None,
    };
    script::read(ScriptArguments { file, command }, "haft run")
}

/// Parses the script. Fails if it has a syntax error, before any of it runs.
fn prepare(text: &ScriptText, session: &Session) -> Result<Script, Failure> {
    if text.source.len() > MAX_CHECKED_BYTES {
        return Ok(Script::new(text.source.as_slice()));
    }
    session.prepare(&text.source).map_err(|error| {
        let lines = LineIndex::new(&text.source);
        let message = Diagnostic::from(&error).render(&text.name, &text.source, &lines);
        Failure::usage(message.trim_end())
    })
}

fn session(
    run: &RunArguments,
    files: Option<Arc<dyn FileSystem>>,
    process: &ProcessContext,
) -> Result<Session, Failure> {
    if let Some(files) = files {
        let reason = if run.confinement.isolated { BY_ISOLATED } else { BY_ROOT };
        let kernel = with_gnu_commands(sessions::plain_kernel(process)).confined(files, reason);
        let kernel = run.confinement.with_scripts(kernel, process);
        let mut session = Session::hermetic(kernel.build());
        sessions::open_standard(&mut session, process);
        return Ok(session);
    }
    let permission = match run.no_external {
        true => StartPermission::none(NO_EXTERNAL),
        false => process.permission(),
    };
    let tools = SessionTools::new(process, &permission);
    let kernel = sessions::kernel(&tools, process).permission(&permission);
    let kernel = if run.no_external { with_gnu_commands(kernel) } else { kernel };
    let kernel = run.confinement.with_scripts(kernel, process);
    let environment = program::environment(&run.environment, process)?;
    let mut session = sessions::familiar(kernel, &environment, process);
    if let Some(directory) = &run.environment.cwd {
        enter(&mut session, directory, process)?;
    }
    Ok(session)
}

fn enter(session: &mut Session, directory: &Path, process: &ProcessContext) -> Result<(), Failure> {
    let base = process.working_directory.as_deref().unwrap_or(Path::new("/"));
    let whole = base.join(directory);
    match std::fs::metadata(&whole) {
        Ok(found) if found.is_dir() => {
            session.set_directory(whole);
            Ok(())
        }
        Ok(_) => Err(cannot_enter(directory, "not a directory")),
        Err(error) => Err(cannot_enter(directory, &haft_process::reason(&error))),
    }
}

fn cannot_enter(directory: &Path, why: &str) -> Failure {
    Failure::usage(format_args!("cannot enter working directory '{}': {why}", directory.display()))
}
