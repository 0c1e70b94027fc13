//! The tool `changes`: looks at the changes in overlays, commits them, discards them, or takes a commit back.

use std::path::{Path, PathBuf};

use haft_overlay::{Change, ChangeCounts, Error, OnConflict, Overlay, OverlaySummary, Selection};
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::Deserialize;
use serde_json::{Value, json};

use super::overlays::{Committer, OverlaySetup, OverlayTable, explain, lock, until_released};
use super::reply::ToolReply;
use super::server_state::ServerState;

/// Arguments of the tool `changes`.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct ChangesArguments {
    #[serde(default)]
    action: ChangesAction,
    /// The overlay (default: the newest).
    #[serde(default)]
    id: Option<String>,
    /// Only these files and directories.
    #[serde(default)]
    paths: Vec<PathBuf>,
    /// Overwrite files that changed outside meanwhile.
    #[serde(default)]
    force: bool,
}

#[derive(Clone, Copy, Debug, Default, Deserialize, PartialEq, Eq)]
#[serde(rename_all = "lowercase")]
enum ChangesAction {
    #[default]
    List,
    Show,
    Diff,
    Commit,
    Discard,
    Undo,
}

impl JsonSchema for ChangesAction {
    fn schema_name() -> std::borrow::Cow<'static, str> {
        "ChangesAction".into()
    }

    /// The names alone. A derived schema would have a description for each, which every client sends to its model.
    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({ "type": "string", "enum": ["list", "show", "diff", "commit", "discard", "undo"] })
    }
}

/// Carries out an action. It may read and rename many files.
pub(crate) fn changes(
    state: &ServerState,
    owner: u64,
    arguments: &ChangesArguments,
) -> Result<ToolReply, String> {
    let table = &state.overlays;
    let committer = match &table.setup {
        Some(OverlaySetup::Always(overlay)) => return changes_of_server(&lock(overlay), arguments),
        Some(OverlaySetup::OnRequest { committer, .. }) => *committer,
        None => return Err("this server has no overlays".to_owned()),
    };
    if arguments.action == ChangesAction::List {
        return list(table, owner);
    }
    let id = match &arguments.id {
        Some(id) => table.own_id(id, owner)?,
        None => {
            let newest = table.ids(owner).pop();
            newest.ok_or("no overlay was opened; run(script=\"…\", overlay=true) opens one")?
        }
    };
    let writes = matches!(arguments.action, ChangesAction::Commit | ChangesAction::Undo);
    if writes && committer == Committer::Person {
        return Err(format!(
            "the user decides about this\nhint: ask the user to run `haft changes commit {id}`"
        ));
    }
    match arguments.action {
        ChangesAction::List | ChangesAction::Show | ChangesAction::Diff => {
            with_overlay(table, &id, |overlay| look(overlay, arguments))
        }
        ChangesAction::Commit => commit(&mut unused(state, &id)?, arguments),
        ChangesAction::Undo => undo(&mut unused(state, &id)?, arguments.force),
        ChangesAction::Discard => {
            drop(unused(state, &id)?);
            table.discard(&id)?;
            Ok(ToolReply::new(format!("discarded overlay '{id}'\n"), json!({ "discarded": id })))
        }
    }
}

/// The overlay that the whole server works in can be looked at.
fn changes_of_server(overlay: &Overlay, arguments: &ChangesArguments) -> Result<ToolReply, String> {
    match arguments.action {
        ChangesAction::List | ChangesAction::Show | ChangesAction::Diff => look(overlay, arguments),
        ChangesAction::Commit | ChangesAction::Discard | ChangesAction::Undo => Err(format!(
            "everything in this server runs in overlay '{0}', and the user decides about it afterwards\n\
             hint: the user can run `haft changes commit {0}` when the server has ended",
            overlay.id()
        )),
    }
}

fn list(table: &OverlayTable, owner: u64) -> Result<ToolReply, String> {
    let mut text = String::new();
    let mut data = Vec::new();
    for id in table.ids(owner) {
        let line = with_overlay(table, &id, |overlay| {
            let changes = overlay.changes().map_err(|error| explain(&error))?;
            let (summary, counts) = (overlay.summary_of(&changes), ChangeCounts::new(&changes));
            let trees: Vec<String> = summary.trees.iter().map(|tree| tree.display().to_string()).collect();
            let commits = match summary.commits {
                0 => String::new(),
                1 => ", 1 commit".to_owned(),
                count => format!(", {count} commits"),
            };
            let data = json!({ "overlay": summary, "counts": counts });
            Ok((format!("{id}  {}  {counts}{commits}\n", trees.join(" ")), data))
        });
        match line {
            Ok((line, overlay)) => {
                text.push_str(&line);
                data.push(overlay);
            }
            Err(message) => text.push_str(&format!("{id}  {message}\n")),
        }
    }
    if text.is_empty() {
        text.push_str("no overlays\n");
    }
    Ok(ToolReply::new(text, json!({ "overlays": data })))
}

/// Uses an overlay, whether or not a script runs in it.
fn with_overlay<T>(
    table: &OverlayTable,
    id: &str,
    action: impl FnOnce(&Overlay) -> Result<T, String>,
) -> Result<T, String> {
    match table.in_use(id) {
        Some(open) => action(&open.overlay()),
        None => action(&find(table, id)?),
    }
}

/// An overlay that no script uses. Waits for what has just ended.
fn unused(state: &ServerState, id: &str) -> Result<Overlay, String> {
    let released = until_released(|| {
        state.release_overlays();
        state.overlays.in_use(id).is_none().then_some(())
    });
    if released.is_none() {
        return Err(format!(
            "overlay '{id}' is in use by a running script, a background process or a session with open files\n\
             hint: wait for it or end it, then try again"
        ));
    }
    find(&state.overlays, id)
}

fn find(table: &OverlayTable, id: &str) -> Result<Overlay, String> {
    table.find(id).inspect_err(|_| table.forget_missing(id))
}

/// Lists the changes, or shows them as a patch.
fn look(overlay: &Overlay, arguments: &ChangesArguments) -> Result<ToolReply, String> {
    let chosen = absolute(overlay, &arguments.paths);
    let mut changes = overlay.changes().map_err(|error| explain(&error))?;
    let summary = overlay.summary_of(&changes);
    changes.retain(|change| chosen.is_empty() || chosen.iter().any(|path| change.path.starts_with(path)));
    if arguments.action == ChangesAction::Diff {
        let mut patch = Vec::new();
        overlay.write_diff(&changes, &mut patch).map_err(|error| explain(&error))?;
        let text = String::from_utf8_lossy(&patch).into_owned();
        let data = report(&summary, &changes);
        return Ok(ToolReply::new(if text.is_empty() { "no changes\n".to_owned() } else { text }, data));
    }
    let text = format!("{}{}\n", overlay.describe(&changes), ChangeCounts::new(&changes));
    Ok(ToolReply::new(text, report(&summary, &changes)))
}

fn report(overlay: &OverlaySummary, changes: &[Change]) -> Value {
    json!({ "overlay": overlay, "counts": ChangeCounts::new(changes), "changes": changes })
}

fn commit(overlay: &mut Overlay, arguments: &ChangesArguments) -> Result<ToolReply, String> {
    let chosen = absolute(overlay, &arguments.paths);
    let selection = Selection::new(chosen, &[]).map_err(|error| explain(&error))?;
    let paths = overlay.commit(&selection, on_conflict(arguments.force)).map_err(|error| refused(&error))?;
    let id = overlay.id();
    let text = format!(
        "committed {} of overlay '{id}'\n[take it back: changes(action=\"undo\", id=\"{id}\")]\n",
        count_paths(paths)
    );
    Ok(ToolReply::new(text, json!({ "id": id, "paths": paths })))
}

fn undo(overlay: &mut Overlay, force: bool) -> Result<ToolReply, String> {
    let paths = overlay.undo(on_conflict(force)).map_err(|error| refused(&error))?;
    let id = overlay.id();
    let text = format!("took {} back; the changes are in overlay '{id}' again\n", count_paths(paths));
    Ok(ToolReply::new(text, json!({ "id": id, "paths": paths })))
}

/// An error with the hint for a tool call, in place of the one for the command line.
fn refused(error: &Error) -> String {
    match error {
        Error::Conflicts(_) => {
            format!("{error}\nhint: \"force\": true overwrites them; \"paths\" commits only some files")
        }
        _ => explain(error),
    }
}

fn on_conflict(force: bool) -> OnConflict {
    if force { OnConflict::Overwrite } else { OnConflict::Refuse }
}

fn count_paths(count: usize) -> String {
    if count == 1 { "1 path".to_owned() } else { format!("{count} paths") }
}

/// Absolute paths. Relative ones are relative to the first directory of the overlay.
fn absolute(overlay: &Overlay, paths: &[PathBuf]) -> Vec<PathBuf> {
    let base = overlay.trees().next().unwrap_or(Path::new("/"));
    paths.iter().map(|path| base.join(path).components().collect()).collect()
}
