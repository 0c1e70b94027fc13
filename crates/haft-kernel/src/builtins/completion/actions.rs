//! The names that an action (`-A`) yields.

use std::collections::BTreeSet;

use haft_fs::AccessMode;
use haft_text::Bytes;

use super::super::name_lookup::KEYWORDS;
use super::super::{ALL, Builtin};
use super::candidates::{Candidates, dequoted};
use crate::flow::Unwind;
use crate::jobs::JobState;
use crate::options::{SetOption, ShellOption};
use crate::session::completion::CompletionSpec;
use crate::session::{Session, readline};
use crate::variables::{Attributes, Variable};

/// The actions in the order in which bash lists their names.
const ORDER: [&str; 24] = [
    "alias",
    "arrayvar",
    "binding",
    "builtin",
    "disabled",
    "enabled",
    "export",
    "function",
    "helptopic",
    "hostname",
    "job",
    "keyword",
    "running",
    "setopt",
    "shopt",
    "signal",
    "stopped",
    "variable",
    "command",
    "file",
    "user",
    "group",
    "service",
    "directory",
];

/// Topics of bash's `help` that are not builtins.
const OTHER_TOPICS: [&str; 15] = [
    "%",
    "(( ... ))",
    "[[ ... ]]",
    "case",
    "coproc",
    "for",
    "for ((",
    "function",
    "if",
    "select",
    "time",
    "until",
    "variables",
    "while",
    "{ ... }",
];

/// Names of traps that are not signals, in the order of bash.
const PSEUDO_SIGNALS: [&str; 3] = ["DEBUG", "ERR", "RETURN"];
/// The number of the last signal.
const LAST_SIGNAL: i32 = 64;

/// Dynamic variables that are arrays.
const DYNAMIC_ARRAYS: [&[u8]; 10] = [
    b"BASH_ALIASES",
    b"BASH_ARGC",
    b"BASH_ARGV",
    b"BASH_CMDS",
    b"BASH_LINENO",
    b"BASH_SOURCE",
    b"DIRSTACK",
    b"FUNCNAME",
    b"GROUPS",
    b"PIPESTATUS",
];

/// Which files to list.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum FileChoice {
    All,
    Directories,
    /// Executable files, and directories.
    Executables,
}

/// Adds the names of all actions of a specification.
pub(super) fn add_all(
    session: &mut Session,
    spec: &CompletionSpec,
    word: &[u8],
    found: &mut Candidates,
) -> Result<(), Unwind> {
    let chosen: Vec<&str> = spec.actions().map(|action| action.name).collect();
    for action in ORDER.into_iter().filter(|action| chosen.contains(action)) {
        let names = named(session, action, word)?;
        found.are_files |= matches!(action, "file" | "directory") && !names.is_empty();
        found.names.extend(names);
    }
    Ok(())
}

/// Returns the names of an action that begin with a word.
pub(super) fn named(session: &mut Session, action: &str, word: &[u8]) -> Result<Vec<Bytes>, Unwind> {
    match action {
        "file" => return files(session, word, FileChoice::All),
        "directory" => return files(session, word, FileChoice::Directories),
        "command" => return commands(session, word),
        _ => {}
    }
    let prefix = dequoted(word);
    let mut names = listed(session, action);
    names.retain(|name| name.starts_with(&prefix));
    Ok(names)
}

/// Returns all names of an action that does not depend on the word.
fn listed(session: &Session, action: &str) -> Vec<Bytes> {
    let text = |names: &[&str]| names.iter().map(|name| Bytes::from(*name)).collect::<Vec<_>>();
    match action {
        "alias" => sorted(session.definitions.aliases().keys().cloned()),
        "arrayvar" => variables(session, |name, variable| {
            variable.is_array() || (variable.is(Attributes::DYNAMIC) && DYNAMIC_ARRAYS.contains(&name))
        }),
        "binding" => text(&readline::FUNCTIONS),
        "builtin" => builtins(|_| true),
        "enabled" => builtins(|builtin| !session.definitions.disabled_builtins().contains(&builtin.name)),
        "disabled" => builtins(|builtin| session.definitions.disabled_builtins().contains(&builtin.name)),
        "export" => variables(session, |_, variable| variable.is(Attributes::EXPORT)),
        "function" => sorted(session.definitions.functions().keys().cloned()),
        "helptopic" => sorted(OTHER_TOPICS.into_iter().map(Bytes::from).chain(builtins(|_| true))),
        "hostname" => host_names(session),
        "group" => session.names_in(b"/etc/group"),
        "user" => session.names_in(b"/etc/passwd"),
        "service" => first_columns(&session.system_table(b"/etc/services")),
        "job" => jobs(session, |_| true),
        "running" => jobs(session, |state| state == JobState::Running),
        "stopped" => jobs(session, |state| matches!(state, JobState::Stopped(_))),
        "keyword" => text(KEYWORDS),
        "setopt" => SetOption::ALL.iter().map(|(_, name, _)| (*name).into()).collect(),
        "shopt" => ShellOption::ALL.iter().map(|(_, name)| (*name).into()).collect(),
        "signal" => signals(),
        "variable" => variables(session, |_, _| true),
        _ => Vec::new(),
    }
}

fn sorted(names: impl Iterator<Item = Bytes>) -> Vec<Bytes> {
    names.collect::<BTreeSet<_>>().into_iter().collect()
}

fn builtins(chosen: impl Fn(&Builtin) -> bool) -> Vec<Bytes> {
    ALL.iter().filter(|builtin| chosen(builtin)).map(|builtin| builtin.name.into()).collect()
}

fn variables(session: &Session, chosen: impl Fn(&[u8], &Variable) -> bool) -> Vec<Bytes> {
    let visible = |name: &[u8], variable: &Variable| match variable.is(Attributes::DYNAMIC) {
        true => name != b"FUNCNAME" || session.calls.is_in_function(),
        false => variable.is_set(),
    };
    let all = session.variables.sorted().into_iter();
    let found = all.filter(|(name, variable)| visible(name, variable) && chosen(name, variable));
    found.map(|(name, _)| name.clone()).collect()
}

fn signals() -> Vec<Bytes> {
    let name = |number| match haft_process::signal_name(number) {
        Some(name) => format!("SIG{name}").into(),
        None => format!("SIGJUNK({number})").into(),
    };
    let names = std::iter::once(Bytes::from("EXIT")).chain((1..=LAST_SIGNAL).map(name));
    names.chain(PSEUDO_SIGNALS.into_iter().map(Bytes::from)).collect()
}

/// The first words of jobs, the newest first.
fn jobs(session: &Session, chosen: impl Fn(JobState) -> bool) -> Vec<Bytes> {
    let chosen = session.jobs.iter().rev().filter(|job| chosen(job.state()));
    let first_word =
        |text: &[u8]| text.split(|byte| b" \t\n".contains(byte)).next().unwrap_or_default().into();
    chosen.map(|job| first_word(&job.text)).collect()
}

/// The host names in `HOSTFILE`, or else in `/etc/hosts`.
fn host_names(session: &Session) -> Vec<Bytes> {
    let file = session.value(b"HOSTFILE").unwrap_or_else(|| "/etc/hosts".into());
    let table = session.system_table(&file);
    let mut names: Vec<Bytes> = Vec::new();
    for line in table.split(|byte| *byte == b'\n') {
        let line = line.split(|byte| *byte == b'#').next().unwrap_or_default();
        let words = line.split(u8::is_ascii_whitespace).filter(|word| !word.is_empty());
        for name in words.skip(1).map(Bytes::from) {
            if !names.contains(&name) {
                names.push(name);
            }
        }
    }
    names
}

fn first_columns(table: &[u8]) -> Vec<Bytes> {
    let lines = table.split(|byte| *byte == b'\n').filter(|line| !line.starts_with(b"#"));
    let words = lines.filter_map(|line| line.split(u8::is_ascii_whitespace).next());
    words.filter(|word| !word.is_empty()).map(Bytes::from).collect()
}

/// Returns the names of commands that begin with a word; for a word with a slash, executable files.
fn commands(session: &mut Session, word: &[u8]) -> Result<Vec<Bytes>, Unwind> {
    if word.contains(&b'/') {
        return files(session, word, FileChoice::Executables);
    }
    let mut names = Vec::new();
    for action in ["alias", "keyword", "function", "enabled"] {
        names.extend(named(session, action, word)?);
    }
    let path = session.value(b"PATH").unwrap_or_default();
    let mut programs = BTreeSet::new();
    for directory in path.split(|byte| *byte == b':').filter(|directory| !directory.is_empty()) {
        let typed = [directory, b"/", word].concat();
        for file in files(session, &typed, FileChoice::Executables)? {
            if !is_directory(session, &file) {
                programs.insert(Bytes::from(&file[directory.len() + 1..]));
            }
        }
    }
    names.extend(programs);
    Ok(names)
}

/// Returns the files that begin with a word, sorted. Each is written as the word is: relative, absolute or with a tilde.
pub(super) fn files(session: &Session, word: &[u8], choice: FileChoice) -> Result<Vec<Bytes>, Unwind> {
    let word = if session.is_completing() { dequoted(word) } else { word.to_vec() };
    let split = word.iter().rposition(|byte| *byte == b'/').map_or(0, |at| at + 1);
    let (directory, prefix) = word.split_at(split);
    let path = session.resolve(&without_tilde(session, directory));
    let entries = session.kernel.files.read_dir(haft_text::path(&path));
    let mut names: Vec<Vec<u8>> = Vec::new();
    for entry in entries.into_iter().flatten().flatten() {
        session.check()?;
        let name = entry.name.as_encoded_bytes();
        if name.starts_with(prefix) {
            names.push(name.to_vec());
        }
    }
    if prefix.starts_with(b".") {
        names.extend([b".".to_vec(), b"..".to_vec()].into_iter().filter(|name| name.starts_with(prefix)));
    }
    names.sort_unstable();
    let full = names.into_iter().map(|name| Bytes::from([directory, &name].concat()));
    Ok(full.filter(|name| is_chosen(session, name, choice)).collect())
}

fn is_chosen(session: &Session, name: &[u8], choice: FileChoice) -> bool {
    match choice {
        FileChoice::All => true,
        FileChoice::Directories => is_directory(session, name),
        FileChoice::Executables => {
            let path = session.resolve(&without_tilde(session, name));
            session.kernel.files.access(haft_text::path(&path), AccessMode::EXECUTE).is_ok()
        }
    }
}

fn is_directory(session: &Session, name: &[u8]) -> bool {
    let path = session.resolve(&without_tilde(session, name));
    session.kernel.files.is_dir(haft_text::path(&path))
}

/// Replaces `~user` at the start of a path.
fn without_tilde(session: &Session, path: &[u8]) -> Vec<u8> {
    let expanded = path.strip_prefix(b"~").and_then(|rest| {
        let end = rest.iter().position(|byte| *byte == b'/')?;
        Some([&*session.tilde(&rest[..end])?, &rest[end..]].concat())
    });
    expanded.unwrap_or_else(|| path.to_vec())
}
