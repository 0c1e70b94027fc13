//! Completion with the specifications of `complete`.

use std::os::unix::ffi::OsStrExt as _;
use std::path::Path;

use haft_kernel::builtins::{CompletionRequest, ProgrammableCompletion};
use haft_kernel::{CompletionOption, Session};
use haft_lang::ast::{CommandKind, SimpleCommand};
use haft_lang::walk::SyntaxNode;

use super::quoting::quoted;
use crate::repl::editor::{CompletionCandidate, CompletionList};
use crate::repl::syntax;

/// The completions at the cursor; `None` if no specification applies.
pub(crate) fn complete(session: &mut Session, text: &str, cursor: usize) -> Option<CompletionList> {
    let before = text.get(..cursor)?;
    let command = CommandAtCursor::find(session, text, before)?;
    let request = CompletionRequest {
        line: &text.as_bytes()[command.start..command.end],
        cursor: cursor - command.start,
        command: command.name.as_deref(),
    };
    // `exit` in a completion function does not end the shell.
    let found = session.complete_line(&request).ok().flatten()?;
    let start = command.start + found.start;
    let quote = before[..start].chars().next_back().filter(|last| matches!(last, '\'' | '"'));
    let candidates = found.candidates.iter();
    let candidates = candidates.map(|name| candidate(session, &found, name, quote)).collect();
    Some(CompletionList { start, candidates })
}

/// The simple command that the cursor is in.
struct CommandAtCursor {
    start: usize,
    end: usize,
    /// The name, if the cursor is in a word after it.
    name: Option<Vec<u8>>,
}

impl CommandAtCursor {
    fn find(session: &Session, text: &str, before: &str) -> Option<Self> {
        if text.trim().is_empty() {
            return Some(Self { start: 0, end: text.len(), name: None });
        }
        let mut options = session.parse_options();
        options.aliases = None;
        let program = syntax::parse_unfinished(&format!("{before}x"), &options).ok()?;
        let mut found = None;
        SyntaxNode::List(&program.body).descend(&mut |node| {
            if let SyntaxNode::Command(command) = node
                && let CommandKind::Simple(simple) = &command.kind
            {
                found = Self::of(simple, before.len()).or(found.take());
            }
        });
        let (start, name) = found?;
        let rest = &text[before.len()..];
        let end = before.len() + rest.find([';', '|', '&', '\n', ')']).unwrap_or(rest.len());
        Some(Self { start, end, name })
    }

    /// The start of a command whose words the cursor is in, and its name.
    fn of(simple: &SimpleCommand, cursor: usize) -> Option<(usize, Option<Vec<u8>>)> {
        let holds = |start: u32, end: u32| start as usize <= cursor && cursor < end as usize;
        let spans = || simple.arguments.iter().map(|argument| argument.span());
        let at = spans().position(|span| holds(span.start, span.end))?;
        let start = spans().next()?.start as usize;
        match at {
            0 => Some((start, None)),
            _ => Some((start, Some(simple.arguments[0].word()?.literal()?.to_vec()))),
        }
    }
}

/// The candidate that replaces the word at the cursor.
fn candidate(
    session: &Session,
    found: &ProgrammableCompletion,
    name: &[u8],
    quote: Option<char>,
) -> CompletionCandidate {
    let plain = String::from_utf8_lossy(name).into_owned();
    let is_directory = found.are_files && is_directory(session, name);
    let slash = if is_directory && !plain.ends_with('/') { "/" } else { "" };
    let (tilde, rest) = if name.starts_with(b"~") { name.split_at(1) } else { name.split_at(0) };
    let text = match found.are_files && !found.options.has(CompletionOption::NoQuote) {
        true => String::from_utf8_lossy(tilde).into_owned() + &quoted(rest, quote),
        false => plain.clone(),
    };
    let ends = !is_directory && !found.options.has(CompletionOption::NoSpace);
    let closing = quote.filter(|_| ends).map(String::from).unwrap_or_default();
    let shown = match found.are_files {
        true => plain.rsplit('/').next().unwrap_or_default().to_owned() + slash,
        false => plain,
    };
    CompletionCandidate { shown, text: text + slash + &closing, tail: if ends { " " } else { "" } }
}

fn is_directory(session: &Session, name: &[u8]) -> bool {
    let home = session.value(b"HOME").unwrap_or_default();
    let path = match name.strip_prefix(b"~") {
        Some(rest) if rest.starts_with(b"/") => [&*home, rest].concat(),
        _ => name.to_vec(),
    };
    Path::new(std::ffi::OsStr::from_bytes(&session.resolve(&path))).is_dir()
}
