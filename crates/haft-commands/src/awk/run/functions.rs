//! Calls builtin functions.

use super::{AwkRun, Evaluated, times};
use crate::awk::builtin::BuiltinFunction as F;
use crate::awk::tree::AwkExpression;
use crate::awk::value::AwkValue;

impl AwkRun<'_, '_, '_> {
    pub(super) fn builtin(&mut self, function: F, arguments: &[AwkExpression]) -> Evaluated<AwkValue> {
        Ok(match function {
            F::Asort | F::Asorti => self.asort(arguments, function == F::Asorti)?,
            F::Close => {
                let name = self.text(&arguments[0])?;
                AwkValue::Number(self.close(&name)?)
            }
            F::Fflush => match arguments.first() {
                None => {
                    self.flush_all()?;
                    AwkValue::Number(0.0)
                }
                Some(name) => {
                    let name = self.text(name)?;
                    AwkValue::Number(self.flush_named(&name)?)
                }
            },
            F::Gensub => self.gensub(arguments)?,
            F::Sub | F::Gsub => self.substitute(arguments, function == F::Gsub)?,
            F::Index => self.index(arguments)?,
            F::Length => self.length(arguments)?,
            F::Match => self.match_function(arguments)?,
            F::Mktime => self.mktime(arguments)?,
            F::Rand => AwkValue::Number(self.random.number()),
            F::Split => self.split_function(arguments)?,
            F::Sprintf => AwkValue::text(self.sprintf(arguments)?),
            F::Srand => self.srand(arguments)?,
            F::Strftime => self.strftime(arguments)?,
            F::Strtonum => self.strtonum(&arguments[0])?,
            F::Substr => self.substr(arguments)?,
            F::System => {
                let command = self.text(&arguments[0])?;
                AwkValue::Number(self.system(&command)?)
            }
            F::Systime => AwkValue::Number(times::now()),
            F::Tolower => AwkValue::text(self.encoding.to_lowercase(&self.text(&arguments[0])?)),
            F::Toupper => AwkValue::text(self.encoding.to_uppercase(&self.text(&arguments[0])?)),
            F::And | F::Or | F::Xor | F::Lshift | F::Rshift | F::Compl => self.bits(function, arguments)?,
            _ => AwkValue::Number(self.mathematical(function, arguments)?),
        })
    }

    fn mathematical(&mut self, function: F, arguments: &[AwkExpression]) -> Evaluated<f64> {
        let number = self.number(&arguments[0])?;
        if number < 0.0 && matches!(function, F::Log | F::Sqrt) {
            let (name, line) = (function.signature().0, self.line);
            self.run.flush()?;
            self.run.complain(format_args!(
                "cmd. line:{line}: warning: {name}: received negative argument {number}"
            ));
            return Ok(-f64::NAN.abs());
        }
        Ok(match function {
            F::Atan2 => number.atan2(self.number(&arguments[1])?),
            F::Cos => number.cos(),
            F::Exp => number.exp(),
            F::Log => number.ln(),
            F::Sin => number.sin(),
            F::Sqrt => number.sqrt(),
            _ => number.trunc(),
        })
    }

    /// The functions on bits.
    fn bits(&mut self, function: F, arguments: &[AwkExpression]) -> Evaluated<AwkValue> {
        let mut numbers = Vec::with_capacity(arguments.len());
        for argument in arguments {
            let number = self.number(argument)?;
            if number < 0.0 {
                let name = function.signature().0;
                return self.fatal(format!("{name}: negative values are not allowed"));
            }
            #[expect(
                clippy::cast_possible_truncation,
                clippy::cast_sign_loss,
                reason = "the cast saturates"
            )]
            numbers.push(number as u64);
        }
        let shift = |numbers: &[u64]| u32::try_from(numbers[1]).unwrap_or(u32::MAX);
        let rest = numbers[1..].iter().copied();
        let result = match function {
            F::And => rest.fold(numbers[0], |left, right| left & right),
            F::Or => rest.fold(numbers[0], |left, right| left | right),
            F::Xor => rest.fold(numbers[0], |left, right| left ^ right),
            F::Lshift => numbers[0].checked_shl(shift(&numbers)).unwrap_or(0),
            F::Rshift => numbers[0].checked_shr(shift(&numbers)).unwrap_or(0),
            // A double holds 53 bits.
            _ => !numbers[0] & ((1 << 53) - 1),
        };
        #[expect(clippy::cast_precision_loss, reason = "all numbers are doubles")]
        Ok(AwkValue::Number(result as f64))
    }
}
