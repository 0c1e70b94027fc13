//! The tasks of the configuration as MCP prompts.

use std::collections::BTreeMap;
use std::sync::Arc;

use haft_launch::{LaunchKind, LaunchRequest, PromptAssembly, run_commands};
use haft_mcp::Prompt;
use haft_process::{CancelToken, Host};

use super::catalogue::LaunchSetup;
use crate::failure::Failure;
use crate::process_context::ProcessContext;

/// A prompt for each task. Tasks of an untrusted project are left out, since their descriptions reach the agent.
pub(crate) fn of_tasks(process: &ProcessContext, host: &Arc<Host>) -> Vec<Prompt> {
    let Ok(catalogue) = LaunchSetup::load(process).and_then(|world| world.trusted_catalogue()) else {
        return Vec::new();
    };
    let prompt = |task: &haft_launch::LaunchTask| {
        let (name, host, process) = (task.name.clone(), host.clone(), process.clone());
        let text = move |given: &BTreeMap<String, String>| {
            let said = given.get("instructions").map(|text| text.clone().into_bytes());
            text(&name, said, &process, &host).map_err(|failure| failure.message)
        };
        let unsaid = || format!("The task {:?} of the launcher", task.name);
        let description = task.description.clone().unwrap_or_else(unsaid);
        Prompt {
            name: task.name.clone(),
            description,
            parameters: vec![("instructions".to_owned(), Some("Additional instructions".to_owned()), false)],
            text: Box::new(text),
        }
    };
    catalogue.tasks().iter().map(prompt).collect()
}

/// Assembles the text of a task with its contexts.
fn text(
    task: &str,
    instructions: Option<Vec<u8>>,
    process: &ProcessContext,
    host: &Host,
) -> Result<String, Failure> {
    let world = LaunchSetup::load(process)?;
    let catalogue = world.trusted_catalogue()?;
    // The text does not depend on the agent, which need not be installed.
    let agent = catalogue.agents().first().map(|agent| agent.name().to_owned());
    let kind = LaunchKind::Task(task.to_owned());
    let request = LaunchRequest { kind, agent, no_role: true, instructions, ..LaunchRequest::default() };
    let selection = catalogue.select(&request, &world.launch)?;
    let assembly = PromptAssembly::new(&selection, &request, &world.launch);
    let found = run_commands(assembly.commands(), &process.environment, host, &CancelToken::new());
    let material = assembly.finish(&found)?;
    Ok(String::from_utf8_lossy(&material.prompt).into_owned())
}
