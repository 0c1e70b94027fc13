//! The door through which the system enters.
//!
//! The usual start of a Rust program changes what a launcher has to pass on untouched: it ignores `SIGPIPE` and opens
//! standard descriptors that were closed. So the C library's entry point is taken directly.
#![expect(unsafe_code, reason = "the entry point of a program has an unmangled name")]

/// Where the C library hands over.
// SAFETY: no other function of this name is linked, and it has the signature that the C library expects.
#[unsafe(no_mangle)]
extern "C" fn main(_count: i32, _arguments: *const *const i8) -> i32 {
    crate::run()
}
