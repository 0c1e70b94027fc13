//! Statements.

use super::{AwkParser, AwkSyntaxError};
use crate::awk::lexer::{AwkToken, Keyword};
use crate::awk::tree::{AwkExpression, AwkPlace, AwkRedirection, AwkStatement, RedirectionKind};

impl AwkParser<'_> {
    pub(super) fn statement(&mut self) -> Result<AwkStatement, AwkSyntaxError> {
        let AwkToken::Keyword(keyword) = self.token else {
            let statement = self.simple_statement()?;
            self.end_statement()?;
            return Ok(statement);
        };
        match keyword {
            Keyword::If => self.if_statement(),
            Keyword::While => {
                self.advance()?;
                let condition = self.condition()?;
                if self.takes(";")? {
                    return Ok(AwkStatement::While(condition, Vec::new()));
                }
                Ok(AwkStatement::While(condition, self.body()?))
            }
            Keyword::Do => {
                self.advance()?;
                let body = self.body()?;
                self.skip_terminators()?;
                if !self.takes_keyword(Keyword::While)? {
                    return self.unexpected();
                }
                let condition = self.condition_only()?;
                Ok(AwkStatement::DoWhile(body, condition))
            }
            Keyword::For => self.for_statement(),
            _ => {
                let statement = self.simple_statement()?;
                self.end_statement()?;
                Ok(statement)
            }
        }
    }

    /// A statement ends at a newline, a semicolon, or before a brace.
    fn end_statement(&mut self) -> Result<(), AwkSyntaxError> {
        match self.token {
            AwkToken::Newline | AwkToken::Symbol(";") => self.advance().map(drop),
            AwkToken::Symbol("}") | AwkToken::End => Ok(()),
            _ => self.unexpected(),
        }
    }

    fn condition_only(&mut self) -> Result<AwkExpression, AwkSyntaxError> {
        self.expect("(")?;
        let condition = self.expression()?;
        self.expect(")")?;
        Ok(condition)
    }

    /// A condition in parentheses, and newlines after it.
    fn condition(&mut self) -> Result<AwkExpression, AwkSyntaxError> {
        let condition = self.condition_only()?;
        self.skip_newlines()?;
        Ok(condition)
    }

    /// The body of a loop or a condition: a block or a statement.
    fn body(&mut self) -> Result<Vec<AwkStatement>, AwkSyntaxError> {
        self.skip_newlines()?;
        if self.is_symbol("{") {
            return self.nested(Self::block);
        }
        if self.takes(";")? {
            return Ok(Vec::new());
        }
        Ok(vec![self.nested(Self::statement)?])
    }

    fn if_statement(&mut self) -> Result<AwkStatement, AwkSyntaxError> {
        self.advance()?;
        let condition = self.condition()?;
        let then = self.body()?;
        self.skip_terminators()?;
        let otherwise = match self.takes_keyword(Keyword::Else)? {
            true => self.body()?,
            false => Vec::new(),
        };
        Ok(AwkStatement::If(condition, then, otherwise))
    }

    fn for_statement(&mut self) -> Result<AwkStatement, AwkSyntaxError> {
        self.advance()?;
        self.expect("(")?;
        let mut start = Vec::new();
        if !self.is_symbol(";") {
            let statement = self.simple_statement()?;
            if self.is_symbol(")")
                && let AwkStatement::Expression(AwkExpression::In(mut subscripts, array)) = statement
            {
                let Some(AwkExpression::Place(place)) = subscripts.pop() else { return self.unexpected() };
                self.advance()?;
                self.program.is_inexact = true;
                return Ok(AwkStatement::ForIn(place, array, self.body()?));
            }
            start.push(statement);
        }
        self.expect(";")?;
        self.skip_newlines()?;
        let condition = if self.is_symbol(";") { None } else { Some(self.expression()?) };
        self.expect(";")?;
        self.skip_newlines()?;
        let step = if self.is_symbol(")") { Vec::new() } else { vec![self.simple_statement()?] };
        self.expect(")")?;
        Ok(AwkStatement::For { start, condition, step, body: self.body()? })
    }

    fn simple_statement(&mut self) -> Result<AwkStatement, AwkSyntaxError> {
        if self.is_symbol("{") {
            let body = self.block()?;
            return Ok(AwkStatement::If(AwkExpression::Number(1.0), body, Vec::new()));
        }
        let AwkToken::Keyword(keyword) = self.token else {
            return Ok(AwkStatement::Expression(self.expression()?));
        };
        match keyword {
            Keyword::Print | Keyword::Printf => return self.print_statement(keyword),
            Keyword::Delete => return self.delete_statement(),
            Keyword::Getline => return Ok(AwkStatement::Expression(self.expression()?)),
            Keyword::Return if self.function.is_none() => {
                return self.error("`return' used outside function context");
            }
            _ => {}
        }
        self.program.can_exit |= matches!(keyword, Keyword::Exit | Keyword::NextFile);
        self.advance()?;
        let has_value =
            !matches!(self.token, AwkToken::Newline | AwkToken::End | AwkToken::Symbol(";" | "}"));
        Ok(match keyword {
            Keyword::Next => AwkStatement::Next,
            Keyword::NextFile => AwkStatement::NextFile,
            Keyword::Break => AwkStatement::Break,
            Keyword::Continue => AwkStatement::Continue,
            Keyword::Exit if has_value => AwkStatement::Exit(Some(self.expression()?)),
            Keyword::Exit => AwkStatement::Exit(None),
            Keyword::Return if has_value => AwkStatement::Return(Some(self.expression()?)),
            Keyword::Return => AwkStatement::Return(None),
            _ => return self.unexpected(),
        })
    }

    fn delete_statement(&mut self) -> Result<AwkStatement, AwkSyntaxError> {
        self.advance()?;
        let AwkToken::Name(name) = self.advance()? else { return self.unexpected() };
        let array = self.variable(&name);
        self.mark_array(array);
        if !self.takes("[")? {
            return Ok(AwkStatement::Delete(array, None));
        }
        let subscripts = self.expressions("]")?;
        Ok(AwkStatement::Delete(array, Some(subscripts)))
    }

    fn print_statement(&mut self, keyword: Keyword) -> Result<AwkStatement, AwkSyntaxError> {
        self.advance()?;
        let outer = std::mem::replace(&mut self.in_print, true);
        let mut values = Vec::new();
        let is_end = |token: &AwkToken| {
            matches!(
                token,
                AwkToken::Newline | AwkToken::End | AwkToken::Symbol(";" | "}" | ">" | ">>" | "|")
            )
        };
        if !is_end(&self.token) {
            values.push(self.expression()?);
            while self.takes(",")? {
                self.skip_newlines()?;
                values.push(self.expression()?);
            }
        }
        // `print (a, b)` prints both.
        if matches!(values[..], [AwkExpression::Group(_)])
            && let Some(AwkExpression::Group(inner)) = values.pop()
        {
            values = inner;
        }
        let redirection = self.redirection()?;
        self.in_print = outer;
        match keyword {
            Keyword::Print => Ok(AwkStatement::Print(values, redirection)),
            _ if values.is_empty() => self.error("syntax error: printf needs a format"),
            _ => Ok(AwkStatement::Printf(values, redirection)),
        }
    }

    fn redirection(&mut self) -> Result<Option<AwkRedirection>, AwkSyntaxError> {
        let kind = match self.token {
            AwkToken::Symbol(">") => RedirectionKind::Truncate,
            AwkToken::Symbol(">>") => RedirectionKind::Append,
            AwkToken::Symbol("|") => RedirectionKind::Command,
            _ => return Ok(None),
        };
        self.program.is_inexact |= kind == RedirectionKind::Command;
        self.advance()?;
        let name = self.concatenation()?;
        Ok(Some(AwkRedirection { kind, name }))
    }

    /// The place of an expression, if it can be assigned to.
    pub(super) fn as_place(&self, expression: AwkExpression) -> Result<AwkPlace, AwkSyntaxError> {
        match expression {
            AwkExpression::Place(place) => Ok(place),
            _ => self.unexpected(),
        }
    }
}
