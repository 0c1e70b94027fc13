//! `/tool`, `/refresh` and `/toolset`: tools, for the person at the prompt.

use haft_tools::ToolSnapshot;

use crate::commands::tool::{describe, rest, table};
use crate::tools::SessionTools;

/// All tools, or all that one says of itself.
pub(super) fn tool(tools: &SessionTools, name: &str) -> String {
    if name.is_empty() {
        return all(&tools.registry().wait_for_all());
    }
    match tools.registry().find(name) {
        Ok(tool) => describe(&tool),
        Err(fault) => format!("{}\n", fault.message),
    }
}

/// All tools, asked again.
pub(super) fn refresh(tools: &SessionTools) -> String {
    all(&tools.registry().refresh())
}

/// The tools, then what is none of them.
fn all(snapshot: &ToolSnapshot) -> String {
    table(snapshot) + &rest(snapshot)
}

/// Shows the toolset, or limits what may be called to one; with `-` the limit is lifted.
pub(super) fn toolset(tools: &SessionTools, name: &str) -> String {
    let chosen = match name {
        "" => return shown(tools),
        "-" => tools.choose(None),
        name => tools.choose(Some(name)),
    };
    match chosen {
        Ok(()) => shown(tools),
        Err(failure) => {
            let hint = failure.hint.map_or(String::new(), |hint| format!("hint: {hint}\n"));
            format!("{}\n{hint}", failure.message)
        }
    }
}

fn shown(tools: &SessionTools) -> String {
    let now = match tools.toolset() {
        Some(toolset) => {
            format!("only tools of '{}' may be called; `/toolset -` lifts that\n", toolset.name())
        }
        None => "all tools may be called\n".to_owned(),
    };
    let there = tools.toolsets();
    if there.is_empty() { now } else { format!("{now}toolsets: {}\n", there.join(", ")) }
}
