//! `haft tool batch`: many calls, one a line.

use std::io::BufRead as _;

use haft_process::reason;
use haft_tools::{Call, CallOptions};
use serde_json::{Value, json};

use super::Scene;
use super::arguments::ToolBatch;
use crate::commands::output::print_json;
use crate::failure::Failure;
use crate::surroundings::Surroundings;

/// Makes the calls and prints an answer a line, in the order of the calls: 1 if one of them failed.
pub(super) fn run(arguments: &ToolBatch, surroundings: &Surroundings) -> Result<i32, Failure> {
    let calls = read()?;
    let scene = Scene::new(surroundings)?;
    let toolset = arguments.toolset.as_deref().map(|name| scene.settings.toolset(name)).transpose()?;
    let options = CallOptions {
        timeout: arguments.timeout,
        cancel: Some(scene.listener.cancel.clone()),
        toolset,
        ..CallOptions::default()
    };
    let width = arguments
        .jobs
        .unwrap_or_else(|| std::thread::available_parallelism().map_or(4, |cores| cores.get() * 2));
    let mut status = 0;
    scene.registry.batch(&calls, width.max(1), &options, |index, envelope| {
        let failed = i32::from(!envelope.is_success());
        let mut answer = json!({"tool": calls[index].tool});
        if let Some(id) = &calls[index].id {
            answer["id"] = id.clone();
        }
        if let (Some(answer), Ok(Value::Object(envelope))) =
            (answer.as_object_mut(), serde_json::to_value(&envelope))
        {
            answer.extend(envelope);
        }
        status = print_json(&answer, failed).max(status);
    });
    Ok(status)
}

fn read() -> Result<Vec<Call>, Failure> {
    let mut calls = Vec::new();
    for (number, line) in std::io::stdin().lock().lines().enumerate() {
        let line = line.map_err(|error| {
            Failure::usage(format_args!("standard input cannot be read: {}", reason(&error)))
        })?;
        if line.trim().is_empty() {
            continue;
        }
        let call = serde_json::from_str(&line).map_err(|error| Failure {
            message: format!("line {} is no call: {error}", number + 1),
            hint: Some("write {\"tool\": NAME, \"arguments\": {…}} on every line".to_owned()),
            status: 2,
        })?;
        calls.push(call);
    }
    Ok(calls)
}
