//! `haft tool new`: create a tool to start from.

use std::io::Write as _;
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::{Path, PathBuf};

use haft_process::reason;
use haft_tools::tool_name_of_file;
use schemars::JsonSchema;
use serde::Serialize;

use super::arguments::{StarterLanguage, ToolNewArguments};
use super::{ToolRuntime, check};
use crate::commands::print::{print_json, print_text};
use crate::failure::{self, Failure};
use crate::places;
use crate::process_context::ProcessContext;

const PYTHON: &str = include_str!("starters/python");
const BASH: &str = include_str!("starters/bash");
const RUST: &str = include_str!("starters/rust");

/// Creates the tool, and checks it unless it has to be built first.
pub(super) fn run(arguments: &ToolNewArguments, process: &ProcessContext) -> Result<i32, Failure> {
    let file_name = format!("{}-tool", arguments.name.replace('_', "-"));
    let Some(name) = tool_name_of_file(&file_name) else {
        let message = format_args!("invalid tool name '{}'", arguments.name).to_string();
        return Err(Failure::usage(message).with_hint("use letters, digits and '_'"));
    };
    let here = process.working_directory.clone().unwrap_or_else(|| PathBuf::from("/"));
    match arguments.lang {
        StarterLanguage::Rust => {
            let package = here.join(arguments.into.as_deref().unwrap_or(Path::new("."))).join(&file_name);
            write(&package.join("Cargo.toml"), &manifest(&file_name), 0o666)?;
            write(&package.join("src/main.rs"), &RUST.replace("NAME", &name), 0o666)?;
            let hint = format!(
                "build it with `cargo build --release` in '{}' and put target/release/{file_name} where tools are",
                package.display()
            );
            print_result(arguments, &name, &package, Some(&hint), 0)
        }
        StarterLanguage::Python | StarterLanguage::Bash => {
            let text = if arguments.lang == StarterLanguage::Python { PYTHON } else { BASH };
            let places = places::find(process);
            let project = places.project.as_ref().map(|project| project.join("tools"));
            let in_project = arguments.into.is_none() && project.is_some();
            let usual = project.or_else(|| places.user.map(|user| user.join("tools")));
            let Some(directory) = arguments.into.clone().or(usual) else {
                return Err(no_tools_directory(&name));
            };
            let path = here.join(directory).join(&file_name);
            write(&path, &text.replace("NAME", &name), 0o777)?;
            let findings = ToolRuntime::new(process)?.registry.check_tool(&path);
            let good = check::is_good(&findings);
            if !good {
                failure::print_stderr(&check::text(&findings));
            }
            let hint =
                in_project.then_some("run `haft trust` before you call it, since it belongs to a project");
            print_result(arguments, &name, &path, hint, i32::from(!good))
        }
    }
}

/// The error if neither a project nor the user has a directory for tools.
fn no_tools_directory(name: &str) -> Failure {
    let message = format!("cannot create tool '{name}': HOME is not set, so there is no directory for tools");
    let hint = "set HOME, or choose a directory with `--into DIR`".to_owned();
    Failure { hint: Some(hint), ..Failure::usage(message) }
}

fn manifest(package: &str) -> String {
    format!(
        "[package]\nname = \"{package}\"\nversion = \"0.1.0\"\nedition = \"2024\"\n\n[dependencies]\nserde_json = \"1\"\n\n[workspace]\n"
    )
}

/// Writes a new file and its directories. Fails if the file exists.
fn write(path: &Path, text: &str, mode: u32) -> Result<(), Failure> {
    let failed = |error: std::io::Error| {
        Failure::new(format_args!("cannot write '{}': {}", path.display(), reason(&error)), 1)
    };
    std::fs::create_dir_all(path.parent().unwrap_or(path)).map_err(failed)?;
    let options = std::fs::OpenOptions::new().write(true).create_new(true).mode(mode).open(path);
    options.and_then(|mut file| file.write_all(text.as_bytes())).map_err(failed)
}

/// A tool that was created.
#[derive(JsonSchema, Serialize)]
pub(crate) struct NewToolReport<'a> {
    name: &'a str,
    /// The executable; for Rust, the package.
    path: &'a Path,
    /// Whether it passes `haft tool check`.
    ok: bool,
}

fn print_result(
    arguments: &ToolNewArguments,
    name: &str,
    path: &Path,
    hint: Option<&str>,
    status: i32,
) -> Result<i32, Failure> {
    if arguments.json {
        return Ok(print_json(&NewToolReport { name, path, ok: status == 0 }, status));
    }
    let status = print_text(&format!("{}\n", path.display()), status);
    if let Some(hint) = hint {
        failure::print_hint(hint);
    }
    Ok(status)
}
