//! `haft run`: a supervised script.

use std::os::unix::ffi::{OsStrExt as _, OsStringExt as _};
use std::path::Path;

use haft_kernel::memory::MemoryLimit;
use haft_kernel::run::{Outcome, Run};
use haft_kernel::{Bytes, Session};
use haft_lang::ast::LineIndex;
use haft_lang::check::{Severity, check};
use haft_process::{DEFAULT_GRACE, Redactor, Signals, StartPermission, Tracing, protect_process};

use crate::arguments::{RunArguments, ScriptArguments};
use crate::commands::print::print_json;
use crate::commands::script::{self, NameResolver, ScriptText};
use crate::commands::supervise::{LEFTOVER_GRACE, OutputPrinter, report, terminal};
use crate::commands::{output, program};
use crate::failure::{Failure, USAGE, print_message};
use crate::process_context::ProcessContext;
use crate::tools::SessionTools;
use crate::{host, sessions};

/// How much an isolated run may write to its files.
const MEMORY: u64 = 256 << 20;

/// Why a program does not start.
const NO_EXTERNAL: &str = "external commands are switched off by '--no-external'";

/// A script that is longer than this is parsed while it runs, when a deadline can end that, and not before.
const LONGEST_CHECKED: usize = 2 << 20;

/// Runs the script, shows what it writes, and answers with its status.
pub(crate) fn run(mut run: RunArguments, process: &ProcessContext) -> Result<i32, Failure> {
    let json = run.supervise.json;
    let redactor = if json { program::redactor(&run.place, process) } else { Redactor::default() };
    let words = run.words.iter().map(|word| word.to_string_lossy());
    let command =
        run.command.iter().map(|text| text.to_string_lossy()).chain(words).collect::<Vec<_>>().join(" ");
    match supervise(&mut run, process) {
        Ok(outcome) if json => {
            let mut report = outcome.report(run.supervise.budget());
            report.redact(&redactor);
            let time = run.supervise.keep_output;
            output::keep(&outcome.captured, &mut report.shown, &redactor.text(&command), time, process);
            Ok(print_json(&report, outcome.code()))
        }
        Ok(outcome) => Ok(outcome.code()),
        Err(failure) if json => {
            Ok(print_json(&report::StartFailure::new(&failure, &redactor), failure.status))
        }
        Err(failure) => Err(failure),
    }
}

fn supervise(run: &mut RunArguments, process: &ProcessContext) -> Result<Outcome, Failure> {
    let is_file = run.command.is_none();
    let text = read(run)?;
    if text.source.len() <= LONGEST_CHECKED {
        refuse_wrong(&text, process)?;
    }
    // May wait for whoever opens its other end, and does so as any program would.
    let input = run.supervise.input()?;
    if run.supervise.json {
        // The answer on standard output is ours alone.
        protect_process(Tracing::Allowed)?;
    }
    let signals = host::SignalHandler::start_with(&[Signals::USR1, Signals::USR2])?;
    let mut session = session(run, process)?;
    let host = host::set_up(process);
    host.warnings().iter().for_each(print_message);
    let supervise = &run.supervise;
    let shown = OutputPrinter::new(supervise.limit_output, supervise.timeout, &signals.cancel);
    let arguments = std::mem::take(&mut run.words).into_iter().map(|word| Bytes::from(word.into_vec()));
    let mut script = Run::new(text.source)
        .name(if is_file { &text.name } else { "haft" })
        .arguments(arguments)
        .supervision(supervise.options(input, &signals.cancel, &shown)?);
    if let Some(bytes) = supervise.limit_memory {
        script = script.memory_limit(MemoryLimit::Bytes(bytes));
    }
    let raw = supervise.raw_terminal();
    let running = script.start(&host, session)?;
    let script = running.controller().clone();
    signals.forward_signals(Some(Box::new(move |signal| script.signal_script(signal))));
    if supervise.follows_size() {
        let controller = running.controller().clone();
        signals.on_resize(move || controller.resize(terminal::own_size().unwrap_or_default()));
    }
    let mut outcome;
    (session, outcome) = running.finish();
    signals.forward_signals(None);
    end_jobs(&mut session, &mut outcome, run, &text.name);
    drop(raw);
    shown.finish();
    if !run.supervise.json {
        let timed_out = outcome.status == haft_kernel::run::Status::TimedOut;
        run.supervise.explain(&text.name, timed_out, outcome.needed_input, &outcome.tree);
    }
    match outcome.status.limit_hit() {
        // The script itself has said which limit it reached.
        Some(_) if run.supervise.json => {}
        Some(_) => print_message("hint: '--limit-memory SIZE' sets how much memory the script may use"),
        None => run.supervise.explain_limits(&outcome.limits),
    }
    session.part();
    Ok(outcome)
}

/// Ends what the script has left behind: it belongs to this run, which is over; unless it shall be kept.
fn end_jobs(session: &mut Session, outcome: &mut Outcome, run: &RunArguments, name: &str) {
    if run.keep_jobs {
        session.release_detached();
    }
    let grace = run.supervise.grace.unwrap_or(DEFAULT_GRACE);
    let ended = session.end_jobs(LEFTOVER_GRACE, grace);
    outcome.tree.add_leftovers(&ended.tree);
    let later = ended.limits.into_iter().find(|(id, _)| *id == outcome.id);
    outcome.limits = later.map_or(outcome.limits, |(_, limits)| limits);
    outcome.jobs = session.running_jobs();
    run.supervise.explain_leftovers(name, ended.tree.killed);
}

/// The script, with its file taken off the words.
fn read(run: &mut RunArguments) -> Result<ScriptText, Failure> {
    let command = run.command.take();
    if let (None, Some(word)) = (&command, run.words.first())
        && word.as_bytes().starts_with(b"-")
        && word != "-"
    {
        let unknown = Failure::usage(format_args!("unknown option '{}'", word.display()));
        let hint = Some("'haft run --help' lists them; a script of that name is './NAME'".to_owned());
        return Err(Failure { hint, ..unknown });
    }
    let file = match command {
        None if !run.words.is_empty() => Some(run.words.remove(0)),
        _ => None,
    };
    script::read(ScriptArguments { file, command })
}

/// Refuses a script that cannot be run to its end because it is not bash, before anything of it runs.
fn refuse_wrong(text: &ScriptText, process: &ProcessContext) -> Result<(), Failure> {
    let found = check(&text.source, &haft_lang::ParseOptions::default(), &NameResolver::new(process));
    let lines = LineIndex::new(&text.source);
    let syntax = found.iter().find(|found| found.severity == Severity::Error && found.code == "syntax");
    match syntax {
        None => Ok(()),
        Some(found) => {
            let message = found.render(&text.name, &text.source, &lines);
            Err(Failure { message: message.trim_end().to_owned(), hint: None, status: USAGE })
        }
    }
}

fn session(run: &RunArguments, process: &ProcessContext) -> Result<Session, Failure> {
    if run.isolated {
        let mut session = Session::hermetic(sessions::plain_kernel().isolated(MEMORY).build());
        sessions::open_standard(&mut session, process);
        return Ok(session);
    }
    let permission = match run.no_external {
        true => StartPermission::none(NO_EXTERNAL),
        false => StartPermission::all(),
    };
    let kernel = sessions::kernel(&SessionTools::new(process, &permission)).permission(&permission);
    let environment = program::environment(&run.place, process)?;
    let mut session = sessions::familiar(kernel, &environment, process);
    if let Some(directory) = &run.place.cwd {
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
