//! All `unsafe` code of the kernel.
#![expect(
    unsafe_code,
    reason = "an allocator is an unsafe trait, and the locales are functions of the C library"
)]

mod allocator;
mod locale;

pub use allocator::CountingAllocator;
pub(crate) use locale::SystemLocale;
