//! `compgen`: possible completions of a word.

use std::collections::BTreeSet;

use haft_text::Bytes;
use haft_text::pattern::{Pattern, quote_into};

use super::name_lookup::KEYWORDS;
use super::options::OptionFlag;
use super::{Context, options};
use crate::flow::{Flow, Unwind};
use crate::options::{SetOption, ShellOption};
use crate::session::Session;
use crate::variables::Attributes;

/// The options that `compgen` and `complete` share.
pub(super) const OPTIONS: &str = "abcdefgjksuvo:A:G:W:F:C:X:P:S:";

/// Letters that are short for `-A` with an action name.
const ACTION_LETTERS: [(u8, &str); 12] = [
    (b'a', "alias"),
    (b'b', "builtin"),
    (b'c', "command"),
    (b'd', "directory"),
    (b'e', "export"),
    (b'f', "file"),
    (b'g', "group"),
    (b'j', "job"),
    (b'k', "keyword"),
    (b's', "service"),
    (b'u', "user"),
    (b'v', "variable"),
];

pub(super) fn run(context: &mut Context<'_>, arguments: &[Bytes]) -> Flow {
    let (flags, operands) = match options::parse(context, arguments, OPTIONS) {
        Ok(parsed) => parsed,
        Err(end) => return end,
    };
    let word = operands.first().cloned().unwrap_or_default();
    let mut found = Vec::new();
    for flag in &flags {
        let Some(names) = generate(context, flag, &word)? else {
            let text = String::from_utf8_lossy(flag.text()).into_owned();
            context.error(format_args!("{text}: invalid action name"));
            return Ok(2);
        };
        found.extend(names);
    }
    filter(context.session_mut(), &flags, &mut found);
    if found.is_empty() {
        return Ok(1);
    }
    let value = |letter| flags.iter().find(|flag| flag.letter == letter).map_or(&b""[..], OptionFlag::text);
    let (prefix, suffix) = (value(b'P'), value(b'S'));
    let lines: Vec<u8> = found.iter().flat_map(|name| [prefix, name, suffix, b"\n"].concat()).collect();
    context.print(&lines)
}

/// Returns the completions of one option, or `None` if its action does not exist.
fn generate(
    context: &mut Context<'_>,
    flag: &OptionFlag<'_>,
    word: &[u8],
) -> Result<Option<Vec<Bytes>>, Unwind> {
    let session = context.session_mut();
    let all = match flag.letter {
        b'A' => match action(session, flag.text(), word)? {
            Some(names) => names,
            None => return Ok(None),
        },
        b'W' => {
            let list = session.expand_text(flag.text())?;
            split(session, &list)
        }
        // The paths of a pattern are not filtered by the word.
        b'G' => {
            return session.glob(flag.text()).map(|paths| Some(paths.into_iter().map(Bytes::from).collect()));
        }
        letter => match ACTION_LETTERS.iter().find(|(known, _)| *known == letter) {
            Some((_, name)) => action(session, name.as_bytes(), word)?.unwrap_or_default(),
            None => Vec::new(),
        },
    };
    Ok(Some(all.into_iter().filter(|name| name.starts_with(word)).collect()))
}

/// Returns the names of an action, or `None` if there is no such action.
fn action(session: &mut Session, name: &[u8], word: &[u8]) -> Result<Option<Vec<Bytes>>, Unwind> {
    let text = |names: &[&str]| names.iter().map(|name| Bytes::from(*name)).collect::<Vec<_>>();
    Ok(Some(match name {
        b"alias" => session.definitions.aliases().keys().cloned().collect(),
        b"arrayvar" => variables(session, |variable| variable.is_array()),
        b"builtin" | b"helptopic" => super::ALL.iter().map(|builtin| builtin.name.into()).collect(),
        b"enabled" => {
            let on =
                |builtin: &&super::Builtin| !session.definitions.disabled_builtins().contains(&builtin.name);
            super::ALL.iter().filter(on).map(|builtin| builtin.name.into()).collect()
        }
        b"disabled" => text(session.definitions.disabled_builtins()),
        b"command" => commands(session, word)?,
        b"directory" => files(session, word, true)?,
        b"file" => files(session, word, false)?,
        b"export" => variables(session, |variable| variable.is(Attributes::EXPORT)),
        b"function" => functions(session),
        b"group" => session.names_in(b"/etc/group"),
        b"user" => session.names_in(b"/etc/passwd"),
        b"job" | b"running" => session.jobs.iter().map(|job| first_word(&job.text)).collect(),
        b"keyword" => text(KEYWORDS),
        b"setopt" => SetOption::ALL.iter().map(|(_, name, _)| (*name).into()).collect(),
        b"shopt" => ShellOption::ALL.iter().map(|(_, name)| (*name).into()).collect(),
        b"signal" => {
            (1..=64).filter_map(haft_process::signal_name).map(|name| format!("SIG{name}").into()).collect()
        }
        b"variable" => variables(session, |_| true),
        b"binding" | b"hostname" | b"service" | b"stopped" => Vec::new(),
        _ => return Ok(None),
    }))
}

fn variables(session: &Session, chosen: impl Fn(&crate::variables::Variable) -> bool) -> Vec<Bytes> {
    let set =
        session.variables.sorted().into_iter().filter(|(_, variable)| variable.is_set() && chosen(variable));
    set.map(|(name, _)| name.clone()).collect()
}

fn functions(session: &Session) -> Vec<Bytes> {
    let names: BTreeSet<Bytes> = session.definitions.functions().keys().cloned().collect();
    names.into_iter().collect()
}

/// Returns the names of commands.
fn commands(session: &mut Session, word: &[u8]) -> Result<Vec<Bytes>, Unwind> {
    let mut names: Vec<Bytes> = session.definitions.aliases().keys().cloned().collect();
    names.extend(KEYWORDS.iter().map(|name| Bytes::from(*name)));
    names.extend(functions(session));
    names.extend(super::ALL.iter().map(|builtin| Bytes::from(builtin.name)));
    let path = session.value(b"PATH").unwrap_or_default();
    let mut programs = BTreeSet::new();
    for directory in path.split(|byte| *byte == b':').filter(|directory| !directory.is_empty()) {
        let mut pattern = Vec::new();
        quote_into(&mut pattern, &[directory, b"/", word].concat());
        pattern.push(b'*');
        for found in session.glob(&pattern)? {
            let name = found.rsplit(|byte| *byte == b'/').next().unwrap_or_default();
            programs.insert(Bytes::from(name));
        }
    }
    names.extend(programs);
    Ok(names)
}

fn files(session: &mut Session, word: &[u8], directories: bool) -> Result<Vec<Bytes>, Unwind> {
    let mut pattern = Vec::new();
    quote_into(&mut pattern, word);
    pattern.push(b'*');
    let mut found = session.glob(&pattern)?;
    if directories {
        found.retain(|path| {
            let resolved = session.resolve(path);
            session.kernel.files.metadata(haft_text::path(&resolved)).is_ok_and(|metadata| metadata.is_dir())
        });
    }
    Ok(found.into_iter().map(Bytes::from).collect())
}

fn split(session: &Session, list: &[u8]) -> Vec<Bytes> {
    let separators = session.value(b"IFS").unwrap_or_else(|| " \t\n".into());
    let words = list.split(|byte| separators.contains(byte)).filter(|word| !word.is_empty());
    words.map(Bytes::from).collect()
}

fn first_word(text: &[u8]) -> Bytes {
    text.split(|byte| *byte == b' ').next().unwrap_or_default().into()
}

/// `-X`: removes names that match a pattern, or with `!` names that do not.
fn filter(session: &Session, flags: &[OptionFlag<'_>], found: &mut Vec<Bytes>) {
    for flag in flags.iter().filter(|flag| flag.letter == b'X') {
        let (text, keep) = match flag.text() {
            [b'!', text @ ..] => (text, true),
            text => (text, false),
        };
        let pattern = Pattern::compile(text, session.pattern_options());
        found.retain(|name| pattern.matches(name) == keep);
    }
}
