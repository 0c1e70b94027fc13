//! Compound commands.

use crate::Expected;
use crate::ast::{
    Arithmetic, ArithmeticFor, Bytes, Case, CaseClause, CaseEnd, Command, CommandKind, For, If, IfBranch,
    List, Loop, Name, Select, SharedNode, SharedSlice, Span, Word,
};
use crate::error::Opened;

use super::bytes::{self, BREAK};
use super::list::CommandHead;
use super::reserved::Reserved;
use super::word::WordMode;
use super::{Parser, Result};

impl Parser<'_> {
    /// Parses a command whose first token is `head`, if known.
    pub(super) fn command(&mut self, head: Option<CommandHead>) -> Result<Command> {
        match head {
            // `time` is a reserved word only at the start of a pipeline, where it has been handled.
            Some(CommandHead::Word | CommandHead::Reserved(Reserved::Time, _)) => self.simple_command(),
            Some(CommandHead::Parenthesis) => self.nested(Self::parenthesis),
            Some(CommandHead::Reserved(reserved, end)) => {
                self.nested(|parser| parser.reserved_command(reserved, end))
            }
            None => self.any_command(),
        }
    }

    /// Parses a command. Fails if the next token ends a list.
    pub(super) fn any_command(&mut self) -> Result<Command> {
        let head = match self.reserved_ahead() {
            _ if self.peek() == Some(b'(') => CommandHead::Parenthesis,
            Some((reserved, end)) => CommandHead::Reserved(reserved, end),
            None => CommandHead::Word,
        };
        self.command(Some(head))
    }

    /// Parses a command that starts with a reserved word, which ends at `end`.
    fn reserved_command(&mut self, reserved: Reserved, end: usize) -> Result<Command> {
        let start = self.input.at;
        let opened = self.opened(reserved.text(), start);
        let line = self.line_at(start);
        self.input.at = end;
        let kind = match reserved {
            Reserved::OpenBrace => self.group(opened)?,
            Reserved::If => self.if_command(opened)?,
            Reserved::For => self.for_command(opened)?,
            Reserved::While => self.loop_command(false, opened)?,
            Reserved::Until => self.loop_command(true, opened)?,
            Reserved::Case => self.case_command(opened)?,
            Reserved::Select => self.select_command(opened)?,
            Reserved::Conditional => self.conditional_command(opened)?,
            Reserved::Function => return self.function(start),
            Reserved::Coproc => return self.coprocess(start),
            _ => {
                self.input.at = start;
                return Err(self.stray());
            }
        };
        self.finish_compound(start, line, kind)
    }

    fn finish_compound(&mut self, start: usize, line: u32, kind: CommandKind) -> Result<Command> {
        let end = self.input.at;
        let redirects = self.redirects()?;
        let span = if redirects.is_empty() { self.input.span(start, end) } else { self.span_from(start) };
        Ok(Command { span, line, kind, redirects })
    }

    /// `( … )` or `(( … ))`.
    fn parenthesis(&mut self) -> Result<Command> {
        let start = self.input.at;
        let line = self.line_at(start);
        if self.peek_second() == Some(b'(')
            && let Some(arithmetic) = self.double_parentheses("((", start)?
        {
            return self.finish_compound(start, line, CommandKind::Arithmetic(Box::new(arithmetic)));
        }
        let opened = self.opened("(", start);
        self.input.at += 1;
        let list = self.body(opened)?;
        if !self.eat(b')') {
            return Err(self.unexpected_in_list(Expected::Token(")"), opened));
        }
        // bash uses the line where the subshell ends.
        let line = self.line_at(self.input.at - 1);
        self.finish_compound(start, line, CommandKind::Subshell(list))
    }

    fn group(&mut self, opened: Opened) -> Result<CommandKind> {
        let list = self.body(opened)?;
        if let Err(mut error) = self.expect_reserved(Reserved::CloseBrace, opened) {
            if error.incomplete {
                error.hint = Some("\"}\" only closes a group after \";\" or on a new line".to_owned());
            }
            return Err(error);
        }
        Ok(CommandKind::Group(list))
    }

    fn if_command(&mut self, opened: Opened) -> Result<CommandKind> {
        let mut branches = self.pool.branches.pop().unwrap_or_default();
        let mut otherwise = None;
        loop {
            let condition = self.body(opened)?;
            if !self.eat_reserved(Reserved::Then) {
                return Err(self.missing(
                    Expected::ThenAfter(opened.what),
                    opened,
                    "put \";\" or a newline between the condition and \"then\"",
                ));
            }
            branches.push(IfBranch { condition, body: self.body(opened)? });
            if self.eat_reserved(Reserved::Elif) {
                continue;
            }
            if self.eat_reserved(Reserved::Else) {
                otherwise = Some(self.body(opened)?);
            }
            self.expect_reserved(Reserved::Fi, opened)?;
            let command = If { branches: self.arena.slice_from(&mut branches), otherwise };
            self.pool.branches.push(branches);
            return Ok(CommandKind::If(SharedNode::new(command, &mut self.arena)));
        }
    }

    fn missing(&mut self, expected: Expected, opened: Opened, hint: &str) -> Box<crate::error::SyntaxError> {
        let mut error = self.unexpected(Some(expected), None);
        if error.incomplete {
            error.opened = Some(opened);
            error.expected = expected.token().map(Expected::Token);
        }
        error.hint = Some(hint.to_owned());
        error
    }

    fn loop_command(&mut self, until: bool, opened: Opened) -> Result<CommandKind> {
        let condition = self.body(opened)?;
        let body = self.do_done(opened)?;
        Ok(CommandKind::Loop(SharedNode::new(Loop { until, condition, body }, &mut self.arena)))
    }

    /// `do … done`.
    fn do_done(&mut self, opened: Opened) -> Result<List> {
        if !self.eat_reserved(Reserved::Do) {
            return Err(self.missing(
                Expected::DoAfter(opened.what),
                opened,
                "start the loop body with \"do\", after \";\" or on a new line",
            ));
        }
        let body = self.body(opened)?;
        self.expect_reserved(Reserved::Done, opened)?;
        Ok(body)
    }

    /// `do … done` or `{ … }`.
    fn loop_body(&mut self, opened: Opened) -> Result<List> {
        self.skip_newlines()?;
        let start = self.input.at;
        if !self.eat_reserved(Reserved::OpenBrace) {
            return self.do_done(opened);
        }
        let opened = self.opened("{", start);
        let body = self.body(opened)?;
        self.expect_reserved(Reserved::CloseBrace, opened)?;
        Ok(body)
    }

    fn for_command(&mut self, opened: Opened) -> Result<CommandKind> {
        self.skip_blanks();
        if self.peek() == Some(b'(') && self.peek_second() == Some(b'(') {
            return self.arithmetic_for(opened);
        }
        let (name, name_span) = self.loop_variable(opened)?;
        let words = self.loop_words()?;
        let body = self.loop_body(opened)?;
        let command = For { name, name_span, words, body };
        Ok(CommandKind::For(SharedNode::new(command, &mut self.arena)))
    }

    fn select_command(&mut self, opened: Opened) -> Result<CommandKind> {
        self.skip_blanks();
        let (name, name_span) = self.loop_variable(opened)?;
        let words = self.loop_words()?;
        let body = self.loop_body(opened)?;
        Ok(CommandKind::Select(Box::new(Select { name, name_span, words, body })))
    }

    fn loop_variable(&mut self, opened: Opened) -> Result<(Name, Span)> {
        let start = self.input.at;
        let word = self.word(WordMode::single(false))?;
        if self.input.at == start {
            return Err(self.unexpected(Some(Expected::VariableAfter(opened.what)), None));
        }
        let name = match word.literal_text() {
            Some(text) => text.clone(),
            None => Bytes::from(self.input.slice(start, self.input.at)),
        };
        Ok((name, word.span))
    }

    /// Parses `in words;`, or nothing.
    fn loop_words(&mut self) -> Result<Option<SharedSlice<Word>>> {
        self.skip_blanks();
        if self.eat(b';') {
            return Ok(None);
        }
        let name_end = self.input.at;
        self.skip_newlines()?;
        if !self.eat_reserved(Reserved::In) {
            if self.input.at == name_end && self.peek() == Some(b'{') {
                return Err(self.unexpected(Some(Expected::LoopWords), None));
            }
            return Ok(None);
        }
        let mut words = self.pool.words.pop().unwrap_or_default();
        loop {
            self.skip_blanks();
            let start = self.input.at;
            let word = self.word(WordMode::argument(self.options.extglob))?;
            if self.input.at == start {
                break;
            }
            words.push(word);
        }
        if !self.eat(b';') && self.peek() != Some(b'\n') {
            let mut error = self.unexpected(Some(Expected::LoopSeparator), None);
            error.hint = error.incomplete.then(|| "\"do\" must follow \";\" or a newline".to_owned());
            return Err(error);
        }
        let slice = self.arena.slice_from(&mut words);
        self.pool.words.push(words);
        Ok(Some(slice))
    }

    /// Parses `((…; …; …))` and the body.
    fn arithmetic_for(&mut self, opened: Opened) -> Result<CommandKind> {
        let start = self.input.at;
        self.input.at += 1;
        self.eat(b'(');
        let mut sections: Vec<Option<Arithmetic>> = Vec::new();
        loop {
            let section = self.arithmetic_until(b";)")?;
            let blank = section.text.plain().is_some_and(|text| text.trim_ascii().is_empty());
            sections.push((!blank).then_some(section));
            if sections.len() == 3 || !self.eat(b';') {
                break;
            }
        }
        if self.peek().is_none() {
            return Err(self.unclosed("))", "((", start));
        }
        let end = self.input.at;
        let closed = self.eat(b')') && {
            self.skip_blanks();
            self.eat(b')')
        };
        let Ok([initial, condition, update]) = <[_; 3]>::try_from(sections) else {
            self.input.at = end;
            let mut error = self.unexpected(Some(Expected::ExpressionSeparator), None);
            error.hint = Some(
                "\"for ((\" takes three expressions separated by \";\", each of which may be empty"
                    .to_owned(),
            );
            return Err(error);
        };
        if !closed {
            return Err(self.unexpected(Some(Expected::ExpressionsEnd), None));
        }
        self.skip_blanks();
        if self.peek() == Some(b';') {
            self.input.at += 1;
        }
        let body = self.loop_body(opened)?;
        Ok(CommandKind::ArithmeticFor(Box::new(ArithmeticFor { initial, condition, update, body })))
    }

    fn case_command(&mut self, opened: Opened) -> Result<CommandKind> {
        self.skip_blanks();
        let start = self.input.at;
        let subject = self.word(WordMode::single(self.options.extglob))?;
        if self.input.at == start {
            return Err(self.unexpected(Some(Expected::Word("a word after \"case\"")), None));
        }
        self.skip_newlines()?;
        if !self.eat_reserved(Reserved::In) {
            return Err(self.missing(Expected::InAfter(opened.what), opened, "write \"case WORD in\""));
        }
        let mut clauses = self.pool.clauses.pop().unwrap_or_default();
        loop {
            self.skip_newlines()?;
            if self.eat_reserved(Reserved::Esac) {
                break;
            }
            if self.peek().is_none() {
                return Err(self.unexpected_in_list(Expected::Token("esac"), opened));
            }
            let (clause, last) = self.case_clause(opened)?;
            clauses.push(clause);
            if last {
                self.expect_reserved(Reserved::Esac, opened)?;
                break;
            }
        }
        let command = Case { subject, clauses: self.arena.slice_from(&mut clauses) };
        self.pool.clauses.push(clauses);
        Ok(CommandKind::Case(SharedNode::new(command, &mut self.arena)))
    }

    /// Parses a clause. Returns also whether it must be the last one because it has no terminator.
    fn case_clause(&mut self, opened: Opened) -> Result<(CaseClause, bool)> {
        let start = self.input.at;
        let patterns = self.case_patterns(opened)?;
        let body = self.list()?;
        let end = if self.eat_all(b";;&") {
            Some(CaseEnd::Continue)
        } else if self.eat_all(b";;") {
            Some(CaseEnd::Break)
        } else if self.eat_all(b";&") {
            Some(CaseEnd::FallThrough)
        } else {
            None
        };
        let span = self.span_from(start);
        let clause = CaseClause { span, patterns, body, end: end.unwrap_or(CaseEnd::Break) };
        Ok((clause, end.is_none()))
    }

    /// Parses the patterns of a clause and the `)` after them.
    fn case_patterns(&mut self, opened: Opened) -> Result<SharedSlice<Word>> {
        self.eat(b'(');
        let mut patterns = self.pool.words.pop().unwrap_or_default();
        loop {
            self.skip_blanks();
            let from = self.input.at;
            let pattern = self.word(WordMode::pattern(self.options.extglob))?;
            if self.input.at == from {
                return Err(self.unexpected(Some(Expected::Word("a \"case\" pattern")), None));
            }
            patterns.push(pattern);
            self.skip_blanks();
            if self.eat(b')') {
                break;
            }
            if !(self.peek_second() != Some(b'|') && self.eat(b'|')) {
                let mut error = self.unexpected(Some(Expected::PatternEnd), None);
                error.opened = error.incomplete.then_some(opened);
                return Err(error);
            }
        }
        let slice = self.arena.slice_from(&mut patterns);
        self.pool.words.push(patterns);
        Ok(slice)
    }

    /// Whether the current word ends here.
    pub(super) fn at_break(&mut self) -> bool {
        self.peek().is_none_or(|byte| bytes::is(byte, BREAK))
    }
}
