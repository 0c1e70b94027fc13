//! The C entry point of the program.
//!
//! Rust's own start-up code ignores `SIGPIPE` and opens closed standard descriptors, which programs that haft starts would
//! inherit. So haft defines `main` itself.
#![expect(
    unsafe_code,
    reason = "the entry point of a program has an unmangled name; `_exit` is a foreign function"
)]

use haft_kernel::memory::CountingAllocator;

/// Counts the memory of each script, so that a script at its limit ends, and not haft.
#[global_allocator]
static ALLOCATOR: CountingAllocator = CountingAllocator::new(end_without_memory);

/// The exit status after a panic: that of `SIGABRT`.
const PANIC_STATUS: i32 = 134;

/// The exit status when the system refuses memory, as in bash.
const OUT_OF_MEMORY_STATUS: i32 = 2;

/// Ends the process with a message when the system refuses memory. Must not allocate.
fn end_without_memory(bytes: usize) {
    let mut digits = [b'0'; 20];
    let mut at = digits.len();
    let mut rest = bytes;
    while rest > 0 || at == digits.len() {
        at -= 1;
        digits[at] = b'0' + (rest % 10) as u8;
        rest /= 10;
    }
    let parts: [&[u8]; 3] = [
        b"haft: cannot allocate ",
        &digits[at..],
        b" bytes: the system has no memory left, or a limit such as 'ulimit -v' is reached\n",
    ];
    let _ = rustix::io::writev(rustix::stdio::stderr(), &parts.map(std::io::IoSlice::new));
    // SAFETY: `_exit` ends the process without running handlers, which could allocate.
    unsafe { libc::_exit(OUT_OF_MEMORY_STATUS) }
}

/// The entry point that the C library calls.
// SAFETY: no other function of this name is linked, and it has the signature that the C library expects.
#[unsafe(no_mangle)]
extern "C" fn main(_count: i32, _arguments: *const *const i8) -> i32 {
    // A panic must not unwind into C.
    std::panic::catch_unwind(crate::run).unwrap_or(PANIC_STATUS)
}
