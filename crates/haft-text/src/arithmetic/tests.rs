//! Expectations are the results of bash 5.2.

use std::collections::HashMap;

use super::*;

/// Variables as strings, array elements by `name[key]`.
#[derive(Default)]
struct TestVariables {
    values: HashMap<String, String>,
    associative: Vec<&'static str>,
}

fn element(name: &Bytes, key: ArithmeticKey<'_>) -> String {
    match key {
        ArithmeticKey::Index(index) => format!("{name}[{index}]"),
        ArithmeticKey::Text(text) => format!("{name}[{}]", String::from_utf8_lossy(text)),
    }
}

impl ArithmeticVariables for TestVariables {
    type Error = ArithmeticError;

    fn get(&mut self, name: &Bytes) -> Result<Bytes, ArithmeticError> {
        Ok(self.values.get(&name.to_string()).map(|value| value.as_str().into()).unwrap_or_default())
    }

    fn set(&mut self, name: &Bytes, value: i64) -> Result<(), ArithmeticError> {
        self.values.insert(name.to_string(), value.to_string());
        Ok(())
    }

    fn is_associative(&mut self, name: &Bytes) -> bool {
        self.associative.iter().any(|known| *name == *known)
    }

    fn get_element(&mut self, name: &Bytes, key: ArithmeticKey<'_>) -> Result<Bytes, ArithmeticError> {
        Ok(self.values.get(&element(name, key)).map(|value| value.as_str().into()).unwrap_or_default())
    }

    fn set_element(
        &mut self,
        name: &Bytes,
        key: ArithmeticKey<'_>,
        value: i64,
    ) -> Result<(), ArithmeticError> {
        self.values.insert(element(name, key), value.to_string());
        Ok(())
    }

    fn expand_subscript(&mut self, text: &[u8]) -> Result<Bytes, ArithmeticError> {
        Ok(text.into())
    }

    fn expansion(&mut self, part: u32) -> Result<i64, ArithmeticError> {
        Ok(part.into())
    }
}

fn value(text: &str) -> Result<i64, ArithmeticError> {
    evaluate_text(text.as_bytes(), &mut TestVariables::default())
}

#[test]
fn numbers_wrap_around() {
    for (text, expected) in [
        ("9223372036854775807 + 1", i64::MIN),
        ("2**63", i64::MIN),
        ("2**64", 0),
        ("3**0", 1),
        ("1 << 65", 2),
        ("1 << -1", i64::MIN),
        ("-8 >> 1", -4),
        ("-7 / 2", -3),
        ("-7 % 3", -1),
        ("(-9223372036854775807 - 1) / -1", i64::MIN),
        ("(-9223372036854775807 - 1) % -1", 0),
        ("~5", -6),
        ("!5", 0),
        ("5 ? 6 : 7", 6),
        ("1, 2, 3", 3),
        ("2 && 0 || 4", 1),
        ("", 0),
    ] {
        assert_eq!(value(text), Ok(expected), "{text}");
    }
}

#[test]
fn invalid_operations_are_errors() {
    assert_eq!(value("1 / 0"), Err(ArithmeticError::DivisionByZero));
    assert_eq!(value("1 % 0"), Err(ArithmeticError::DivisionByZero));
    assert_eq!(value("2 ** -1"), Err(ArithmeticError::NegativeExponent));
    assert_eq!(value("0 && 1 / 0"), Ok(0));
    assert!(matches!(value("1 +"), Err(ArithmeticError::Value { .. })));
    let mut table = TestVariables::default();
    table.values.insert("x".into(), "x".into());
    assert_eq!(evaluate_text(b"x", &mut table), Err(ArithmeticError::TooDeep));
}

#[test]
fn values_are_expressions() {
    let mut table = TestVariables::default();
    table.values.insert("x".into(), "y + 1".into());
    table.values.insert("y".into(), "0x10".into());
    table.values.insert("z".into(), "010".into());
    assert_eq!(evaluate_text(b"x * 2 + z", &mut table), Ok(42));
}

#[test]
fn operands_are_evaluated_in_bash_order() {
    let mut table = TestVariables::default();
    assert_eq!(evaluate_text(b"a[i++] = i", &mut table), Ok(0));
    assert_eq!(table.values["a[0]"], "0");
    assert_eq!(table.values["i"], "1");
    table.values.insert("b[1]".into(), "5".into());
    assert_eq!(evaluate_text(b"b[i++] += i", &mut table), Ok(7));
    table.values.insert("x".into(), "1".into());
    assert_eq!(evaluate_text(b"x += x++", &mut table), Ok(2));
    assert_eq!(evaluate_text(b"x++ + ++x, x--", &mut table), Ok(4));
    assert_eq!(table.values["x"], "3");
    table.associative.push("m");
    assert_eq!(evaluate_text(b"m[a b] = 3, m[a b] + 1", &mut table), Ok(4));
}

#[test]
fn long_chains_do_not_overflow_the_stack() {
    let text = vec!["1"; 200_000].join(" + ");
    assert_eq!(value(&text), Ok(200_000));
}

#[test]
fn plain_numbers_are_recognized() {
    for (text, number) in [
        ("", Some(0)),
        ("0", Some(0)),
        ("-12", Some(-12)),
        ("999999999999999999", Some(999_999_999_999_999_999)),
    ] {
        assert_eq!(plain_number(text.as_bytes()), number, "{text}");
    }
    for text in ["-", "010", "0x1", "1 ", "+1", "9999999999999999999", "a"] {
        assert_eq!(plain_number(text.as_bytes()), None, "{text}");
    }
}
