//! The door through which the system enters.
//!
//! The usual start of a Rust program changes what a launcher has to pass on untouched: it ignores `SIGPIPE` and opens
//! standard descriptors that were closed. So the C library's entry point is taken directly.
#![expect(
    unsafe_code,
    reason = "the entry point of a program has an unmangled name; `_exit` is a foreign function"
)]

use haft_kernel::memory::CountingAllocator;

/// Counts the memory of each script, so that a script which uses too much of it ends, and not haft.
#[global_allocator]
static ALLOCATOR: CountingAllocator = CountingAllocator::new(end_without_memory);

/// The status of haft after a panic: that of a program which has aborted.
const PANICKED: i32 = 134;

/// The status of haft when the system refuses memory: that of bash.
const OUT_OF_MEMORY: i32 = 2;

/// Ends the process with a message, made without allocating, when the system refuses memory.
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
    // SAFETY: the process ends at once, without handlers that could allocate.
    unsafe { libc::_exit(OUT_OF_MEMORY) }
}

/// Where the C library hands over.
// SAFETY: no other function of this name is linked, and it has the signature that the C library expects.
#[unsafe(no_mangle)]
extern "C" fn main(_count: i32, _arguments: *const *const i8) -> i32 {
    // A panic must not leave a function that C has called.
    std::panic::catch_unwind(crate::run).unwrap_or(PANICKED)
}
