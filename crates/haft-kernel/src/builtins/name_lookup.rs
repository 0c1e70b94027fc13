//! What a name means, all of it: for `type` and `command -v`.

use std::os::unix::ffi::OsStrExt as _;

use haft_text::Bytes;

use super::{Context, function_listing};
use crate::options::ShellOption;
use crate::session::Session;

/// One thing that a name means.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Meaning {
    Alias(Bytes),
    Keyword,
    Function(Vec<u8>),
    Builtin {
        special: bool,
    },
    /// A command that was added to the kernel.
    Added,
    /// A script on the script path.
    Script(Bytes),
    /// A program; `hashed` if it was remembered.
    File {
        path: Bytes,
        hashed: bool,
    },
    /// A tool of the backend.
    Tool,
}

/// What is looked for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Search<'a> {
    /// All meanings, not only the first.
    pub(super) all: bool,
    /// Not functions.
    pub(super) no_functions: bool,
    /// Programs alone.
    pub(super) files_only: bool,
    /// Another `PATH`.
    pub(super) path: Option<&'a [u8]>,
}

pub(super) const KEYWORDS: &[&str] = &[
    "!", "[[", "]]", "case", "coproc", "do", "done", "elif", "else", "esac", "fi", "for", "function", "if",
    "in", "select", "then", "time", "until", "while", "{", "}",
];

/// What a name means, in the order in which it would be taken.
pub(super) fn meanings(session: &Session, name: &[u8], search: Search<'_>) -> Vec<Meaning> {
    let mut found = Vec::new();
    if !search.files_only {
        if session.options.shell(ShellOption::ExpandAliases)
            && let Some(value) = session.definitions.aliases().get(name)
        {
            found.push(Meaning::Alias(value.clone()));
        }
        if KEYWORDS.iter().any(|keyword| keyword.as_bytes() == name) {
            found.push(Meaning::Keyword);
        }
        if !search.no_functions
            && let Some(definition) = session.function(name)
        {
            found.push(Meaning::Function(function_listing::definition(&definition)));
        }
        if let Some(builtin) = session.find_builtin(name) {
            found.push(Meaning::Builtin { special: builtin.special });
        }
    }
    if found.is_empty() || search.all {
        let programs = found.len();
        files(session, name, search, &mut found);
        if !search.files_only {
            beyond(session, name, search.all, programs, &mut found);
        }
    }
    if !search.all {
        found.truncate(1);
    }
    found
}

/// What bash does not know of. A script that asks what a name means learns of a program first, as from bash; all
/// meanings are shown in the order in which they are taken.
fn beyond(session: &Session, name: &[u8], all: bool, programs: usize, found: &mut Vec<Meaning>) {
    let mut before = Vec::new();
    if session.kernel.added(name).is_some() {
        before.push(Meaning::Added);
    }
    before.extend(session.find_script(name).map(Meaning::Script));
    if all {
        found.splice(programs..programs, before);
    } else {
        found.extend(before);
    }
    if session.kernel.backend.as_ref().is_some_and(|backend| backend.has_tool(name)) {
        found.push(Meaning::Tool);
    }
}

fn files(session: &Session, name: &[u8], search: Search<'_>, found: &mut Vec<Meaning>) {
    if name.contains(&b'/') {
        if is_program(session, name) {
            found.push(Meaning::File { path: name.into(), hashed: false });
        }
        return;
    }
    if !search.all
        && search.path.is_none()
        && let Some((path, _)) = session.caches.commands().get(name)
        && (!search.files_only || is_program(session, path))
    {
        found.push(Meaning::File { path: path.clone(), hashed: true });
        return;
    }
    let path = match search.path {
        Some(path) => path.into(),
        None => session.value(b"PATH").unwrap_or_default(),
    };
    for directory in path.split(|byte| *byte == b':') {
        let directory = if directory.is_empty() { b"." } else { directory };
        let candidate = [directory, if directory.ends_with(b"/") { b"" } else { b"/" }, name].concat();
        if is_program(session, &candidate) {
            found.push(Meaning::File { path: candidate.into(), hashed: false });
            if !search.all {
                return;
            }
        }
    }
}

/// Whether a file is there that may be run.
pub(super) fn is_program(session: &Session, path: &[u8]) -> bool {
    let absolute = session.resolve(path);
    let files = &session.kernel.files;
    let place = haft_text::path(&absolute);
    files.metadata(place).is_ok_and(|metadata| metadata.is_file())
        && files.access(place, haft_fs::AccessMode::EXECUTE).is_ok()
}

/// The whole sentence that `type` and `command -V` say of a meaning.
pub(super) fn sentence(context: &Context<'_>, name: &[u8], meaning: &Meaning) -> Vec<u8> {
    let posix = context.session.options.has(crate::options::SetOption::Posix);
    let rest: Vec<u8> = match meaning {
        Meaning::Alias(value) => [b" is aliased to `", &value[..], b"'\n"].concat(),
        Meaning::Keyword => b" is a shell keyword\n".to_vec(),
        Meaning::Function(definition) => [b" is a function\n", &definition[..]].concat(),
        Meaning::Builtin { special: true } if posix => b" is a special shell builtin\n".to_vec(),
        Meaning::Builtin { .. } => b" is a shell builtin\n".to_vec(),
        Meaning::Added => b" is a command of haft\n".to_vec(),
        Meaning::Script(path) => [b" is a script (", &path[..], b")\n"].concat(),
        Meaning::Tool => b" is a tool\n".to_vec(),
        Meaning::File { path, hashed: true } => [b" is hashed (", &path[..], b")\n"].concat(),
        Meaning::File { path, hashed: false } => [b" is ", &path[..], b"\n"].concat(),
    };
    [name, &rest].concat()
}

/// The default `PATH`, which holds all standard programs.
pub(super) fn standard_path() -> &'static [u8] {
    std::ffi::OsStr::new("/bin:/usr/bin").as_bytes()
}
