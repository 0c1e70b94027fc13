//! The completions of a word that a specification yields.

use haft_text::Bytes;
use haft_text::pattern::{Pattern, has_operators};

use super::{actions, function, word_list};
use crate::flow::Unwind;
use crate::options::ShellOption;
use crate::session::Session;
use crate::session::completion::{CompletionOption, CompletionOptions, CompletionSpec};

/// The word that is completed, and the command line around it.
#[derive(Clone, Debug, Default)]
pub(in super::super) struct Completing {
    /// The name of the command whose argument is completed.
    pub(super) command: Bytes,
    /// The word, or the part of it after the last word break.
    pub(super) word: Bytes,
    /// The command line.
    pub(super) line: Bytes,
    /// The cursor in the line, in bytes.
    pub(super) cursor: usize,
    /// The words of the line.
    pub(super) words: Vec<Bytes>,
    /// The number of the word at the cursor, counted from 1; 0 if there is no line.
    pub(super) number: usize,
    /// `COMP_TYPE`: the kind of completion.
    pub(super) kind: u8,
    /// `COMP_KEY`: the key that was pressed.
    pub(super) key: u8,
}

impl Completing {
    /// A word without a command line, for `compgen`.
    pub(in super::super) fn of_word(command: Bytes, word: Bytes) -> Self {
        Self { command, word, ..Self::default() }
    }
}

/// Completions.
#[derive(Debug, Default)]
pub(in super::super) struct Candidates {
    pub(in super::super) names: Vec<Bytes>,
    /// Whether the function has asked to start again, with status 124.
    pub(in super::super) retry: bool,
    /// Whether some of the names are names of files.
    pub(in super::super) are_files: bool,
}

/// Returns the completions of a word.
pub(in super::super) fn candidates(
    session: &mut Session,
    spec: &CompletionSpec,
    completing: &Completing,
) -> Result<Candidates, Unwind> {
    let mut found = Candidates::default();
    actions::add_all(session, spec, &completing.word, &mut found)?;
    if let Some(pattern) = &spec.glob_pattern {
        let paths = session.glob(pattern)?;
        found.are_files |= !paths.is_empty();
        found.names.extend(paths.into_iter().map(Bytes::from));
    }
    if let Some(words) = &spec.words {
        let prefix = dequoted(&completing.word);
        let words = word_list::expand(session, words)?;
        found.names.extend(words.into_iter().filter(|word| word.starts_with(&prefix)));
    }
    if let Some(name) = &spec.function {
        let reply = function::call(session, name, completing)?;
        if reply.retry {
            return Ok(Candidates { retry: true, ..Candidates::default() });
        }
        found.names.extend(reply.names);
    }
    if let Some(command) = &spec.command {
        found.names.extend(function::run_command(session, command, completing)?);
    }
    finish(session, spec, completing, found)
}

/// Applies `-X`, `-P`, `-S` and the options for directories.
fn finish(
    session: &mut Session,
    spec: &CompletionSpec,
    completing: &Completing,
    mut found: Candidates,
) -> Result<Candidates, Unwind> {
    if let Some(filter) = &spec.filter {
        apply_filter(session, filter, &completing.word, &mut found.names);
    }
    if spec.prefix.is_some() || spec.suffix.is_some() {
        let affix = |text: &Option<Bytes>| text.clone().unwrap_or_default();
        let (prefix, suffix) = (affix(&spec.prefix), affix(&spec.suffix));
        for name in &mut found.names {
            *name = [&*prefix, name, &*suffix].concat().into();
        }
    }
    let only_directories = found.names.is_empty() && spec.options.has(CompletionOption::Directories);
    if only_directories || spec.options.has(CompletionOption::PlusDirectories) {
        let directories = actions::files(session, &completing.word, actions::FileChoice::Directories)?;
        found.are_files |= !directories.is_empty();
        found.names.extend(directories);
    }
    Ok(found)
}

/// Removes names that match a pattern, or with `!` names that do not. An unquoted `&` in the pattern stands for the word.
fn apply_filter(session: &Session, filter: &[u8], word: &[u8], names: &mut Vec<Bytes>) {
    let text = with_word(filter, word);
    let is_negated = text.starts_with(b"!")
        && !(session.options.shell(ShellOption::ExtendedGlob) && text.get(1) == Some(&b'('));
    let pattern = Pattern::compile(&text[usize::from(is_negated)..], session.pattern_options());
    names.retain(|name| pattern.matches(name) == is_negated);
}

/// Replaces each unquoted `&`; a quoted one loses its backslash.
fn with_word(filter: &[u8], word: &[u8]) -> Vec<u8> {
    let mut text = Vec::with_capacity(filter.len());
    let mut bytes = filter.iter().copied();
    while let Some(byte) = bytes.next() {
        match byte {
            b'\\' => match bytes.next() {
                Some(b'&') => text.push(b'&'),
                next => {
                    text.push(b'\\');
                    text.extend(next);
                }
            },
            b'&' => text.extend_from_slice(word),
            byte => text.push(byte),
        }
    }
    text
}

/// Returns the completions of the options `bashdefault` and `default`.
pub(in super::super) fn default_candidates(
    session: &mut Session,
    options: CompletionOptions,
    word: &[u8],
) -> Result<Vec<Bytes>, Unwind> {
    let mut found = Vec::new();
    if options.has(CompletionOption::BashDefault) {
        found = bash_default(session, word)?;
    }
    if found.is_empty() && options.has(CompletionOption::Default) {
        found = actions::files(session, word, actions::FileChoice::All)?;
    }
    Ok(found)
}

/// The completions of bash that are not names of files: variables, users, and the matches of a pattern.
fn bash_default(session: &mut Session, word: &[u8]) -> Result<Vec<Bytes>, Unwind> {
    if let Some(name) = word.strip_prefix(b"$") {
        let names = actions::named(session, "variable", name)?;
        return Ok(names.into_iter().map(|name| [b"$", name.as_bytes()].concat().into()).collect());
    }
    if let Some(user) = word.strip_prefix(b"~")
        && !user.contains(&b'/')
    {
        let names = actions::named(session, "user", user)?;
        return Ok(names.into_iter().map(|name| [b"~", name.as_bytes()].concat().into()).collect());
    }
    match has_operators(word, session.options.shell(ShellOption::ExtendedGlob)) {
        true => Ok(session.glob(word)?.into_iter().map(Bytes::from).collect()),
        false => Ok(Vec::new()),
    }
}

/// Removes quotes and backslashes. A quote may be left open.
pub(super) fn dequoted(word: &[u8]) -> Vec<u8> {
    let mut plain = Vec::with_capacity(word.len());
    let mut quote = None;
    let mut bytes = word.iter().copied();
    while let Some(byte) = bytes.next() {
        match (byte, quote) {
            (b'\\', None | Some(b'"')) => plain.extend(bytes.next()),
            (b'\'' | b'"', None) => quote = Some(byte),
            (byte, Some(open)) if byte == open => quote = None,
            (byte, _) => plain.push(byte),
        }
    }
    plain
}
