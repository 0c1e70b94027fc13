//! `haft hook`: answer the hooks of agents from the policy, and add the hooks to their settings.

mod answer;
pub(crate) mod arguments;
mod call;
mod install;
mod judge;
mod settings;

use std::io::Read as _;

use haft_records::{RunKind, RunStart};
use serde_json::Value;

use self::arguments::{HookAction, HookArguments};
use self::call::{HookCall, HookFormat, HookSubject};
use self::judge::HookJudgement;
use self::settings::HookSettings;
use crate::commands::mcp::install::ConfigChange;
use crate::commands::print::print_text;
use crate::failure::Failure;
use crate::policy;
use crate::process_context::ProcessContext;
use crate::records::{self, Recorder};

/// A longer call is not read.
const MAX_CALL_BYTES: u64 = 64 << 20;

/// Runs an action of `haft hook`.
pub(crate) fn run(
    arguments: &HookArguments,
    recorder: &Recorder,
    process: &ProcessContext,
) -> Result<i32, Failure> {
    let format = match &arguments.action {
        HookAction::Claude => HookFormat::Claude,
        HookAction::Codex => HookFormat::Codex,
        HookAction::Gemini => HookFormat::Gemini,
        HookAction::Cursor => HookFormat::Cursor,
        HookAction::Copilot => HookFormat::Copilot,
        HookAction::Install(arguments) => return install::run(arguments, ConfigChange::Install, process),
        HookAction::Uninstall(arguments) => return install::run(arguments, ConfigChange::Uninstall, process),
    };
    // A hook that fails must not block the agent.
    match respond(format, recorder, process) {
        Ok(Some(answer)) => Ok(print_text(&format!("{answer}\n"), 0)),
        Ok(None) => Ok(0),
        Err(failure) => {
            failure.print();
            Ok(0)
        }
    }
}

/// The answer to the call on standard input; `None` if haft has no opinion.
fn respond(
    format: HookFormat,
    recorder: &Recorder,
    process: &ProcessContext,
) -> Result<Option<Value>, Failure> {
    let mut text = Vec::new();
    let read = std::io::stdin().lock().take(MAX_CALL_BYTES).read_to_end(&mut text);
    let json: Option<Value> = read.ok().and_then(|_| serde_json::from_slice(&text).ok());
    let Some(call) = json.and_then(|json| HookCall::read(format, &json)) else { return Ok(None) };
    let mut process = process.clone();
    process.working_directory = call.directory.clone().or(process.working_directory);
    let settings = HookSettings::read(&process)?;
    let policy = policy::load(None, &process)?;
    let judgement = judge::judge(&call, &policy, &settings, &process);
    record(format, &call, judgement.as_ref(), recorder);
    Ok(judgement.and_then(|judgement| answer::answer(format, &call, &judgement)))
}

/// Records a call and the answer.
fn record(format: HookFormat, call: &HookCall, judgement: Option<&HookJudgement>, recorder: &Recorder) {
    let (script, argv) = match &call.subject {
        HookSubject::Script(text) => (Some(text.clone()), Vec::new()),
        HookSubject::File(access, path) => {
            (None, vec![access.as_str().to_owned(), path.to_string_lossy().into_owned()])
        }
        HookSubject::Host(host, port) => (None, vec!["connect".to_owned(), format!("{host}:{port}")]),
    };
    let directory = call.directory.as_ref().map(|directory| directory.to_string_lossy().into_owned());
    let start = RunStart {
        script,
        argv,
        agent: Some(format.name().to_owned()),
        cwd: directory.unwrap_or_default(),
        ..records::start_of(RunKind::Hook)
    };
    let answer = match judgement {
        Some(judgement) => format!("{}: {}", judgement.verdict, judgement.reason),
        None => "no opinion".to_owned(),
    };
    recorder.prepare(start, None).end_hook(answer);
}
