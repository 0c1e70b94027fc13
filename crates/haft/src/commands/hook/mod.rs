//! `haft hook`: answer the hooks of agents from the policy, and add the hooks to their settings.

mod answer;
pub(crate) mod arguments;
mod call;
mod install;
mod judge;
mod settings;

use std::io::Read as _;

use serde_json::Value;

use self::arguments::{HookAction, HookArguments};
use self::call::{HookCall, HookFormat};
use self::settings::HookSettings;
use crate::commands::mcp::install::ConfigChange;
use crate::commands::print::print_text;
use crate::failure::Failure;
use crate::policy;
use crate::process_context::ProcessContext;

/// A longer call is not read.
const MAX_CALL_BYTES: u64 = 64 << 20;

/// Runs an action of `haft hook`.
pub(crate) fn run(arguments: &HookArguments, process: &ProcessContext) -> Result<i32, Failure> {
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
    match respond(format, process) {
        Ok(Some(answer)) => Ok(print_text(&format!("{answer}\n"), 0)),
        Ok(None) => Ok(0),
        Err(failure) => {
            failure.print();
            Ok(0)
        }
    }
}

/// The answer to the call on standard input; `None` if haft has no opinion.
fn respond(format: HookFormat, process: &ProcessContext) -> Result<Option<Value>, Failure> {
    let mut text = Vec::new();
    let read = std::io::stdin().lock().take(MAX_CALL_BYTES).read_to_end(&mut text);
    let json: Option<Value> = read.ok().and_then(|_| serde_json::from_slice(&text).ok());
    let Some(call) = json.and_then(|json| HookCall::read(format, &json)) else { return Ok(None) };
    let mut process = process.clone();
    process.working_directory = call.directory.clone().or(process.working_directory);
    let settings = HookSettings::read(&process)?;
    let policy = policy::load(None, &process)?;
    let judgement = judge::judge(&call, &policy, &settings, &process);
    Ok(judgement.and_then(|judgement| answer::answer(format, &call, &judgement)))
}
