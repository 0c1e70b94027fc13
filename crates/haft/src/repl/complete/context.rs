//! Finds what to complete at the cursor, from the syntax tree.
//!
//! The text before the cursor is parsed with one more letter, so that there is a word at the cursor.

use haft_kernel::Session;
use haft_lang::ast::{CommandKind, PartKind, SimpleCommand, Span};
use haft_lang::walk::SyntaxNode;

use crate::repl::syntax;

/// The kind of word to complete.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum CompletionKind {
    Command,
    File,
    /// An argument of this command: one of its parameters, or a file.
    Argument(Vec<u8>),
    Directory,
    /// The name of a variable, in `${…}` if braced.
    Variable {
        braced: bool,
    },
}

/// The kind of word to complete, and its start in the text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct CompletionContext {
    pub(super) start: usize,
    pub(super) kind: CompletionKind,
}

/// Commands whose first operand is a command.
const PREFIXES: [&[u8]; 13] = [
    b"sudo", b"env", b"command", b"exec", b"builtin", b"nohup", b"setsid", b"xargs", b"time", b"watch",
    b"which", b"type", b"man",
];

const DIRECTORY_COMMANDS: [&[u8]; 3] = [b"cd", b"pushd", b"rmdir"];

impl CompletionContext {
    pub(super) fn find(before: &str, session: &Session) -> Self {
        let probe = format!("{before}x");
        let mut options = session.parse_options();
        options.aliases = None;
        let mut finder = ContextFinder { before, found: None };
        match syntax::parse_unfinished(&probe, &options) {
            Ok(program) => SyntaxNode::List(&program.body).descend(&mut |node| finder.look(node)),
            Err(_) => return Self::by_blanks(before),
        }
        finder.found.unwrap_or_else(|| Self::by_blanks(before))
    }

    /// For a text that cannot be parsed: the last blank-separated word.
    fn by_blanks(before: &str) -> Self {
        let start = before.rfind([' ', '\t', '\n', ';', '|', '&', '(', '<', '>']).map_or(0, |at| at + 1);
        Self { start, kind: CompletionKind::File }
    }
}

struct ContextFinder<'a> {
    before: &'a str,
    /// The innermost context so far; enclosing nodes come first.
    found: Option<CompletionContext>,
}

impl ContextFinder<'_> {
    fn holds(&self, span: Span) -> bool {
        let cursor = self.before.len();
        span.start as usize <= cursor && cursor < span.end as usize
    }

    fn look(&mut self, node: SyntaxNode<'_>) {
        match node {
            SyntaxNode::Command(command) => {
                if let CommandKind::Simple(simple) = &command.kind {
                    self.look_at_words(simple);
                }
            }
            SyntaxNode::Word(word) if self.holds(word.span) => {
                let start = self.value_start(word.span.start as usize);
                // The kind that the command set for this word stays.
                if self.found.as_ref().is_none_or(|found| found.start != start) {
                    self.found = Some(CompletionContext { start, kind: CompletionKind::File });
                }
            }
            SyntaxNode::Part(part) if self.holds(part.span) => match &part.kind {
                PartKind::Variable(_) | PartKind::Parameter(_) => self.parameter(part.span),
                _ => {}
            },
            _ => {}
        }
    }

    fn look_at_words(&mut self, simple: &SimpleCommand) {
        let Some(at) = simple.arguments.iter().position(|argument| self.holds(argument.span())) else {
            return;
        };
        let literal =
            |index: usize| simple.arguments.get(index).and_then(|argument| argument.word()?.literal());
        let is_option =
            |index: usize| literal(index).is_some_and(|word| word.starts_with(b"-") || word.contains(&b'='));
        let after_prefix =
            at > 0 && literal(0).is_some_and(|name| PREFIXES.contains(&name)) && (1..at).all(is_option);
        let kind = match literal(0) {
            _ if at == 0 || after_prefix => CompletionKind::Command,
            Some(name) if DIRECTORY_COMMANDS.contains(&name) => CompletionKind::Directory,
            Some(name) if !self.before[simple.arguments[at].span().start as usize..].contains('=') => {
                CompletionKind::Argument(name.to_vec())
            }
            _ => CompletionKind::File,
        };
        let start = self.value_start(simple.arguments[at].span().start as usize);
        self.found = Some(CompletionContext { start, kind });
    }

    /// The start of the file name in a word: after the `=` of `--option=`.
    fn value_start(&self, start: usize) -> usize {
        let Some(typed) = self.before.get(start..) else { return start };
        match typed.find('=') {
            Some(at)
                if typed[..at].bytes().all(|byte| byte.is_ascii_alphanumeric() || b"-_".contains(&byte)) =>
            {
                start + at + 1
            }
            _ => start,
        }
    }

    fn parameter(&mut self, span: Span) {
        let start = span.start as usize;
        let Some(typed) = self.before.get(start..) else { return };
        let braced = typed.starts_with("${");
        let skipped = typed.find(|c: char| !matches!(c, '$' | '{' | '!' | '#')).unwrap_or(typed.len());
        self.variable(start + skipped, braced);
    }

    fn variable(&mut self, start: usize, braced: bool) {
        let name = self.before.get(start..);
        if name.is_some_and(|name| name.bytes().all(|byte| byte == b'_' || byte.is_ascii_alphanumeric())) {
            self.found = Some(CompletionContext { start, kind: CompletionKind::Variable { braced } });
        }
    }
}
