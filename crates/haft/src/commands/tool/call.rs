//! `haft tool call`: call a tool.

use std::io::Read as _;

use haft_process::reason;
use haft_tools::{ArgumentWord, CallError, CallOptions, Envelope, Tool};
use serde_json::Value;

use super::arguments::ToolCallArguments;
use super::{ToolRuntime, end_record, start_record};
use crate::commands::print::{print_json, print_text};
use crate::failure::{self, Failure, print_hint, print_message};
use crate::process_context::ProcessContext;
use crate::records::Recorder;
use crate::tools;
use crate::units;

/// Calls the tool and prints the answer. Returns the exit status.
pub(super) fn run(
    mut arguments: ToolCallArguments,
    recorder: &Recorder,
    process: &ProcessContext,
) -> Result<i32, Failure> {
    let runtime = ToolRuntime::new(process)?;
    let before = options(&arguments, &runtime)?;
    let found = runtime.registry.find_for(&arguments.name, &before);
    take_options(found.as_ref().ok(), &mut arguments, process)?;
    let options = options(&arguments, &runtime)?;
    let value = match found {
        Ok(tool) => read(&tool, &arguments.words)?,
        Err(fault) => Err(fault),
    };
    let record = start_record(recorder, &arguments.name, value.as_ref().ok().cloned());
    let envelope = match value {
        Ok(value) => runtime.registry.call_with_progress(&arguments.name, value, &options, &|progress| {
            failure::print_stderr(&format!("{}: {progress}\n", arguments.name));
        }),
        Err(fault) => Envelope::failure(fault),
    };
    end_record(&record, &envelope);
    if envelope.is_success() && arguments.name == "process_start" {
        print_message(
            "the started process ends with this command: start it in `haft tool batch`, a script or an MCP session",
        );
    }
    Ok(if arguments.json { print_json(&envelope, envelope.exit_status()) } else { show(&envelope) })
}

fn options(arguments: &ToolCallArguments, runtime: &ToolRuntime) -> Result<CallOptions, Failure> {
    Ok(CallOptions {
        output_limit: arguments.limit_output,
        ..runtime.call_options(arguments.timeout, arguments.toolset.as_deref())?
    })
}

/// Takes haft's own options from the words after the tool's name, up to `--`. An option that has the name of a parameter
/// belongs to the tool.
fn take_options(
    tool: Option<&Tool>,
    arguments: &mut ToolCallArguments,
    process: &ProcessContext,
) -> Result<(), Failure> {
    // The parser has removed a `--` before the first word.
    let before = process.arguments.len().checked_sub(arguments.words.len() + 1);
    if before.and_then(|place| process.arguments.get(place)).is_some_and(|word| word == "--") {
        return Ok(());
    }
    let mut left = Vec::new();
    let mut words = std::mem::take(&mut arguments.words).into_iter();
    while let Some(word) = words.next() {
        if word == "--" {
            left.extend(words);
            break;
        }
        let (name, value) =
            word.split_once('=').map_or((word.as_str(), None), |(name, value)| (name, Some(value)));
        let is_parameter = |name: &str| tool.is_some_and(|tool| tool.parameters().property(name).is_some());
        let own = name
            .strip_prefix("--")
            .filter(|name| !is_parameter(&name.replace('-', "_")) && !is_parameter(name));
        match own {
            Some("json") if value.is_none() => arguments.json = true,
            Some(name @ ("timeout" | "limit-output" | "toolset")) => {
                let missing = || Failure::usage(format_args!("'--{name}' has no value"));
                let value = value.map(str::to_owned).or_else(|| words.next()).ok_or_else(missing)?;
                set_option(arguments, name, value)?;
            }
            _ => left.push(word),
        }
    }
    arguments.words = left;
    Ok(())
}

fn set_option(arguments: &mut ToolCallArguments, name: &str, value: String) -> Result<(), Failure> {
    let wrong =
        |error: String| Failure::usage(format_args!("invalid value '{value}' for '--{name}': {error}"));
    match name {
        "timeout" => arguments.timeout = Some(units::duration(&value).map_err(wrong)?),
        "limit-output" => arguments.limit_output = Some(units::size(&value).map_err(wrong)?),
        _ => arguments.toolset = Some(value),
    }
    Ok(())
}

/// The tool's arguments: words, or for `-` a JSON object on standard input.
fn read(tool: &Tool, words: &[String]) -> Result<Result<Value, CallError>, Failure> {
    if words != ["-"] {
        let words: Vec<ArgumentWord> = words.iter().map(|word| ArgumentWord::Text(word.clone())).collect();
        return Ok(tool.arguments(&words));
    }
    let mut text = Vec::new();
    std::io::stdin()
        .read_to_end(&mut text)
        .map_err(|error| Failure::usage(format_args!("standard input cannot be read: {}", reason(&error))))?;
    Ok(tools::words::parse(&text))
}

/// Prints an answer: the result on standard output, everything else on standard error.
fn show(envelope: &Envelope) -> i32 {
    failure::print_stderr(&envelope.stderr);
    tools::remarks(envelope).iter().for_each(print_message);
    match &envelope.outcome {
        Ok(result) => print_text(&tools::printed(result), 0),
        Err(fault) => {
            print_message(&fault.message);
            fault.hint.iter().for_each(print_hint);
            if !fault.stdout.is_empty() {
                failure::print_stderr(&format!("its output was:\n{}\n", fault.stdout.trim_end_matches('\n')));
            }
            fault.exit_status()
        }
    }
}
