//! Statements.

use super::{AwkRun, AwkStop, Evaluated};
use crate::awk::tree::{AwkExpression, AwkPlace, AwkRedirection, AwkStatement, VariableSlot};
use crate::awk::value::AwkValue;
use crate::awk::{format, value};

/// The control flow after a statement.
pub(super) enum StatementFlow {
    Normal,
    Break,
    Continue,
    Return(AwkValue),
}

impl AwkRun<'_, '_, '_> {
    pub(super) fn statements(&mut self, block: &[AwkStatement]) -> Evaluated<StatementFlow> {
        for statement in block {
            match self.statement(statement)? {
                StatementFlow::Normal => {}
                other => return Ok(other),
            }
        }
        Ok(StatementFlow::Normal)
    }

    fn statement(&mut self, statement: &AwkStatement) -> Evaluated<StatementFlow> {
        match statement {
            AwkStatement::Line(line) => self.line = *line,
            AwkStatement::Expression(expression) => self.discard(expression)?,
            AwkStatement::Print(values, to) => self.print(values, to.as_ref())?,
            AwkStatement::Printf(values, to) => self.printf(values, to.as_ref())?,
            AwkStatement::If(condition, then, otherwise) => {
                let block = if self.is_true(condition)? { then } else { otherwise };
                return self.statements(block);
            }
            AwkStatement::While(condition, body) => return self.repeat(Some(condition), &[], body, true),
            AwkStatement::DoWhile(body, condition) => return self.repeat(Some(condition), &[], body, false),
            AwkStatement::For { start, condition, step, body } => {
                self.statements(start)?;
                return self.repeat(condition.as_ref(), step, body, true);
            }
            AwkStatement::ForIn(place, array, body) => return self.for_in(place, *array, body),
            AwkStatement::Delete(array, None) => self.array(*array)?.borrow_mut().clear(),
            AwkStatement::Delete(array, Some(subscripts)) => {
                let key = self.subscript(subscripts)?;
                self.array(*array)?.borrow_mut().remove(&key);
            }
            AwkStatement::Next => return Err(AwkStop::Next),
            AwkStatement::NextFile => return Err(AwkStop::NextFile),
            AwkStatement::Break => return Ok(StatementFlow::Break),
            AwkStatement::Continue => return Ok(StatementFlow::Continue),
            AwkStatement::Exit(status) => {
                if let Some(status) = status {
                    #[expect(clippy::cast_possible_truncation, reason = "the status wraps as in C")]
                    let status = self.number(status)? as i64 as i32;
                    self.status = status & 0xff;
                }
                return Err(AwkStop::Exit);
            }
            AwkStatement::Return(value) => {
                let value = value.as_ref().map_or(Ok(AwkValue::Unset), |value| self.evaluate(value))?;
                return Ok(StatementFlow::Return(value));
            }
        }
        Ok(StatementFlow::Normal)
    }

    fn repeat(
        &mut self,
        condition: Option<&AwkExpression>,
        step: &[AwkStatement],
        body: &[AwkStatement],
        checks_first: bool,
    ) -> Evaluated<StatementFlow> {
        let mut checks = checks_first;
        loop {
            self.run.context.check()?;
            if let Some(condition) = condition.filter(|_| checks)
                && !self.is_true(condition)?
            {
                return Ok(StatementFlow::Normal);
            }
            checks = true;
            match self.statements(body)? {
                StatementFlow::Break => return Ok(StatementFlow::Normal),
                StatementFlow::Return(value) => return Ok(StatementFlow::Return(value)),
                StatementFlow::Normal | StatementFlow::Continue => {}
            }
            self.statements(step)?;
        }
    }

    fn for_in(
        &mut self,
        place: &AwkPlace,
        array: VariableSlot,
        body: &[AwkStatement],
    ) -> Evaluated<StatementFlow> {
        let array = self.array(array)?;
        let keys = array.borrow().keys();
        for key in keys {
            self.run.context.check()?;
            self.assign(place, AwkValue::Input(key))?;
            match self.statements(body)? {
                StatementFlow::Break => break,
                StatementFlow::Return(value) => return Ok(StatementFlow::Return(value)),
                StatementFlow::Normal | StatementFlow::Continue => {}
            }
        }
        Ok(StatementFlow::Normal)
    }

    fn print(&mut self, values: &[AwkExpression], to: Option<&AwkRedirection>) -> Evaluated<()> {
        if to.is_none() && values.is_empty() {
            self.run.write(self.record.text())?;
            self.run.write(&self.special.ors)?;
            return Ok(());
        }
        let mut line = Vec::new();
        if values.is_empty() {
            line.extend_from_slice(self.record.text());
        }
        for (index, expression) in values.iter().enumerate() {
            if index > 0 {
                line.extend_from_slice(&self.special.ofs);
            }
            self.append_printed(expression, &mut line)?;
        }
        line.extend_from_slice(&self.special.ors);
        self.write_to(&line, to)
    }

    /// Appends a value as `print` writes it.
    fn append_printed(&mut self, expression: &AwkExpression, line: &mut Vec<u8>) -> Evaluated<()> {
        if let AwkExpression::Place(AwkPlace::Field(index)) = expression {
            let index = self.field_index(index)?;
            if let Some(slice) = self.record.slice(index) {
                line.extend_from_slice(slice);
                return Ok(());
            }
        }
        match self.evaluate(expression)? {
            AwkValue::Number(number) => line.extend(value::number_text(number, &self.special.ofmt)),
            other => line.extend_from_slice(&other.bytes(b"")),
        }
        Ok(())
    }

    fn printf(&mut self, values: &[AwkExpression], to: Option<&AwkRedirection>) -> Evaluated<()> {
        let text = self.sprintf(values)?;
        self.write_to(&text, to)
    }

    /// Formats the values after the first with the format that the first is.
    pub(super) fn sprintf(&mut self, values: &[AwkExpression]) -> Evaluated<Vec<u8>> {
        let Some((format, values)) = values.split_first() else { return Ok(Vec::new()) };
        let format = self.text(format)?;
        let mut arguments = Vec::with_capacity(values.len());
        for value in values {
            arguments.push(self.evaluate(value)?);
        }
        let mut output = Vec::new();
        match format::sprintf(&format, &arguments, &self.special.convfmt, self.encoding, &mut output) {
            Ok(()) => Ok(output),
            Err(message) => self.fatal(message),
        }
    }
}
