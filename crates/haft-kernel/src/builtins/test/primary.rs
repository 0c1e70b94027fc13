//! The primaries of `test`.

use haft_lang::ast::BinaryTest;

use crate::builtins::integer::parse_integer;
use crate::session::Session;

/// Evaluates a unary test, given by the letter after the dash.
pub(super) fn unary(session: &mut Session, letter: u8, operand: &[u8]) -> Result<bool, String> {
    match letter {
        b'n' => Ok(!operand.is_empty()),
        b'z' => Ok(operand.is_empty()),
        b't' if parse_integer(operand).is_none() => Ok(false),
        _ => session.test_letter(letter, operand).map_err(|_| "bad subscript".to_owned()),
    }
}

/// Evaluates a binary test. Returns `None` if the word between the operands is not an operator.
pub(super) fn binary(
    session: &mut Session,
    left: &[u8],
    operator: &[u8],
    right: &[u8],
) -> Option<Result<bool, String>> {
    let numbers = |compare: fn(&i64, &i64) -> bool| {
        let parse = |text: &[u8]| parse_integer(text).ok_or_else(|| not_a_number(text));
        parse(left).and_then(|left| Ok(compare(&left, &parse(right)?)))
    };
    Some(match operator {
        b"=" | b"==" => Ok(left == right),
        b"!=" => Ok(left != right),
        b"<" => Ok(left < right),
        b">" => Ok(left > right),
        b"-eq" => numbers(i64::eq),
        b"-ne" => numbers(i64::ne),
        b"-lt" => numbers(i64::lt),
        b"-le" => numbers(i64::le),
        b"-gt" => numbers(i64::gt),
        b"-ge" => numbers(i64::ge),
        b"-nt" => Ok(session.test_files(BinaryTest::Newer, left, right)),
        b"-ot" => Ok(session.test_files(BinaryTest::Older, left, right)),
        b"-ef" => Ok(session.test_files(BinaryTest::SameFile, left, right)),
        _ => return None,
    })
}

fn not_a_number(text: &[u8]) -> String {
    format!("{}: integer expression expected", String::from_utf8_lossy(text))
}
