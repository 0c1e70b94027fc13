//! Mathematical functions that the standard library does not have, or computes in another way.

use std::ffi::{c_int, c_long};

mod foreign {
    use std::ffi::{c_int, c_long};

    unsafe extern "C" {
        pub(super) safe fn acosh(x: f64) -> f64;
        pub(super) safe fn asinh(x: f64) -> f64;
        pub(super) safe fn atanh(x: f64) -> f64;
        pub(super) safe fn erf(x: f64) -> f64;
        pub(super) safe fn erfc(x: f64) -> f64;
        pub(super) safe fn exp10(x: f64) -> f64;
        pub(super) safe fn fdim(x: f64, y: f64) -> f64;
        pub(super) safe fn j0(x: f64) -> f64;
        pub(super) safe fn j1(x: f64) -> f64;
        pub(super) safe fn jn(n: c_int, x: f64) -> f64;
        pub(super) safe fn ldexp(x: f64, exponent: c_int) -> f64;
        pub(super) safe fn lgamma(x: f64) -> f64;
        pub(super) safe fn logb(x: f64) -> f64;
        pub(super) safe fn nearbyint(x: f64) -> f64;
        pub(super) safe fn nextafter(x: f64, y: f64) -> f64;
        pub(super) safe fn remainder(x: f64, y: f64) -> f64;
        pub(super) safe fn scalbln(x: f64, exponent: c_long) -> f64;
        pub(super) safe fn tgamma(x: f64) -> f64;
        pub(super) safe fn y0(x: f64) -> f64;
        pub(super) safe fn y1(x: f64) -> f64;
        pub(super) safe fn yn(n: c_int, x: f64) -> f64;
        pub(super) fn frexp(x: f64, exponent: *mut c_int) -> f64;
    }
}

/// A function of one number.
pub(crate) type Unary = fn(f64) -> f64;

/// A function of two numbers.
pub(crate) type TwoNumbers = fn(f64, f64) -> f64;

/// Functions of one number, by the name that C has for them.
pub(crate) const UNARY: &[(&str, Unary)] = &[
    ("acosh", |x| foreign::acosh(x)),
    ("asinh", |x| foreign::asinh(x)),
    ("atanh", |x| foreign::atanh(x)),
    ("erf", |x| foreign::erf(x)),
    ("erfc", |x| foreign::erfc(x)),
    ("exp10", |x| foreign::exp10(x)),
    ("j0", |x| foreign::j0(x)),
    ("j1", |x| foreign::j1(x)),
    ("lgamma", |x| foreign::lgamma(x)),
    ("logb", |x| foreign::logb(x)),
    ("nearbyint", |x| foreign::nearbyint(x)),
    ("tgamma", |x| foreign::tgamma(x)),
    ("y0", |x| foreign::y0(x)),
    ("y1", |x| foreign::y1(x)),
];

/// Functions of two numbers.
pub(crate) const TWO_NUMBERS: &[(&str, TwoNumbers)] = &[
    ("fdim", |x, y| foreign::fdim(x, y)),
    ("jn", |n, x| foreign::jn(n as c_int, x)),
    ("ldexp", |x, exponent| foreign::ldexp(x, exponent as c_int)),
    ("nextafter", |x, y| foreign::nextafter(x, y)),
    ("remainder", |x, y| foreign::remainder(x, y)),
    ("scalbln", |x, exponent| foreign::scalbln(x, exponent as c_long)),
    ("yn", |n, x| foreign::yn(n as c_int, x)),
];

/// The fraction and the exponent of a number.
pub(crate) fn frexp(x: f64) -> (f64, i32) {
    let mut exponent: c_int = 0;
    // SAFETY: the pointer is valid for the call.
    let fraction = unsafe { foreign::frexp(x, &raw mut exponent) };
    (fraction, exponent)
}
