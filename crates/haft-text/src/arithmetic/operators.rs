//! The operators.

use haft_lang::ast::{BinaryOperator, UnaryOperator};

use super::ArithmeticError;

#[inline]
pub(super) fn unary(operator: UnaryOperator, operand: i64) -> i64 {
    match operator {
        UnaryOperator::Minus => operand.wrapping_neg(),
        UnaryOperator::Plus => operand,
        UnaryOperator::Not => i64::from(operand == 0),
        UnaryOperator::Complement => !operand,
    }
}

#[inline]
pub(super) fn binary(operator: BinaryOperator, left: i64, right: i64) -> Result<i64, ArithmeticError> {
    Ok(match operator {
        BinaryOperator::Power => return power(left, right),
        BinaryOperator::Multiply => left.wrapping_mul(right),
        BinaryOperator::Divide | BinaryOperator::Remainder if right == 0 => {
            return Err(ArithmeticError::DivisionByZero);
        }
        BinaryOperator::Divide => left.wrapping_div(right),
        BinaryOperator::Remainder => left.wrapping_rem(right),
        BinaryOperator::Add => left.wrapping_add(right),
        BinaryOperator::Subtract => left.wrapping_sub(right),
        BinaryOperator::ShiftLeft => left.wrapping_shl(shift(right)),
        BinaryOperator::ShiftRight => left.wrapping_shr(shift(right)),
        BinaryOperator::Less => i64::from(left < right),
        BinaryOperator::LessOrEqual => i64::from(left <= right),
        BinaryOperator::Greater => i64::from(left > right),
        BinaryOperator::GreaterOrEqual => i64::from(left >= right),
        BinaryOperator::Equal => i64::from(left == right),
        BinaryOperator::NotEqual => i64::from(left != right),
        BinaryOperator::BitAnd => left & right,
        BinaryOperator::BitXor => left ^ right,
        BinaryOperator::BitOr => left | right,
    })
}

/// The processor uses the lowest six bits of a shift distance, so bash does.
fn shift(distance: i64) -> u32 {
    u32::try_from(distance & 63).unwrap_or(0)
}

fn power(base: i64, exponent: i64) -> Result<i64, ArithmeticError> {
    let Ok(mut exponent) = u64::try_from(exponent) else { return Err(ArithmeticError::NegativeExponent) };
    let (mut result, mut square) = (1i64, base);
    while exponent > 0 {
        if exponent & 1 == 1 {
            result = result.wrapping_mul(square);
        }
        square = square.wrapping_mul(square);
        exponent >>= 1;
    }
    Ok(result)
}
