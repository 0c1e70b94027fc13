//! Programs, lists, statements and pipelines.

use crate::Expected;
use crate::ast::{
    Command, Connector, Duplicate, List, Pipeline, Program, Redirect, RedirectDescriptor, RedirectKind,
    SharedSlice, Span, Statement, TimeFormat,
};
use crate::error::{Opened, SyntaxError};

use super::bytes::{self, BREAK};
use super::reserved::Reserved;
use super::{Parser, Result};

/// The first token of a command.
#[derive(Clone, Copy)]
pub(super) enum CommandHead {
    /// `(`.
    Parenthesis,
    /// A reserved word that starts a command, and its end position.
    Reserved(Reserved, usize),
    /// Anything else.
    Word,
}

impl Parser<'_> {
    /// Parses the whole input.
    pub(super) fn program(&mut self) -> Result<Program> {
        let body = self.whole_list()?;
        Ok(Program { body, warnings: std::mem::take(&mut self.warnings).into() })
    }

    /// Parses a list that extends to the end of the input.
    pub(super) fn whole_list(&mut self) -> Result<List> {
        self.check_length()?;
        let list = self.list()?;
        if self.peek().is_some() {
            return Err(self.stray());
        }
        self.read_here_documents()?;
        Ok(list)
    }

    /// Parses the commands up to the end of a line, and further lines if a command continues there.
    pub(super) fn complete_command(&mut self) -> Result<Option<Program>> {
        self.check_length()?;
        self.skip_newlines()?;
        if self.peek().is_none() {
            return Ok(None);
        }
        let start = self.input.at;
        let mut statements = self.pool.statements.pop().unwrap_or_default();
        while let Some(head) = self.head() {
            statements.push(self.statement(head)?);
            self.skip_blanks();
            let separated = statements.last().is_some_and(|last| last.background) || self.eat_semicolon();
            self.skip_blanks();
            if !separated || self.peek() == Some(b'\n') {
                break;
            }
        }
        let span = self.span_from(start);
        self.skip_blanks();
        match self.peek() {
            None => self.read_here_documents()?,
            Some(b'\n') => self.newline()?,
            Some(_) => return Err(self.stray()),
        }
        let body = List { span, statements: self.arena.slice_from(&mut statements) };
        self.pool.statements.push(statements);
        Ok(Some(Program { body, warnings: std::mem::take(&mut self.warnings).into() }))
    }

    /// Parses statements, possibly none, and stops before the token that ends the list.
    pub(super) fn list(&mut self) -> Result<List> {
        self.skip_newlines()?;
        let start = self.input.at;
        let mut statements = self.pool.statements.pop().unwrap_or_default();
        let mut end = start;
        while let Some(head) = self.head() {
            statements.push(self.statement(head)?);
            end = self.input.at;
            self.skip_blanks();
            let separated = statements.last().is_some_and(|last| last.background) || self.eat_semicolon();
            self.skip_blanks();
            if !separated && self.peek() != Some(b'\n') {
                break;
            }
            self.skip_newlines()?;
        }
        let list =
            List { span: self.input.span(start, end), statements: self.arena.slice_from(&mut statements) };
        self.pool.statements.push(statements);
        Ok(list)
    }

    /// Parses a non-empty list inside an open construct.
    pub(super) fn body(&mut self, opened: Opened) -> Result<List> {
        let list = self.list()?;
        if list.statements.is_empty() {
            let mut error = self.unexpected(Some(Expected::Command), None);
            if error.incomplete {
                error.opened = Some(opened);
                error.expected = Some(Expected::CommandAnd(closer(opened.what)));
            } else {
                error.hint = Some("use \":\" as a command that does nothing".to_owned());
            }
            return Err(error);
        }
        Ok(list)
    }

    /// Whether a `;` comes next that does not start `;;` or `;&`.
    fn at_semicolon(&mut self) -> bool {
        self.peek() == Some(b';') && !matches!(self.peek_second(), Some(b';' | b'&'))
    }

    /// Consumes a `;` that does not start `;;` or `;&`.
    fn eat_semicolon(&mut self) -> bool {
        let found = self.at_semicolon();
        self.input.at += usize::from(found);
        found
    }

    /// Expands aliases and returns the first token of the next command; `None` at the end of a list.
    fn head(&mut self) -> Option<CommandHead> {
        self.skip_blanks();
        if self.options.aliases.is_some() {
            self.expand_aliases();
        }
        match self.peek()? {
            b')' | b';' | b'|' | b'\n' => None,
            b'&' if self.peek_second() != Some(b'>') => None,
            b'(' => Some(CommandHead::Parenthesis),
            _ => match self.reserved_ahead() {
                Some((reserved, _)) if reserved.closes() => None,
                Some((reserved, end)) => Some(CommandHead::Reserved(reserved, end)),
                None => Some(CommandHead::Word),
            },
        }
    }

    fn statement(&mut self, head: CommandHead) -> Result<Statement> {
        let start = self.input.at;
        let first = self.pipeline(head)?;
        let mut rest: Option<Vec<_>> = None;
        loop {
            self.skip_blanks();
            let connector = match self.peek() {
                Some(b'&') if self.eat_all(b"&&") => Connector::And,
                Some(b'|') if self.eat_all(b"||") => Connector::Or,
                _ => break,
            };
            self.skip_newlines()?;
            let head = self.require_command(if connector == Connector::And { "&&" } else { "||" })?;
            rest.get_or_insert_with(|| self.pool.pipelines.pop().unwrap_or_default())
                .push((connector, self.pipeline(head)?));
        }
        let background = self.peek() == Some(b'&') && self.peek_second() != Some(b'>') && self.eat(b'&');
        let span = self.span_from(start);
        let Some(mut pipelines) = rest else {
            return Ok(Statement { span, background, first, rest: SharedSlice::EMPTY });
        };
        let rest = self.arena.slice_from(&mut pipelines);
        self.pool.pipelines.push(pipelines);
        Ok(Statement { span, background, first, rest })
    }

    /// Fails unless a command follows the connector.
    fn require_command(&mut self, after: &'static str) -> Result<CommandHead> {
        if let Some(head) = self.head() {
            return Ok(head);
        }
        Err(self.unexpected(Some(Expected::CommandAfter(after)), None))
    }

    fn pipeline(&mut self, head: CommandHead) -> Result<Pipeline> {
        let start = self.input.at;
        let (mut negated, mut time, mut prefixed) = (false, None, false);
        let mut head = Some(head);
        while let Some(CommandHead::Reserved(reserved @ (Reserved::Bang | Reserved::Time), end)) = head {
            self.input.at = end;
            self.skip_blanks();
            prefixed = true;
            if reserved == Reserved::Bang {
                negated = !negated;
            } else {
                time = Some(self.time_format());
            }
            head = self.head();
        }
        let stages = if prefixed && (matches!(self.peek(), None | Some(b'\n')) || self.at_semicolon()) {
            SharedSlice::EMPTY
        } else {
            self.stages(head)?
        };
        Ok(Pipeline { span: self.span_from(start), negated, time, stages })
    }

    /// Parses the options of `time`.
    fn time_format(&mut self) -> TimeFormat {
        let posix = self.eat_word(b"-p");
        self.eat_word(b"--");
        if posix { TimeFormat::Posix } else { TimeFormat::Default }
    }

    /// Consumes a word if it comes next, and the blanks after it.
    fn eat_word(&mut self, text: &[u8]) -> bool {
        let start = self.input.at;
        let found = self.eat_all(text) && self.peek().is_none_or(|byte| bytes::is(byte, BREAK));
        if !found {
            self.input.at = start;
        }
        self.skip_blanks();
        found
    }

    fn stages(&mut self, head: Option<CommandHead>) -> Result<SharedSlice<Command>> {
        let first = self.command(head)?;
        self.skip_blanks();
        if self.peek() != Some(b'|') || self.peek_second() == Some(b'|') {
            return Ok(self.arena.slice_of(first));
        }
        let mut stages = self.pool.stages.pop().unwrap_or_default();
        stages.push(first);
        while self.peek() == Some(b'|') && self.peek_second() != Some(b'|') {
            let start = self.input.at;
            self.input.at += 1;
            if self.eat(b'&') {
                let span = self.span_from(start);
                stages.iter_mut().next_back().into_iter().for_each(|stage| merge_stderr(stage, span));
            }
            self.skip_newlines()?;
            let head = self.require_command("|")?;
            stages.push(self.command(Some(head))?);
            self.skip_blanks();
        }
        let slice = self.arena.slice_from(&mut stages);
        self.pool.stages.push(stages);
        Ok(slice)
    }

    /// Creates an error about a token that cannot end a list.
    pub(super) fn stray(&mut self) -> Box<SyntaxError> {
        let mut error = self.unexpected(None, None);
        let hint = match error.found.as_str() {
            "\"fi\"" => "there is no open \"if\"",
            "\"then\"" | "\"else\"" | "\"elif\"" => {
                "there is no open \"if\", or \";\" is missing before the word"
            }
            "\"done\"" | "\"do\"" => "there is no open loop",
            "\"esac\"" => "there is no open \"case\"",
            "\"}\"" => "there is no open \"{\"",
            "\"]]\"" => "there is no open \"[[\"",
            "\")\"" => "there is no open \"(\"; write \"\\)\" for a literal parenthesis",
            "\"(\"" => "write \"\\(\" for a literal parenthesis, or quote the word",
            "\";;\"" => "\";;\" is only allowed in \"case\"",
            "\";\"" | "\"&\"" => "a command is missing before it",
            "\"in\"" => "\"in\" is only allowed after \"for\", \"select\" or \"case\"",
            _ => return error,
        };
        error.hint = Some(hint.to_owned());
        error
    }

    /// Creates an error about a token that does not close the open construct.
    pub(super) fn unexpected_in_list(&mut self, expected: Expected, opened: Opened) -> Box<SyntaxError> {
        let what = opened.what;
        let mut error = self.unexpected(Some(expected), Some(opened));
        if error.incomplete {
            error.hint.get_or_insert_with(|| format!("add {expected} to close \"{what}\""));
        } else if matches!(error.found.as_str(), "\";\"" | "\"&\"" | "\"|\"" | "\"&&\"" | "\"||\"") {
            error.expected = Some(Expected::Command);
            error.opened = None;
        }
        error
    }
}

/// Returns the token that closes a construct.
fn closer(what: &str) -> &'static str {
    match what {
        "if" => "fi",
        "case" => "esac",
        "{" => "}",
        "(" => ")",
        _ => "done",
    }
}

/// Adds the `2>&1` that `|&` implies.
fn merge_stderr(stage: &mut Command, span: Span) {
    let duplicate = Duplicate::Descriptor { number: 1, close: false };
    let kind = RedirectKind::DuplicateOutput(duplicate);
    let merged = Redirect { span, descriptor: RedirectDescriptor::Number(2), kind };
    stage.redirects = stage.redirects.iter().cloned().chain([merged]).collect();
}
