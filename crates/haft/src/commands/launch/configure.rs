//! `haft launch init`, `edit` and `completions`.

use std::fs::{DirBuilder, OpenOptions};
use std::io::Write as _;
use std::path::{Path, PathBuf};

use haft_config::{CONFIG_FILE_NAME, PROJECT_DIRECTORY};
use haft_process::{Command, Signals, StartPermission, reason};
use schemars::JsonSchema;
use serde::Serialize;

use super::catalogue::LaunchSetup;
use crate::commands::print::{print_json, print_text};
use crate::failure::Failure;
use crate::process_context::ProcessContext;

/// A configuration that was created.
#[derive(JsonSchema, Serialize)]
pub(crate) struct InitReport<'a> {
    path: &'a Path,
}

/// A configuration with comments.
const STARTER: &str = include_str!("starter.toml");

/// Creates a configuration. Fails if it exists.
pub(super) fn init(user: bool, as_json: bool, process: &ProcessContext) -> Result<i32, Failure> {
    let world = LaunchSetup::load(process)?;
    let directory =
        if user { user_directory(&world)? } else { world.launch.working_directory.join(PROJECT_DIRECTORY) };
    let path = directory.join(CONFIG_FILE_NAME);
    let cannot = |error: std::io::Error| {
        let message = format!("cannot write '{}': {}", world.shown(&path).display(), reason(&error));
        let exists = error.kind() == std::io::ErrorKind::AlreadyExists;
        let hint = exists.then(|| "change it with `haft launch edit`".to_owned());
        Failure { message, hint, status: 1 }
    };
    DirBuilder::new().recursive(true).create(&directory).map_err(cannot)?;
    let mut file = OpenOptions::new().write(true).create_new(true).open(&path).map_err(cannot)?;
    file.write_all(STARTER.as_bytes()).map_err(cannot)?;
    if as_json {
        return Ok(print_json(&InitReport { path: &path }, 0));
    }
    Ok(print_text(&format!("{}\n", world.shown(&path).display()), 0))
}

/// Replaces this process with the user's editor.
pub(super) fn edit(user: bool, process: &ProcessContext) -> Result<i32, Failure> {
    let world = LaunchSetup::load(process)?;
    let project = world.places.project.as_ref().map(|place| place.join(CONFIG_FILE_NAME));
    let path = match project.filter(|path| !user && path.is_file()) {
        Some(path) => path,
        None => user_directory(&world)?.join(CONFIG_FILE_NAME),
    };
    if !path.is_file() {
        let hint = Some(format!("create it with `haft launch init{}`", if user { " --user" } else { "" }));
        let message = format!("no configuration file '{}'", world.shown(&path).display());
        return Err(Failure { hint, ..Failure::usage(message) });
    }
    let editor = ["VISUAL", "EDITOR"].iter().find_map(|name| process.variable(name));
    let editor = editor.map_or_else(|| "vi".to_owned(), |editor| editor.to_string_lossy().into_owned());
    let mut words = editor.split_whitespace();
    let mut command = Command::new(words.next().unwrap_or("vi"));
    command.arguments(words).argument(&path).environment(process.environment.clone());
    command.ignore_signals(Signals::ignored_now());
    Err(command.replace(&StartPermission::all()).into())
}

pub(super) fn user_directory(world: &LaunchSetup) -> Result<PathBuf, Failure> {
    let missing = || Failure {
        hint: Some("set HOME or XDG_CONFIG_HOME".to_owned()),
        ..Failure::usage("no directory for the user's configuration")
    };
    world.places.user.as_deref().map(Path::to_path_buf).ok_or_else(missing)
}
