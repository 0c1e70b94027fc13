//! Programs, lists, statements and pipelines.

use std::sync::Arc;

use crate::ast::{
    Command, Connector, Descriptor, Duplicate, List, Pipeline, Program, Redirect, RedirectKind, Span,
    Statement, TimeFormat,
};
use crate::error::{Opened, SyntaxError};

use super::bytes::{self, BREAK};
use super::reserved::Reserved;
use super::{Parser, Result};

impl Parser<'_> {
    /// All of the input.
    pub(super) fn program(&mut self) -> Result<Program> {
        let body = self.whole_list()?;
        Ok(Program { body, warnings: std::mem::take(&mut self.warnings).into_boxed_slice() })
    }

    /// A list that ends with the input.
    pub(super) fn whole_list(&mut self) -> Result<List> {
        self.check_length()?;
        let list = self.list()?;
        if self.peek().is_some() {
            return Err(self.stray());
        }
        self.read_here_documents()?;
        Ok(list)
    }

    /// What stands up to the end of a line, and as much further as it takes.
    pub(super) fn complete_command(&mut self) -> Result<Option<Program>> {
        self.check_length()?;
        self.skip_newlines()?;
        if self.peek().is_none() {
            return Ok(None);
        }
        let start = self.input.at;
        let mut statements = Vec::new();
        while self.at_command() {
            statements.push(self.statement()?);
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
        let body = List { span, statements: statements.into() };
        Ok(Some(Program { body, warnings: std::mem::take(&mut self.warnings).into_boxed_slice() }))
    }

    /// Statements, as many as come; may be none. What ends the list is left.
    pub(super) fn list(&mut self) -> Result<List> {
        self.skip_newlines()?;
        let start = self.input.at;
        let mut statements = self.spare_statements.pop().unwrap_or_default();
        let mut end = start;
        while self.at_command() {
            statements.push(self.statement()?);
            end = self.input.at;
            self.skip_blanks();
            let separated = statements.last().is_some_and(|last| last.background) || self.eat_semicolon();
            self.skip_blanks();
            if !separated && self.peek() != Some(b'\n') {
                break;
            }
            self.skip_newlines()?;
        }
        let list = List { span: self.input.span(start, end), statements: statements.drain(..).collect() };
        self.spare_statements.push(statements);
        Ok(list)
    }

    /// A list of at least one statement, in what was opened.
    pub(super) fn body(&mut self, opened: Opened) -> Result<List> {
        let list = self.list()?;
        if list.statements.is_empty() {
            let mut error = self.unexpected(Some("a command"), None);
            if error.incomplete {
                error.opened = Some(opened);
                error.expected = Some(format!("a command and \"{}\"", closer(opened.what)));
            } else {
                error.hint = Some("write \":\" where nothing is to be done".to_owned());
            }
            return Err(error);
        }
        Ok(list)
    }

    /// Whether a `;` comes next that is not the beginning of `;;` or `;&`.
    fn at_semicolon(&mut self) -> bool {
        self.peek() == Some(b';') && !matches!(self.peek_second(), Some(b';' | b'&'))
    }

    /// Takes a `;` that is not the beginning of `;;` or `;&`.
    fn eat_semicolon(&mut self) -> bool {
        let found = self.at_semicolon();
        self.input.at += usize::from(found);
        found
    }

    /// Whether a command begins here, as opposed to what ends a list. Aliases are expanded.
    fn at_command(&mut self) -> bool {
        self.skip_blanks();
        if !self.options.aliases.is_empty() {
            self.expand_aliases();
        }
        let Some(byte) = self.peek() else { return false };
        match byte {
            b')' | b';' | b'|' | b'\n' => false,
            b'&' => self.peek_second() == Some(b'>'),
            _ => !self.reserved_ahead().is_some_and(|(reserved, _)| reserved.closes()),
        }
    }

    fn statement(&mut self) -> Result<Statement> {
        let start = self.input.at;
        let first = self.pipeline()?;
        let mut rest = Vec::new();
        loop {
            self.skip_blanks();
            let connector = match self.peek() {
                Some(b'&') if self.eat_all(b"&&") => Connector::And,
                Some(b'|') if self.eat_all(b"||") => Connector::Or,
                _ => break,
            };
            self.skip_newlines()?;
            self.require_command(if connector == Connector::And { "&&" } else { "||" })?;
            rest.push((connector, self.pipeline()?));
        }
        let background = self.peek() == Some(b'&') && self.peek_second() != Some(b'>') && self.eat(b'&');
        Ok(Statement { span: self.span_from(start), background, first, rest: rest.into_boxed_slice() })
    }

    /// Refuses what does not begin a command after a connector.
    fn require_command(&mut self, after: &str) -> Result<()> {
        if self.at_command() {
            return Ok(());
        }
        Err(self.unexpected(Some(&format!("a command after \"{after}\"")), None))
    }

    fn pipeline(&mut self) -> Result<Pipeline> {
        let start = self.input.at;
        let (mut negated, mut time, mut prefixed) = (false, None, false);
        while let Some((reserved @ (Reserved::Bang | Reserved::Time), end)) = self.reserved_ahead() {
            self.input.at = end;
            self.skip_blanks();
            prefixed = true;
            if reserved == Reserved::Bang {
                negated = !negated;
            } else {
                time = Some(self.time_format());
            }
            self.at_command();
        }
        let stages = if prefixed && (matches!(self.peek(), None | Some(b'\n')) || self.at_semicolon()) {
            Arc::new([])
        } else {
            self.stages()?
        };
        Ok(Pipeline { span: self.span_from(start), negated, time, stages })
    }

    /// The options of `time`.
    fn time_format(&mut self) -> TimeFormat {
        let posix = self.eat_word(b"-p");
        self.eat_word(b"--");
        if posix { TimeFormat::Posix } else { TimeFormat::Default }
    }

    /// Takes this word if it comes next, and the blanks after it.
    fn eat_word(&mut self, text: &[u8]) -> bool {
        let start = self.input.at;
        let found = self.eat_all(text) && self.peek().is_none_or(|byte| bytes::is(byte, BREAK));
        if !found {
            self.input.at = start;
        }
        self.skip_blanks();
        found
    }

    fn stages(&mut self) -> Result<Arc<[Command]>> {
        let first = self.command()?;
        self.skip_blanks();
        if self.peek() != Some(b'|') || self.peek_second() == Some(b'|') {
            return Ok(Arc::new([first]));
        }
        let mut stages = vec![first];
        while self.peek() == Some(b'|') && self.peek_second() != Some(b'|') {
            let start = self.input.at;
            self.input.at += 1;
            if self.eat(b'&') {
                let span = self.span_from(start);
                stages.iter_mut().next_back().into_iter().for_each(|stage| merge_errors(stage, span));
            }
            self.skip_newlines()?;
            self.require_command("|")?;
            stages.push(self.command()?);
            self.skip_blanks();
        }
        Ok(stages.into())
    }

    /// An error about something that does not end a list.
    pub(super) fn stray(&mut self) -> Box<SyntaxError> {
        let mut error = self.unexpected(None, None);
        let hint = match error.found.as_str() {
            "\"fi\"" => "no \"if\" is open here",
            "\"then\"" | "\"else\"" | "\"elif\"" => {
                "no \"if\" is open here, or a separator before the word is missing"
            }
            "\"done\"" | "\"do\"" => "no loop is open here",
            "\"esac\"" => "no \"case\" is open here",
            "\"}\"" => "no \"{\" is open here",
            "\"]]\"" => "no \"[[\" is open here",
            "\")\"" => "no \"(\" is open here; write \"\\)\" for a literal one",
            "\"(\"" => "write \"\\(\" for a literal one, or put the word in quotes",
            "\";;\"" => "\";;\" belongs into \"case\"",
            "\";\"" | "\"&\"" => "a command should stand before it",
            "\"in\"" => "\"in\" belongs after \"for\", \"select\" or \"case\"",
            _ => return error,
        };
        error.hint = Some(hint.to_owned());
        error
    }

    /// An error about something that does not close what was opened.
    pub(super) fn unexpected_in_list(&mut self, expected: &str, opened: Opened) -> Box<SyntaxError> {
        let what = opened.what;
        let mut error = self.unexpected(Some(expected), Some(opened));
        if error.incomplete {
            error.hint.get_or_insert_with(|| format!("add {expected} to close \"{what}\""));
        } else if matches!(error.found.as_str(), "\";\"" | "\"&\"" | "\"|\"" | "\"&&\"" | "\"||\"") {
            error.expected = Some("a command".to_owned());
            error.opened = None;
        }
        error
    }
}

/// What closes what was opened.
fn closer(what: &str) -> &'static str {
    match what {
        "if" => "fi",
        "case" => "esac",
        "{" => "}",
        "(" => ")",
        _ => "done",
    }
}

/// `|&`: what `2>&1` would do.
fn merge_errors(stage: &mut Command, span: Span) {
    let duplicate = Duplicate::Descriptor { number: 1, close: false };
    let kind = RedirectKind::DuplicateOutput(duplicate);
    let mut redirects = std::mem::take(&mut stage.redirects).into_vec();
    redirects.push(Redirect { span, descriptor: Descriptor::Number(2), kind });
    stage.redirects = redirects.into_boxed_slice();
}
