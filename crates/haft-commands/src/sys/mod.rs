//! Functions of the C library. All `unsafe` code of this crate is here.

#![expect(unsafe_code, reason = "functions of the C library are foreign functions")]

pub(crate) mod math;
