//! `haft launch`: assemble the prompt and start the agent.

pub(crate) mod arguments;
mod become_agent;
mod catalogue;
mod choose;
pub(crate) mod configure;
pub(crate) mod doctor;
mod dry_run;
pub(crate) mod list;
mod prepare;
pub(crate) mod prompts;
pub(crate) mod share;
pub(crate) mod summary;
pub(crate) mod supervise;

pub(crate) use become_agent::as_file;

use std::ffi::OsString;
use std::io::Read as _;
use std::os::unix::ffi::OsStringExt as _;
use std::path::Path;

use haft_config::{FileRules, MAX_TEXT_BYTES, is_pipe};
use haft_launch::LaunchKind;
use haft_process::reason;
use haft_records::{RunKind, RunStart};

use self::arguments::{LaunchAction, LaunchArguments, LaunchOptions};
use self::prepare::PreparedLaunch;
use crate::commands::completions;
use crate::failure::{Failure, print_message};
use crate::process_context::ProcessContext;
use crate::records::{self, Recorder, RunRecord};

/// Runs an action of `haft launch`.
pub(crate) fn run(
    launch: LaunchArguments,
    recorder: &Recorder,
    process: &ProcessContext,
) -> Result<i32, Failure> {
    let LaunchArguments { action, text, options: before } = launch;
    if let (Some(_), Some(text)) = (&action, &text) {
        let message = format!("unexpected '{}' before the name of an action", text.display());
        let hint = Some("quote a text of several words: `haft launch 'do this'`".to_owned());
        return Err(Failure { hint, ..Failure::usage(message) });
    }
    if !matches!(action, None | Some(LaunchAction::Prompt { .. } | LaunchAction::Task { .. }))
        && before.says_how_to_launch()
    {
        return Err(Failure::usage("this action launches nothing and takes no launch options"));
    }
    match action {
        None => {
            let instructions = text.map(|text| text_or_file(text, process)).transpose()?;
            start(LaunchKind::Plain, instructions, &before, recorder, process)
        }
        Some(LaunchAction::Prompt { text, options }) => {
            let text = text_or_file(text, process)?;
            start(LaunchKind::Prompt, Some(text), &options.or(before), recorder, process)
        }
        Some(LaunchAction::Task { name, instructions, options }) => {
            let instructions = instructions.map(|text| text_or_file(text, process)).transpose()?;
            start(LaunchKind::Task(name), instructions, &options.or(before), recorder, process)
        }
        Some(LaunchAction::List { json }) => list::all(json || before.json, process),
        Some(LaunchAction::Show { name, json }) => list::one(&name, json || before.json, process),
        Some(LaunchAction::Doctor { json }) => doctor::run(json || before.json, process),
        Some(LaunchAction::Init { user, json }) => configure::init(user, json || before.json, process),
        Some(LaunchAction::Add(arguments)) => share::add(&arguments, process),
        Some(LaunchAction::Search { word, from, json }) => {
            list::search(&word, from.as_deref(), json || before.json, process)
        }
        Some(LaunchAction::Remove { kind, name, place }) => share::remove(kind, &name, &place, process),
        Some(LaunchAction::Order { kind, names, place }) => share::order(kind, &names, &place, process),
        Some(LaunchAction::Edit { user }) => configure::edit(user, process),
        Some(LaunchAction::Completions(completions)) => Ok(completions::run(&completions)),
    }
}

/// Launches: as a dry run, supervised, in an overlay, or in place of this process.
fn start(
    kind: LaunchKind,
    instructions: Option<Vec<u8>>,
    options: &LaunchOptions,
    recorder: &Recorder,
    process: &ProcessContext,
) -> Result<i32, Failure> {
    if options.dry_run && options.supervised {
        return Err(Failure::usage("--dry-run and --supervised exclude each other"));
    }
    if options.overlay.is_wanted() && options.dry_run {
        return Err(Failure::usage("--overlay and --dry-run exclude each other"));
    }
    if options.overlay.limit_disk.is_some() && !(options.overlay.is_wanted() && options.supervised) {
        return Err(Failure::usage("--limit-disk needs --overlay and --supervised"));
    }
    let mut prepared = prepare::prepare(kind, instructions, options, process)?;
    if options.dry_run {
        return dry_run::run(prepared, options);
    }
    let record = start_record(&mut prepared, recorder);
    let result = if options.supervised {
        supervise::run(prepared, options, &record, process)
    } else if options.overlay.is_wanted() {
        become_agent::run_in_overlay(prepared, options, &record, process)
    } else {
        become_agent::run(prepared, options, &record, process)
    };
    if let Err(failure) = &result {
        record.fail(failure);
    }
    result
}

/// The record of the launch. What the agent runs through haft belongs to the same session.
fn start_record(prepared: &mut PreparedLaunch, recorder: &Recorder) -> RunRecord {
    if let Some(session) = recorder.session() {
        let _ = prepared.plan.environment.set(records::SESSION_VARIABLE, session);
        let _ = prepared.plan.environment.set(records::AGENT_VARIABLE, &prepared.agent);
    }
    let start = RunStart {
        agent: Some(prepared.agent.clone()),
        argv: prepared.plan.argv.iter().map(|word| word.to_string_lossy().into_owned()).collect(),
        ..records::start_of(RunKind::Launch)
    };
    recorder.prepare(start, None)
}

/// The text of an argument; `-` reads standard input.
fn argument_text(text: OsString) -> Result<Vec<u8>, Failure> {
    if text != "-" {
        return Ok(text.into_vec());
    }
    let mut bytes = Vec::new();
    match std::io::stdin().read_to_end(&mut bytes) {
        Ok(_) => Ok(bytes),
        Err(error) => Err(Failure::usage(format!("standard input cannot be read: {}", reason(&error)))),
    }
}

/// Whether a word looks like the name of a file rather than an instruction.
fn looks_like_a_file(word: &str) -> bool {
    let extended = [".md", ".txt", ".markdown"].iter().any(|extension| word.ends_with(extension));
    extended && !word.contains(char::is_whitespace)
}

/// The content of the file with this name; without such a file, the text itself.
fn text_or_file(text: OsString, process: &ProcessContext) -> Result<Vec<u8>, Failure> {
    let base = process.working_directory.as_deref().unwrap_or(Path::new("."));
    let path = base.join(&text);
    if text == "-" || text.is_empty() || !(path.is_file() || is_pipe(&path)) {
        if looks_like_a_file(&text.to_string_lossy()) {
            print_message(format_args!("no file '{}'; used as the prompt", text.display()));
        }
        return argument_text(text);
    }
    let read = FileRules::up_to(MAX_TEXT_BYTES).or_pipe().read(&path);
    read.map_err(|error| Failure::usage(format!("'{}' cannot be read: {}", text.display(), error.reason())))
}
