//! `haft run`: a supervised script.

use std::ffi::OsStr;
use std::os::unix::ffi::{OsStrExt as _, OsStringExt as _};
use std::path::Path;

use haft_kernel::memory::MemoryLimit;
use haft_kernel::run::{Outcome, Run as Script, Streams};
use haft_kernel::{Bytes, Session};
use haft_lang::ast::LineIndex;
use haft_lang::check::{Severity, check};
use haft_process::{DEFAULT_GRACE, Live, Redactor, Signals, StartPermission, Tracing, protect_process};

use crate::arguments::{Run, Script as Source};
use crate::commands::output::print_json;
use crate::commands::script::{self, Names, Text};
use crate::commands::supervise::{LEFTOVER_GRACE, Shown, report, terminal};
use crate::commands::{start, stored};
use crate::failure::{Failure, USAGE, tell};
use crate::surroundings::Surroundings;
use crate::tools::Tools;
use crate::{host, sessions};

/// How much an isolated run may write to its files.
const MEMORY: u64 = 256 << 20;

/// Why a program does not start.
const NO_EXTERNAL: &str = "external commands are switched off by '--no-external'";

/// A script that is longer than this is parsed while it runs, when a deadline can end that, and not before.
const LONGEST_CHECKED: usize = 2 << 20;

/// Runs the script, shows what it writes, and answers with its status.
pub(crate) fn run(mut run: Run, surroundings: &Surroundings) -> Result<i32, Failure> {
    let json = run.supervise.json;
    let redactor = if json { start::redactor(&run.place, surroundings) } else { Redactor::default() };
    let words = run.words.iter().map(|word| word.to_string_lossy());
    let command =
        run.command.iter().map(|text| text.to_string_lossy()).chain(words).collect::<Vec<_>>().join(" ");
    match supervise(&mut run, surroundings) {
        Ok(outcome) if json => {
            let mut report = outcome.report(run.supervise.budget());
            report.redact(&redactor);
            let time = run.supervise.keep_output;
            stored::keep(&outcome.captured, &mut report.shown, &redactor.text(&command), time, surroundings);
            Ok(print_json(&report, outcome.code()))
        }
        Ok(outcome) => Ok(outcome.code()),
        Err(failure) if json => Ok(print_json(&report::Unstarted::new(&failure, &redactor), failure.status)),
        Err(failure) => Err(failure),
    }
}

fn supervise(run: &mut Run, surroundings: &Surroundings) -> Result<Outcome, Failure> {
    let is_file = run.command.is_none();
    let text = read(run)?;
    if text.source.len() <= LONGEST_CHECKED {
        refuse_wrong(&text, surroundings)?;
    }
    // May wait for whoever opens its other end, and does so as any program would.
    let input = run.supervise.input()?;
    if run.supervise.json {
        // The answer on standard output is ours alone.
        protect_process(Tracing::Allowed)?;
    }
    let listener = host::Listener::start_with(&[Signals::USER_1, Signals::USER_2])?;
    let mut session = session(run, surroundings)?;
    let host = host::set_up(surroundings);
    host.warnings().iter().for_each(tell);
    let supervise = &run.supervise;
    let streams = supervise.streams()?;
    let arguments = std::mem::take(&mut run.words).into_iter().map(|word| Bytes::from(word.into_vec()));
    let mut script = Script::new(text.source)
        .name(if is_file { &text.name } else { "haft" })
        .arguments(arguments)
        .streams(streams.into())
        .input(input.into())
        .limits(supervise.limits())
        .scope_limits(supervise.scope_limits())
        .cancel(&listener.cancel);
    if let Some(bytes) = supervise.limit_memory {
        script = script.memory_limit(MemoryLimit::Bytes(bytes));
    }
    if let Some(timeout) = supervise.timeout {
        script = script.timeout(timeout);
    }
    if let Some(grace) = supervise.grace {
        script = script.grace(grace);
    }
    let shown = Shown::new(supervise.limit_output, supervise.timeout, &listener.cancel);
    if !supervise.json && Streams::from(streams) != Streams::Inherit {
        let shown = shown.clone();
        script = script.live(Live::new(move |kind, bytes| shown.take(kind, bytes)));
    }
    let raw = supervise.raw_terminal();
    let running = script.start(&host, session)?;
    let script = running.controller().clone();
    listener.pass_on(Some(Box::new(move |signal| script.signal_script(signal))));
    if supervise.follows_size() {
        let controller = running.controller().clone();
        listener.on_resize(move || controller.resize(terminal::own_size().unwrap_or_default()));
    }
    let mut outcome;
    (session, outcome) = running.finish();
    listener.pass_on(None);
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
        Some(_) => tell("hint: '--limit-memory SIZE' sets how much memory the script may use"),
        None => run.supervise.explain_limits(&outcome.limits),
    }
    session.part();
    Ok(outcome)
}

/// Ends what the script has left behind: it belongs to this run, which is over; unless it shall be kept.
fn end_jobs(session: &mut Session, outcome: &mut Outcome, run: &Run, name: &str) {
    if run.keep_jobs {
        session.let_departed_go();
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
fn read(run: &mut Run) -> Result<Text, Failure> {
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
    script::read(Source { file, command })
}

/// Refuses a script that cannot be run to its end because it is not bash, before anything of it runs.
fn refuse_wrong(text: &Text, surroundings: &Surroundings) -> Result<(), Failure> {
    let found = check(&text.source, &haft_lang::Options::default(), &Names::new(surroundings));
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

fn session(run: &Run, surroundings: &Surroundings) -> Result<Session, Failure> {
    if run.isolated {
        let mut session = Session::hermetic(sessions::plain_kernel().isolated(MEMORY).build());
        sessions::open_standard(&mut session, surroundings);
        return Ok(session);
    }
    let permission = match run.no_external {
        true => StartPermission::none(NO_EXTERNAL),
        false => StartPermission::all(),
    };
    let kernel = sessions::kernel(&Tools::new(surroundings, &permission)).permission(&permission);
    let environment = start::environment(&run.place, surroundings)?;
    let mut session = sessions::familiar(kernel, &environment, surroundings);
    if let Some(directory) = &run.place.cwd {
        enter(&mut session, directory, surroundings)?;
    }
    Ok(session)
}

fn enter(session: &mut Session, directory: &Path, surroundings: &Surroundings) -> Result<(), Failure> {
    let base = surroundings.working_directory.as_deref().unwrap_or(Path::new("/"));
    let whole = base.join(directory);
    match std::fs::metadata(&whole) {
        Ok(found) if found.is_dir() => {
            session.set_directory(OsStr::as_bytes(whole.as_os_str()));
            Ok(())
        }
        Ok(_) => Err(cannot_enter(directory, "not a directory")),
        Err(error) => Err(cannot_enter(directory, &haft_process::reason(&error))),
    }
}

fn cannot_enter(directory: &Path, why: &str) -> Failure {
    Failure::usage(format_args!("cannot enter working directory '{}': {why}", directory.display()))
}
