//! Expressions, from the lowest precedence to unary operators.

use super::{AwkParser, AwkSyntaxError};
use crate::awk::lexer::{AwkToken, Keyword};
use crate::awk::tree::{ArithmeticOperator, AwkExpression, ComparisonOperator};

type Parsed = Result<AwkExpression, AwkSyntaxError>;

impl AwkParser<'_> {
    pub(super) fn expression(&mut self) -> Parsed {
        self.nested(Self::conditional)
    }

    /// Expressions with commas between, up to a closing symbol.
    pub(super) fn expressions(&mut self, close: &str) -> Result<Vec<AwkExpression>, AwkSyntaxError> {
        let outer = std::mem::replace(&mut self.in_print, false);
        let mut list = Vec::new();
        self.skip_newlines()?;
        while !self.is_symbol(close) {
            list.push(self.expression()?);
            self.skip_newlines()?;
            if !self.takes(",")? {
                break;
            }
            self.skip_newlines()?;
        }
        self.in_print = outer;
        self.expect(close)?;
        Ok(list)
    }

    fn conditional(&mut self) -> Parsed {
        let condition = self.or()?;
        if !self.takes("?")? {
            return Ok(condition);
        }
        self.skip_newlines()?;
        let then = self.expression()?;
        self.skip_newlines()?;
        self.expect(":")?;
        self.skip_newlines()?;
        let otherwise = self.expression()?;
        Ok(AwkExpression::Conditional(Box::new(condition), Box::new(then), Box::new(otherwise)))
    }

    fn or(&mut self) -> Parsed {
        let mut left = self.and()?;
        while self.takes("||")? {
            self.skip_newlines()?;
            left = AwkExpression::Or(Box::new(left), Box::new(self.and()?));
        }
        Ok(left)
    }

    fn and(&mut self) -> Parsed {
        let mut left = self.membership()?;
        while self.takes("&&")? {
            self.skip_newlines()?;
            left = AwkExpression::And(Box::new(left), Box::new(self.membership()?));
        }
        Ok(left)
    }

    fn membership(&mut self) -> Parsed {
        let mut left = self.matching()?;
        while self.takes_keyword(Keyword::In)? {
            let AwkToken::Name(name) = self.advance()? else { return self.unexpected() };
            let array = self.variable(&name);
            self.mark_array(array);
            let subscripts = match left {
                AwkExpression::Group(subscripts) => subscripts,
                single => vec![single],
            };
            left = AwkExpression::In(subscripts, array);
        }
        Ok(left)
    }

    fn matching(&mut self) -> Parsed {
        let mut left = self.comparison()?;
        while self.is_symbol("~") || self.is_symbol("!~") {
            let is_negated = self.is_symbol("!~");
            self.advance()?;
            let (text, regex) = (Box::new(left), Box::new(self.comparison()?));
            left = AwkExpression::Match { is_negated, text, regex };
        }
        Ok(left)
    }

    fn comparison(&mut self) -> Parsed {
        let left = self.piped()?;
        let operator = match self.token {
            AwkToken::Symbol("<") => ComparisonOperator::Less,
            AwkToken::Symbol("<=") => ComparisonOperator::LessOrEqual,
            AwkToken::Symbol("==") => ComparisonOperator::Equal,
            AwkToken::Symbol("!=") => ComparisonOperator::NotEqual,
            AwkToken::Symbol(">") if !self.in_print => ComparisonOperator::Greater,
            AwkToken::Symbol(">=") => ComparisonOperator::GreaterOrEqual,
            _ => return Ok(left),
        };
        self.advance()?;
        let right = self.piped()?;
        Ok(AwkExpression::Comparison(operator, Box::new(left), Box::new(right)))
    }

    /// `command | getline`.
    fn piped(&mut self) -> Parsed {
        let mut left = self.concatenation()?;
        while self.is_symbol("|") && self.lexer.is_before_getline() {
            left = self.command_getline(left)?;
        }
        Ok(left)
    }

    pub(super) fn concatenation(&mut self) -> Parsed {
        let mut left = self.additive()?;
        while self.starts_operand() {
            left = AwkExpression::Concatenation(Box::new(left), Box::new(self.additive()?));
        }
        Ok(left)
    }

    /// Whether the token starts an operand of a concatenation.
    fn starts_operand(&self) -> bool {
        match &self.token {
            AwkToken::Number(_) | AwkToken::Text(_) | AwkToken::Regex(_) => true,
            AwkToken::Name(_) | AwkToken::FunctionName(_) | AwkToken::Builtin(_) => true,
            AwkToken::Symbol(symbol) => matches!(*symbol, "$" | "(" | "!" | "-" | "+" | "++" | "--"),
            _ => false,
        }
    }

    fn additive(&mut self) -> Parsed {
        let mut left = self.multiplicative()?;
        loop {
            let operator = match self.token {
                AwkToken::Symbol("+") => ArithmeticOperator::Add,
                AwkToken::Symbol("-") => ArithmeticOperator::Subtract,
                _ => return Ok(left),
            };
            self.advance()?;
            let right = self.multiplicative()?;
            left = AwkExpression::Arithmetic(operator, Box::new(left), Box::new(right));
        }
    }

    fn multiplicative(&mut self) -> Parsed {
        let mut left = self.unary()?;
        loop {
            let operator = match self.token {
                AwkToken::Symbol("*") => ArithmeticOperator::Multiply,
                AwkToken::Symbol("/") => ArithmeticOperator::Divide,
                AwkToken::Symbol("%") => ArithmeticOperator::Remainder,
                _ => return Ok(left),
            };
            self.advance()?;
            let right = self.unary()?;
            if matches!((&left, &right), (AwkExpression::Number(_), AwkExpression::Number(0.0))) {
                match operator {
                    ArithmeticOperator::Divide => {
                        return self.general_error("error: division by zero attempted", 1);
                    }
                    ArithmeticOperator::Remainder => {
                        return self.general_error("error: division by zero attempted in `%'", 1);
                    }
                    _ => {}
                }
            }
            left = AwkExpression::Arithmetic(operator, Box::new(left), Box::new(right));
        }
    }

    fn unary(&mut self) -> Parsed {
        let AwkToken::Symbol(operator @ ("!" | "-" | "+")) = self.token else { return self.power() };
        self.advance()?;
        let operand = Box::new(self.nested(Self::unary)?);
        Ok(match operator {
            "!" => AwkExpression::Not(operand),
            "-" => AwkExpression::Negate(operand),
            _ => AwkExpression::ToNumber(operand),
        })
    }

    /// `^` binds more tightly than a sign before it, and less than one after it.
    fn power(&mut self) -> Parsed {
        let base = self.postfix()?;
        if !self.takes("^")? && !self.takes("**")? {
            return Ok(base);
        }
        let exponent = match self.token {
            AwkToken::Symbol("-" | "+" | "!") => self.nested(Self::unary)?,
            _ => self.nested(Self::power)?,
        };
        Ok(AwkExpression::Arithmetic(ArithmeticOperator::Power, Box::new(base), Box::new(exponent)))
    }
}
