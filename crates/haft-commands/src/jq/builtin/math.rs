//! Functions on numbers.

use super::{Entry, Returned, type_error};
use crate::jq::value::Value;
use crate::sys::math;

/// A function of one number.
fn unary(input: &Value, function: fn(f64) -> f64) -> Returned {
    match input.as_number() {
        Some(number) => Ok(Value::Number(function(number))),
        None => Err(type_error(input, "number required").into()),
    }
}

/// A function of two numbers.
fn of_two(a: &Value, b: &Value, function: fn(f64, f64) -> f64) -> Returned {
    match (a.as_number(), b.as_number()) {
        (None, _) => Err(type_error(a, "number required").into()),
        (_, None) => Err(type_error(b, "number required").into()),
        (Some(a), Some(b)) => Ok(Value::Number(function(a, b))),
    }
}

/// A function of the C library.
fn foreign_unary(input: &Value, name: &str) -> Returned {
    let function = math::UNARY.iter().find(|(known, _)| *known == name).map(|(_, function)| *function);
    unary(input, function.unwrap_or(f64::abs))
}

fn foreign_of_two(a: &Value, b: &Value, name: &str) -> Returned {
    let function = math::TWO_NUMBERS.iter().find(|(known, _)| *known == name).map(|(_, function)| *function);
    of_two(a, b, function.unwrap_or(f64::max))
}

/// The entry of a function of one number.
macro_rules! number_function {
    ($name:literal, $function:expr) => {
        ($name, 0, |_, input, _| unary(&input, $function))
    };
}

/// The entry of a function of two numbers.
macro_rules! two_numbers {
    ($name:literal, $function:expr) => {
        ($name, 2, |_, _, [a, b, _]| of_two(&a, &b, $function))
    };
}

/// The entry of a function of one number in the C library.
macro_rules! foreign {
    ($name:literal) => {
        foreign!($name, $name)
    };
    ($name:literal, $foreign:literal) => {
        ($name, 0, |_, input, _| foreign_unary(&input, $foreign))
    };
}

/// The entry of a function of two numbers in the C library.
macro_rules! foreign_two {
    ($name:literal, $foreign:literal) => {
        ($name, 2, |_, _, [a, b, _]| foreign_of_two(&a, &b, $foreign))
    };
}

pub(super) const TABLE: &[Entry] = &[
    number_function!("acos", f64::acos),
    number_function!("asin", f64::asin),
    number_function!("atan", f64::atan),
    number_function!("cbrt", f64::cbrt),
    number_function!("ceil", f64::ceil),
    number_function!("cos", f64::cos),
    number_function!("cosh", f64::cosh),
    number_function!("exp", f64::exp),
    number_function!("exp2", f64::exp2),
    number_function!("expm1", f64::exp_m1),
    number_function!("fabs", f64::abs),
    number_function!("floor", f64::floor),
    number_function!("log", f64::ln),
    number_function!("log10", f64::log10),
    number_function!("log1p", f64::ln_1p),
    number_function!("log2", f64::log2),
    number_function!("rint", f64::round_ties_even),
    number_function!("round", f64::round),
    number_function!("significand", significand),
    number_function!("sin", f64::sin),
    number_function!("sinh", f64::sinh),
    number_function!("sqrt", f64::sqrt),
    number_function!("tan", f64::tan),
    number_function!("tanh", f64::tanh),
    number_function!("trunc", f64::trunc),
    foreign!("acosh"),
    foreign!("asinh"),
    foreign!("atanh"),
    foreign!("erf"),
    foreign!("erfc"),
    foreign!("exp10"),
    foreign!("pow10", "exp10"),
    foreign!("gamma", "lgamma"),
    foreign!("lgamma"),
    foreign!("tgamma"),
    foreign!("j0"),
    foreign!("j1"),
    foreign!("y0"),
    foreign!("y1"),
    foreign!("logb"),
    foreign!("nearbyint"),
    two_numbers!("atan2", f64::atan2),
    two_numbers!("copysign", f64::copysign),
    two_numbers!("fmax", f64::max),
    two_numbers!("fmin", f64::min),
    two_numbers!("fmod", |a, b| a % b),
    two_numbers!("hypot", f64::hypot),
    two_numbers!("pow", f64::powf),
    two_numbers!("scalb", |x, exponent| x * exponent.exp2()),
    foreign_two!("drem", "remainder"),
    foreign_two!("fdim", "fdim"),
    foreign_two!("jn", "jn"),
    foreign_two!("ldexp", "ldexp"),
    foreign_two!("nextafter", "nextafter"),
    foreign_two!("nexttoward", "nextafter"),
    foreign_two!("remainder", "remainder"),
    foreign_two!("scalbln", "scalbln"),
    foreign_two!("yn", "yn"),
    ("fma", 3, |_, _, [a, b, c]| match (a.as_number(), b.as_number(), c.as_number()) {
        (Some(a), Some(b), Some(c)) => Ok(Value::Number(a.mul_add(b, c))),
        (None, ..) => Err(type_error(&a, "number required").into()),
        (_, None, _) => Err(type_error(&b, "number required").into()),
        _ => Err(type_error(&c, "number required").into()),
    }),
    ("frexp", 0, |_, input, _| match input.as_number() {
        Some(number) => {
            let (fraction, exponent) = math::frexp(number);
            Ok(vec![Value::Number(fraction), Value::Number(f64::from(exponent))].into())
        }
        None => Err(type_error(&input, "number required").into()),
    }),
    ("modf", 0, |_, input, _| match input.as_number() {
        Some(number) => {
            let fraction = if number.is_infinite() { 0.0_f64.copysign(number) } else { number.fract() };
            Ok(vec![Value::Number(fraction.copysign(number)), Value::Number(number.trunc())].into())
        }
        None => Err(type_error(&input, "number required").into()),
    }),
    ("lgamma_r", 0, |_, input, _| match input.as_number() {
        Some(number) => {
            let sign = if gamma_is_negative(number) { -1.0 } else { 1.0 };
            Ok(vec![foreign_unary(&input, "lgamma")?, Value::Number(sign)].into())
        }
        None => Err(type_error(&input, "number required").into()),
    }),
    ("infinite", 0, |_, _, _| Ok(Value::Number(f64::INFINITY))),
    ("nan", 0, |_, _, _| Ok(Value::Number(f64::NAN))),
    ("isinfinite", 0, |_, input, _| Ok(input.as_number().is_some_and(f64::is_infinite).into())),
    ("isnan", 0, |_, input, _| Ok(input.as_number().is_some_and(f64::is_nan).into())),
    ("isnormal", 0, |_, input, _| Ok(input.as_number().is_some_and(f64::is_normal).into())),
];

/// The fraction of a number, from 1 up to 2.
fn significand(number: f64) -> f64 {
    match number == 0.0 || !number.is_finite() {
        true => number,
        false => math::frexp(number).0 * 2.0,
    }
}

/// Whether the gamma function is negative here: between negative integers of which the lower is odd.
fn gamma_is_negative(number: f64) -> bool {
    number < 0.0 && number.floor() % 2.0 != 0.0 && number.floor() != number
}
