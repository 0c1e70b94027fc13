//! All meanings of a command name, for `type` and `command -v`.

use std::os::unix::ffi::OsStrExt as _;

use haft_text::Bytes;

use super::{Context, function_listing};
use crate::options::ShellOption;
use crate::session::Session;

/// A meaning of a name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum NameMeaning {
    Alias(Bytes),
    Keyword,
    Function(Vec<u8>),
    Builtin {
        special: bool,
    },
    /// A command that the embedding program added to the kernel.
    Added,
    /// A script on the script path.
    Script(Bytes),
    /// A program; `hashed` if the path is from the hash table.
    File {
        path: Bytes,
        hashed: bool,
    },
    /// A tool of the backend.
    Tool,
}

/// The kinds of names to look up.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct NameQuery<'a> {
    /// All meanings instead of the first.
    pub(super) all: bool,
    /// No functions.
    pub(super) no_functions: bool,
    /// Programs only.
    pub(super) files_only: bool,
    /// A path to search instead of `PATH`.
    pub(super) path: Option<&'a [u8]>,
}

pub(super) const KEYWORDS: &[&str] = &[
    "!", "[[", "]]", "case", "coproc", "do", "done", "elif", "else", "esac", "fi", "for", "function", "if",
    "in", "select", "then", "time", "until", "while", "{", "}",
];

/// Returns the meanings of a name, in lookup order.
pub(super) fn meanings(session: &mut Session, name: &[u8], search: NameQuery<'_>) -> Vec<NameMeaning> {
    let mut found = Vec::new();
    if !search.files_only {
        if session.options.shell(ShellOption::ExpandAliases)
            && let Some(value) = session.definitions.aliases().get(name)
        {
            found.push(NameMeaning::Alias(value.clone()));
        }
        if KEYWORDS.iter().any(|keyword| keyword.as_bytes() == name) {
            found.push(NameMeaning::Keyword);
        }
        if !search.no_functions
            && let Some(definition) = session.function(name)
        {
            found.push(NameMeaning::Function(function_listing::definition(&definition)));
        }
        if let Some(builtin) = session.find_builtin(name) {
            found.push(NameMeaning::Builtin { special: builtin.special });
        }
    }
    if found.is_empty() || search.all {
        let programs = found.len();
        files(session, name, search, &mut found);
        if !search.files_only {
            extensions(session, name, search.all, programs, &mut found);
        }
    }
    if !search.all {
        found.truncate(1);
    }
    if let [NameMeaning::File { hashed: true, .. }] = &*found {
        session.caches.use_command(name, 1);
    }
    found
}

/// Adds the meanings that bash does not have. A script that asks for one meaning gets a program first, as from bash; a list of all
/// meanings is in lookup order.
fn extensions(session: &Session, name: &[u8], all: bool, programs: usize, found: &mut Vec<NameMeaning>) {
    let mut before = Vec::new();
    if session.kernel.added(name).is_some() || (all && has_stand_in(session, name)) {
        before.push(NameMeaning::Added);
    }
    before.extend(session.find_script(name).map(NameMeaning::Script));
    if all {
        found.splice(programs..programs, before);
    } else {
        found.extend(before);
    }
    if session.kernel.backend.as_ref().is_some_and(|backend| backend.has_tool(name)) {
        found.push(NameMeaning::Tool);
    }
}

fn has_stand_in(session: &Session, name: &[u8]) -> bool {
    let listed = session.kernel.stand_ins.listed(name);
    listed.is_some_and(|name| !session.definitions.disabled_builtins().contains(&name))
}

fn files(session: &Session, name: &[u8], search: NameQuery<'_>, found: &mut Vec<NameMeaning>) {
    if name.contains(&b'/') {
        if is_program(session, name) {
            found.push(NameMeaning::File { path: name.into(), hashed: false });
        }
        return;
    }
    if !search.all
        && search.path.is_none()
        && let Some((path, _)) = session.caches.commands().get(name)
        && (!search.files_only || is_program(session, path))
    {
        found.push(NameMeaning::File { path: path.clone(), hashed: true });
        return;
    }
    let path = match search.path {
        Some(path) => path.into(),
        None => session.value(b"PATH").unwrap_or_default(),
    };
    let mut not_executable = None;
    for directory in path.split(|byte| *byte == b':') {
        let directory = if directory.is_empty() { b"." } else { directory };
        let candidate = [directory, if directory.ends_with(b"/") { b"" } else { b"/" }, name].concat();
        if is_program(session, &candidate) {
            found.push(NameMeaning::File { path: candidate.into(), hashed: false });
            if !search.all {
                return;
            }
        } else if not_executable.is_none() && is_file(session, &candidate) {
            not_executable = Some(candidate);
        }
    }
    // A file that cannot be executed is better than none, except in a list of all meanings.
    if let Some(path) = not_executable.filter(|_| !search.all) {
        found.push(NameMeaning::File { path: path.into(), hashed: false });
    }
}

fn is_file(session: &Session, path: &[u8]) -> bool {
    let absolute = session.resolve(path);
    session.kernel.files.metadata(haft_text::path(&absolute)).is_ok_and(|metadata| metadata.is_file())
}

/// Tells whether a path is an executable file.
pub(super) fn is_program(session: &Session, path: &[u8]) -> bool {
    let absolute = session.resolve(path);
    let files = &session.kernel.files;
    let place = haft_text::path(&absolute);
    files.metadata(place).is_ok_and(|metadata| metadata.is_file())
        && files.access(place, haft_fs::AccessMode::EXECUTE).is_ok()
}

/// Returns the sentence that `type` and `command -V` print for a meaning.
pub(super) fn sentence(context: &Context<'_>, name: &[u8], meaning: &NameMeaning) -> Vec<u8> {
    let posix = context.options().has(crate::options::SetOption::Posix);
    let rest: Vec<u8> = match meaning {
        NameMeaning::Alias(value) => [b" is aliased to `", &value[..], b"'\n"].concat(),
        NameMeaning::Keyword => b" is a shell keyword\n".to_vec(),
        NameMeaning::Function(definition) => [b" is a function\n", &definition[..]].concat(),
        NameMeaning::Builtin { special: true } if posix => b" is a special shell builtin\n".to_vec(),
        NameMeaning::Builtin { .. } => b" is a shell builtin\n".to_vec(),
        NameMeaning::Added => b" is a command of haft\n".to_vec(),
        NameMeaning::Script(path) => [b" is a script (", &path[..], b")\n"].concat(),
        NameMeaning::Tool => b" is a tool\n".to_vec(),
        NameMeaning::File { path, hashed: true } => [b" is hashed (", &path[..], b")\n"].concat(),
        NameMeaning::File { path, hashed: false } => [b" is ", &path[..], b"\n"].concat(),
    };
    [name, &rest].concat()
}

/// Returns the default `PATH`, which finds all standard utilities.
pub(super) fn standard_path() -> &'static [u8] {
    std::ffi::OsStr::new("/bin:/usr/bin").as_bytes()
}
