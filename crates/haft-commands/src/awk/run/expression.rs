//! Evaluates expressions.

use std::cmp::Ordering;

use haft_kernel::Bytes;

use super::statement::StatementFlow;
use super::{AwkRun, Evaluated, FrameSlot, MAX_STACK_BYTES, SharedArray};
use crate::awk::number;
use crate::awk::tree::{ArithmeticOperator, AwkExpression, AwkPlace, ComparisonOperator, VariableSlot};
use crate::awk::value::AwkValue;

impl AwkRun<'_, '_, '_> {
    /// Evaluates an expression whose value is not used.
    pub(super) fn discard(&mut self, expression: &AwkExpression) -> Evaluated<()> {
        match expression {
            AwkExpression::Update(place, operator, value) => self.update(place, *operator, value).map(drop),
            AwkExpression::Increment { place, change, .. } => self.increment(place, *change).map(drop),
            _ => self.evaluate(expression).map(drop),
        }
    }

    pub(super) fn evaluate(&mut self, expression: &AwkExpression) -> Evaluated<AwkValue> {
        Ok(match expression {
            AwkExpression::Number(number) => AwkValue::Number(*number),
            AwkExpression::Text(text) => AwkValue::Text(text.clone()),
            AwkExpression::Place(place) => self.place_value(place)?,
            AwkExpression::Assign(place, value) => {
                let value = self.evaluate(value)?;
                self.assign(place, value.clone())?;
                value
            }
            AwkExpression::Concatenation(..) => {
                let mut text = Vec::new();
                self.append(expression, &mut text)?;
                AwkValue::Text(text.into())
            }
            AwkExpression::Conditional(condition, then, otherwise) => {
                let chosen = if self.is_true(condition)? { then } else { otherwise };
                self.evaluate(chosen)?
            }
            AwkExpression::Call(index, arguments) => self.call(*index, arguments)?,
            AwkExpression::Builtin(function, arguments) => self.builtin(*function, arguments)?,
            AwkExpression::Getline { place, source } => self.getline(place.as_deref(), source.as_ref())?,
            AwkExpression::Group(values) => AwkValue::Text(self.subscript(values)?),
            AwkExpression::Regex(_)
            | AwkExpression::Comparison(..)
            | AwkExpression::And(..)
            | AwkExpression::Or(..)
            | AwkExpression::Not(_)
            | AwkExpression::Match { .. }
            | AwkExpression::In(..) => AwkValue::truth(self.is_true(expression)?),
            _ => AwkValue::Number(self.number(expression)?),
        })
    }

    /// Appends the text of an expression.
    fn append(&mut self, expression: &AwkExpression, text: &mut Vec<u8>) -> Evaluated<()> {
        if let AwkExpression::Concatenation(left, right) = expression {
            self.append(left, text)?;
            return self.append(right, text);
        }
        let value = self.evaluate(expression)?;
        text.extend_from_slice(&value.bytes(&self.special.convfmt));
        Ok(())
    }

    /// The value of an expression as a number.
    pub(super) fn number(&mut self, expression: &AwkExpression) -> Evaluated<f64> {
        Ok(match expression {
            AwkExpression::Number(number) => *number,
            AwkExpression::Place(AwkPlace::Field(index)) => {
                let index = self.field_index(index)?;
                match self.record.slice(index) {
                    Some(slice) => number::value(slice),
                    None => self.record.value(index).to_number(),
                }
            }
            AwkExpression::Place(AwkPlace::Variable(VariableSlot::Global(index))) => {
                self.globals[*index].to_number()
            }
            AwkExpression::Update(place, operator, value) => self.update(place, *operator, value)?,
            AwkExpression::Increment { place, change, is_prefix } => {
                let old = self.increment(place, *change)?;
                if *is_prefix { old + change } else { old }
            }
            AwkExpression::Arithmetic(operator, left, right) => {
                let (left, right) = (self.number(left)?, self.number(right)?);
                self.calculate(*operator, left, right)?
            }
            AwkExpression::Negate(operand) => -self.number(operand)?,
            AwkExpression::ToNumber(operand) => self.number(operand)?,
            other => self.evaluate(other)?.to_number(),
        })
    }

    /// The value of an expression as text.
    pub(super) fn text(&mut self, expression: &AwkExpression) -> Evaluated<Bytes> {
        let value = self.evaluate(expression)?;
        Ok(value.to_text(&self.special.convfmt))
    }

    pub(super) fn is_true(&mut self, expression: &AwkExpression) -> Evaluated<bool> {
        Ok(match expression {
            AwkExpression::Regex(regex) => {
                let compiled = self.constant(regex)?;
                match compiled.is_match(self.record.text()) {
                    Ok(is_match) => is_match,
                    Err(_) => return self.fatal("regular expression needs too many steps"),
                }
            }
            AwkExpression::Comparison(operator, left, right) => self.compare(*operator, left, right)?,
            AwkExpression::And(left, right) => self.is_true(left)? && self.is_true(right)?,
            AwkExpression::Or(left, right) => self.is_true(left)? || self.is_true(right)?,
            AwkExpression::Not(operand) => !self.is_true(operand)?,
            AwkExpression::Match { is_negated, text, regex } => self.matches(text, regex)? != *is_negated,
            AwkExpression::In(subscripts, array) => {
                let key = self.subscript(subscripts)?;
                self.array(*array)?.borrow().contains(&key)
            }
            other => self.evaluate(other)?.is_true(),
        })
    }

    fn matches(&mut self, text: &AwkExpression, regex: &AwkExpression) -> Evaluated<bool> {
        let compiled = match regex {
            AwkExpression::Regex(constant) => self.constant(constant)?,
            other => {
                let pattern = self.text(other)?;
                self.regex(&pattern)?
            }
        };
        if let AwkExpression::Place(AwkPlace::Field(index)) = text {
            let index = self.field_index(index)?;
            if let Some(slice) = self.record.slice(index) {
                return Ok(compiled.is_match(slice).unwrap_or(false));
            }
        }
        let text = self.text(text)?;
        Ok(compiled.is_match(&text).unwrap_or(false))
    }

    fn compare(
        &mut self,
        operator: ComparisonOperator,
        left: &AwkExpression,
        right: &AwkExpression,
    ) -> Evaluated<bool> {
        let (left, right) = (self.evaluate(left)?, self.evaluate(right)?);
        let numbers = match (&left, &right) {
            (AwkValue::Text(_), _) | (_, AwkValue::Text(_)) => None,
            _ => left.as_number().zip(right.as_number()),
        };
        if let Some((left, right)) = numbers {
            return Ok(match operator {
                ComparisonOperator::Less => left < right,
                ComparisonOperator::LessOrEqual => left <= right,
                ComparisonOperator::Equal => left == right,
                ComparisonOperator::NotEqual => left != right,
                ComparisonOperator::Greater => left > right,
                ComparisonOperator::GreaterOrEqual => left >= right,
            });
        }
        let convfmt = &self.special.convfmt;
        let (left, right) = (left.bytes(convfmt), right.bytes(convfmt));
        let order = match self.ignores_case() {
            true => self.encoding.to_lowercase(&left).cmp(&self.encoding.to_lowercase(&right)),
            false => left.cmp(&right),
        };
        Ok(match operator {
            ComparisonOperator::Less => order == Ordering::Less,
            ComparisonOperator::LessOrEqual => order != Ordering::Greater,
            ComparisonOperator::Equal => order == Ordering::Equal,
            ComparisonOperator::NotEqual => order != Ordering::Equal,
            ComparisonOperator::Greater => order == Ordering::Greater,
            ComparisonOperator::GreaterOrEqual => order != Ordering::Less,
        })
    }

    pub(super) fn calculate(&self, operator: ArithmeticOperator, left: f64, right: f64) -> Evaluated<f64> {
        Ok(match operator {
            ArithmeticOperator::Add => left + right,
            ArithmeticOperator::Subtract => left - right,
            ArithmeticOperator::Multiply => left * right,
            ArithmeticOperator::Divide if right == 0.0 => return self.fatal("division by zero attempted"),
            ArithmeticOperator::Divide => left / right,
            ArithmeticOperator::Remainder if right == 0.0 => {
                return self.fatal("division by zero attempted in `%'");
            }
            ArithmeticOperator::Remainder => left % right,
            ArithmeticOperator::Power => left.powf(right),
        })
    }

    /// Calls a function of the program.
    fn call(&mut self, index: usize, arguments: &[AwkExpression]) -> Evaluated<AwkValue> {
        let marker = 0u8;
        if self.stack_start.abs_diff(std::ptr::from_ref(&marker).addr()) > MAX_STACK_BYTES {
            return self.fatal("function calls are nested too deep");
        }
        let program = self.program.clone();
        let function = &program.functions[index];
        if arguments.len() > function.parameters.len() {
            return self
                .fatal(format!("function `{}' called with more arguments than declared", function.name));
        }
        let mut slots = Vec::with_capacity(function.parameters.len());
        for (position, is_array) in function.array_parameters.iter().enumerate() {
            slots.push(match (arguments.get(position), is_array) {
                (Some(AwkExpression::Place(AwkPlace::Variable(variable))), true) => {
                    FrameSlot::Array(self.array(*variable)?)
                }
                (Some(_), true) => {
                    return self.fatal(format!("function `{}' needs an array", function.name));
                }
                (None, true) => FrameSlot::Array(SharedArray::default()),
                (Some(argument), false) => FrameSlot::Scalar(self.evaluate(argument)?),
                (None, false) => FrameSlot::Scalar(AwkValue::Unset),
            });
        }
        self.run.context.check()?;
        let outer = std::mem::replace(&mut self.base, self.frames.len());
        self.frames.extend(slots);
        let result = self.statements(&function.body);
        self.frames.truncate(self.base);
        self.base = outer;
        match result? {
            StatementFlow::Return(value) => Ok(value),
            _ => Ok(AwkValue::Unset),
        }
    }
}
