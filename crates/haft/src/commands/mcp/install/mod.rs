//! `haft mcp install` and `haft mcp uninstall`: edit the configuration of an agent.

pub(crate) mod json_array;
pub(crate) mod json_text;
mod target;
mod toml_text;

use std::io::ErrorKind;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};

use clap::Args;
use clap::builder::PossibleValuesParser;
use haft_config::printable;
use haft_process::reason;
use serde_json::{Value, json};

pub(crate) use self::target::describe_files;
use self::target::{InstallTarget, TARGETS};
use crate::commands::print::print_text;
use crate::commands::trust::confirm;
use crate::failure::{Failure, print_message};
use crate::process_context::ProcessContext;

/// The name of the server in all configurations.
const SERVER_NAME: &str = "haft";
/// Configuration files that are larger are not edited.
const MAX_FILE_BYTES: u64 = 16 << 20;
/// The number of unchanged lines that are shown around a change.
const CONTEXT_LINES: usize = 2;

#[derive(Args, Debug)]
pub(crate) struct InstallArguments {
    /// The agent
    #[arg(value_parser = PossibleValuesParser::new(TARGETS.iter().map(|target| target.agent)))]
    pub(crate) agent: String,
    /// Edit the configuration of the project in the working directory, not that of the user
    #[arg(long)]
    pub(crate) project: bool,
    /// Do not ask
    #[arg(long)]
    pub(crate) yes: bool,
}

/// The change to the server's entry in a configuration.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ConfigChange {
    Install,
    Uninstall,
}

/// Shows the change of an agent's configuration, asks, and writes it.
pub(crate) fn run(
    arguments: &InstallArguments,
    change: ConfigChange,
    process: &ProcessContext,
) -> Result<i32, Failure> {
    let file = file(arguments, process)?;
    let own = own_program(arguments.project);
    apply(&file, arguments.yes, SERVER_NAME, change, |text| {
        changed(&arguments.agent, change, &own, text).map_err(|reason| (reason, by_hand(&arguments.agent)))
    })
}

/// Shows a change of a configuration file, asks unless `yes` is set, and writes it. `changed` returns the new text, or a
/// reason and a hint.
pub(crate) fn apply(
    file: &Path,
    yes: bool,
    subject: &str,
    change: ConfigChange,
    changed: impl Fn(&str) -> Result<String, (String, String)>,
) -> Result<i32, Failure> {
    let old = read(file)?.unwrap_or_default();
    let new = changed(&old).map_err(|(reason, hint)| cannot("edit", file, &reason).with_hint(hint))?;
    if new == old {
        let state = if change == ConfigChange::Install { "is already" } else { "is not" };
        print_message(format_args!("{subject} {state} in '{}'", printable(file)));
        return Ok(0);
    }
    let status = print_text(&difference(file, &old, &new), 0);
    if !yes && !confirm("write this change?", "nothing was written", "--yes writes without asking")? {
        return Ok(1);
    }
    write(file, &new)?;
    print_message(format_args!("wrote '{}'", printable(file)));
    Ok(status)
}

/// Whether an agent whose configuration can be edited has haft neither in the user's configuration nor in that of the
/// project in the working directory.
pub(crate) fn is_missing(agent: &str, process: &ProcessContext) -> bool {
    let Some(target) = InstallTarget::named(agent) else { return false };
    let directory = process.working_directory.as_deref().unwrap_or_else(|| Path::new("."));
    let files = [target.user_file(process), target.project_file(directory)];
    let has_haft = |file: PathBuf| {
        let text = read(&file).ok().flatten().unwrap_or_default();
        changed(agent, ConfigChange::Uninstall, Path::new(""), &text).is_ok_and(|without| without != text)
    };
    !files.into_iter().flatten().any(has_haft)
}

fn file(arguments: &InstallArguments, process: &ProcessContext) -> Result<PathBuf, Failure> {
    let agent = &arguments.agent;
    let unknown = || Failure::usage(format_args!("unknown agent '{agent}'"));
    let target = InstallTarget::named(agent).ok_or_else(unknown)?;
    if !arguments.project {
        let no_home = || Failure::usage("cannot find the user's configuration: HOME is not set");
        return target.user_file(process).ok_or_else(no_home);
    }
    let directory = process.working_directory.as_deref().unwrap_or_else(|| Path::new("."));
    target
        .project_file(directory)
        .ok_or_else(|| Failure::usage(format_args!("{agent} has no configuration for a project")))
}

/// The program that agents start. A project's configuration is shared, so it names no path.
pub(crate) fn own_program(project: bool) -> PathBuf {
    let own = std::fs::read_link("/proc/self/exe").ok().filter(|_| !project);
    own.unwrap_or_else(|| SERVER_NAME.into())
}

/// The text of a configuration after the change.
fn changed(agent: &str, change: ConfigChange, own: &Path, text: &str) -> Result<String, String> {
    let config = haft_launch::mcp_config(agent, own).ok_or("unknown format")?;
    if config.file_name.ends_with(".toml") {
        return changed_toml(change, own, text);
    }
    let whole: Value = serde_json::from_str(&config.text).map_err(|error| error.to_string())?;
    let fields = whole.as_object().into_iter().flatten();
    let (section, value) = fields
        .filter_map(|(section, inner)| Some((section, inner.get(SERVER_NAME)?)))
        .next()
        .ok_or("unknown format")?;
    let new = match change {
        ConfigChange::Install => json_text::set(text, section, SERVER_NAME, value)?,
        ConfigChange::Uninstall => json_text::remove(text, section, SERVER_NAME)?,
    };
    let written = if new.trim().is_empty() { Value::Null } else { json_text::parse(&new)? };
    let expected = (change == ConfigChange::Install).then_some(value);
    match written.get(section).and_then(|servers| servers.get(SERVER_NAME)) == expected {
        true => Ok(new),
        false => Err("its structure is not understood".to_owned()),
    }
}

fn changed_toml(change: ConfigChange, own: &Path, text: &str) -> Result<String, String> {
    let table = format!("mcp_servers.{SERVER_NAME}");
    let command = Value::from(own.to_string_lossy());
    let arguments = json!(["mcp"]);
    let new = match change {
        ConfigChange::Install => {
            let entries = [("command", command.to_string()), ("args", arguments.to_string())];
            toml_text::set(text, &table, &entries)
        }
        ConfigChange::Uninstall => toml_text::remove(text, &table),
    };
    let (mut before, mut after) = (toml_text::parse(text)?, toml_text::parse(&new)?);
    take_server(&mut before);
    let written = take_server(&mut after);
    let right = match (change, &written) {
        (ConfigChange::Install, Some(entry)) => entry["command"] == command && entry["args"] == arguments,
        (ConfigChange::Uninstall, None) => true,
        _ => false,
    };
    if right && before == after { Ok(new) } else { Err("its structure is not understood".to_owned()) }
}

/// Removes the server from a parsed configuration, and the table of servers if nothing else is in it.
fn take_server(config: &mut Value) -> Option<Value> {
    let servers = config.get_mut("mcp_servers").and_then(Value::as_object_mut)?;
    let server = servers.remove(SERVER_NAME);
    if servers.is_empty() {
        config.as_object_mut()?.remove("mcp_servers");
    }
    server
}

/// The text of a file; `None` if it does not exist.
fn read(file: &Path) -> Result<Option<String>, Failure> {
    match std::fs::metadata(file) {
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(cannot("read", file, &reason(&error).to_string())),
        Ok(metadata) if metadata.len() > MAX_FILE_BYTES => {
            return Err(cannot("read", file, "it is too large"));
        }
        Ok(_) => {}
    }
    let text = std::fs::read_to_string(file);
    text.map(Some).map_err(|error| cannot("read", file, &reason(&error).to_string()))
}

/// Replaces a file atomically. A symbolic link stays, and so do the permissions.
fn write(file: &Path, text: &str) -> Result<(), Failure> {
    let failed = |error: std::io::Error| cannot("write", file, &reason(&error).to_string());
    let target = std::fs::canonicalize(file).unwrap_or_else(|_| file.to_owned());
    let directory = target.parent().unwrap_or_else(|| Path::new("."));
    std::fs::create_dir_all(directory).map_err(failed)?;
    let name = target.file_name().unwrap_or_default().to_string_lossy();
    let temporary = directory.join(format!(".{name}.haft-{}", std::process::id()));
    let mode = std::fs::metadata(&target).map_or(0o600, |metadata| metadata.permissions().mode());
    let written = std::fs::write(&temporary, text)
        .and_then(|()| std::fs::set_permissions(&temporary, std::fs::Permissions::from_mode(mode)))
        .and_then(|()| std::fs::rename(&temporary, &target));
    written.map_err(|error| {
        let _ = std::fs::remove_file(&temporary);
        failed(error)
    })
}

/// The changed lines with some lines around them, in the form of `diff -u`.
fn difference(file: &Path, old: &str, new: &str) -> String {
    let (old, new): (Vec<&str>, Vec<&str>) = (old.lines().collect(), new.lines().collect());
    let same = old.iter().zip(&new).take_while(|(one, other)| one == other).count();
    let rest = old.len().min(new.len()) - same;
    let tail =
        old.iter().rev().zip(new.iter().rev()).take(rest).take_while(|(one, other)| one == other).count();
    let mut shown = format!("--- {0}\n+++ {0}\n", printable(file));
    let mut lines = |mark: char, lines: &[&str]| {
        lines.iter().for_each(|line| shown.push_str(&format!("{mark}{line}\n")));
    };
    lines(' ', &old[same.saturating_sub(CONTEXT_LINES)..same]);
    lines('-', &old[same..old.len() - tail]);
    lines('+', &new[same..new.len() - tail]);
    lines(' ', &old[old.len() - tail..][..tail.min(CONTEXT_LINES)]);
    shown
}

fn by_hand(agent: &str) -> String {
    format!("edit it by hand: `haft mcp --print-config {agent}` prints what it needs")
}

fn cannot(doing: &str, file: &Path, why: &str) -> Failure {
    Failure { message: format!("cannot {doing} '{}': {why}", printable(file)), hint: None, status: 1 }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_agent_is_added_and_removed() {
        for target in &TARGETS {
            let own = Path::new("/usr/bin/haft");
            let text = if target.agent == "codex" { "model = \"x\"\n" } else { "{\n  \"a\": 1 // one\n}\n" };
            let new = changed(target.agent, ConfigChange::Install, own, text).expect(target.agent);
            assert!(new.contains("/usr/bin/haft"), "{new}");
            let old = changed(target.agent, ConfigChange::Uninstall, own, &new).expect(target.agent);
            assert_eq!(old, text, "{}", target.agent);
        }
    }

    #[test]
    fn the_difference_shows_the_changed_lines() {
        let shown = difference(Path::new("/f"), "a\nb\nc\nd\n", "a\nb\nx\nc\nd\n");
        assert_eq!(shown, "--- /f\n+++ /f\n a\n b\n+x\n c\n d\n");
    }

    #[test]
    fn an_inline_table_is_not_edited() {
        let own = Path::new("/usr/bin/haft");
        assert!(changed("codex", ConfigChange::Install, own, "mcp_servers = {}\n").is_err());
        assert!(changed("claude", ConfigChange::Install, own, "{\"mcpServers\": []}").is_err());
    }
}
