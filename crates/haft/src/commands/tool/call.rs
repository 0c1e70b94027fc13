//! `haft tool call`: call a tool.

use std::io::Read as _;

use haft_process::reason;
use haft_tools::{ArgumentWord, CallError, CallOptions, Envelope, Tool};
use serde_json::Value;

use super::ToolRuntime;
use super::arguments::ToolCallArguments;
use crate::commands::print::{print_json, print_text};
use crate::failure::{self, Failure, print_message};
use crate::process_context::ProcessContext;
use crate::tools;

/// Calls the tool and prints the answer. Returns the exit status.
pub(super) fn run(mut arguments: ToolCallArguments, process: &ProcessContext) -> Result<i32, Failure> {
    let runtime = ToolRuntime::new(process)?;
    let options = CallOptions {
        output_limit: arguments.limit_output,
        ..runtime.call_options(arguments.timeout, arguments.toolset.as_deref())?
    };
    let envelope = match runtime.registry.find_for(&arguments.name, &options) {
        Ok(tool) => {
            take_json(&tool, &mut arguments);
            match read(&tool, &arguments.words)? {
                Ok(value) => {
                    runtime.registry.call_with_progress(&arguments.name, value, &options, &|progress| {
                        failure::print_stderr(&format!("{}: {progress}\n", arguments.name));
                    })
                }
                Err(fault) => Envelope::failure(fault),
            }
        }
        Err(fault) => Envelope::failure(fault),
    };
    if envelope.is_success() && arguments.name == "process_start" {
        print_message(
            "the started process ends with this command: start it in `haft tool batch`, a script or an MCP session",
        );
    }
    Ok(if arguments.json { print_json(&envelope, envelope.exit_status()) } else { show(&envelope) })
}

/// Accepts `--json` after the tool's name, unless the tool has a parameter of that name.
fn take_json(tool: &Tool, arguments: &mut ToolCallArguments) {
    if tool.parameters().property("json").is_none()
        && let Some(place) = arguments.words.iter().position(|word| word == "--json")
    {
        arguments.words.remove(place);
        arguments.json = true;
    }
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
            if !fault.stdout.is_empty() {
                failure::print_stderr(&format!("its output was:\n{}\n", fault.stdout.trim_end_matches('\n')));
            }
            fault.exit_status()
        }
    }
}
