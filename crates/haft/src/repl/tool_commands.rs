//! The slash commands `/tool`, `/refresh` and `/toolset`.

use haft_tools::ToolSnapshot;

use crate::commands::tool::{LIST_WAIT, describe, omitted, table};
use crate::tools::SessionTools;

/// Lists all tools, or describes one.
pub(super) fn tool(tools: &SessionTools, name: &str) -> String {
    if name.is_empty() {
        return all(&tools.registry().wait_for_all_within(LIST_WAIT));
    }
    match tools.registry().find(name) {
        Ok(tool) => describe(&tool),
        Err(fault) => format!("{}\n", fault.message),
    }
}

/// Reads the schemas of changed tools again, and lists all tools.
pub(super) fn refresh(tools: &SessionTools) -> String {
    all(&tools.registry().refresh())
}

/// The tools, then shadowed and rejected ones.
fn all(snapshot: &ToolSnapshot) -> String {
    table(snapshot) + &omitted(snapshot)
}

/// Shows the toolset, or sets it; `-` allows all tools.
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
            format!("only tools of '{}' can be called; `/toolset -` allows all\n", toolset.name())
        }
        None => "all tools can be called\n".to_owned(),
    };
    let names = tools.toolsets();
    if names.is_empty() { now } else { format!("{now}toolsets: {}\n", names.join(", ")) }
}
