//! Locales of the C library: the order of strings, and the decimal point.

use std::cmp::Ordering;
use std::ffi::{CStr, CString, c_char, c_int};
use std::sync::{Mutex, PoisonError};

/// How many locales are opened at most. They are never closed.
const MAX_LOCALES: usize = 64;

unsafe extern "C" {
    fn strcoll_l(left: *const c_char, right: *const c_char, locale: libc::locale_t) -> c_int;
}

/// A locale that is installed on the machine.
#[derive(Debug)]
pub(crate) struct SystemLocale(libc::locale_t);

// SAFETY: a locale object is not changed after `newlocale` has made it, and functions of the C library may use it on all threads.
unsafe impl Send for SystemLocale {}
// SAFETY: as above.
unsafe impl Sync for SystemLocale {}

/// The locales that were opened, by name; `None` for those that are not installed.
static OPENED: Mutex<Vec<(Vec<u8>, Option<&'static SystemLocale>)>> = Mutex::new(Vec::new());

impl SystemLocale {
    /// Returns the locale of this name. Returns `None` for the locale `C`, and for one that is not installed.
    pub(crate) fn named(name: &[u8]) -> Option<&'static Self> {
        if matches!(name, b"" | b"C" | b"POSIX") || name.starts_with(b"C.") {
            return None;
        }
        let mut opened = OPENED.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((_, known)) = opened.iter().find(|(known, _)| known == name) {
            return *known;
        }
        if opened.len() >= MAX_LOCALES {
            return None;
        }
        let locale = Self::open(name).map(|locale| &*Box::leak(Box::new(locale)));
        opened.push((name.to_vec(), locale));
        locale
    }

    fn open(name: &[u8]) -> Option<Self> {
        let name = CString::new(name).ok()?;
        let mask = libc::LC_COLLATE_MASK | libc::LC_CTYPE_MASK | libc::LC_NUMERIC_MASK;
        // SAFETY: the name ends with a NUL byte, and a null base means a new object.
        let locale = unsafe { libc::newlocale(mask, name.as_ptr(), std::ptr::null_mut()) };
        (!locale.is_null()).then_some(Self(locale))
    }

    /// Compares two strings in the order of the locale; equal ones by their bytes.
    pub(crate) fn compare(&self, left: &[u8], right: &[u8]) -> Ordering {
        let (Ok(first), Ok(second)) = (CString::new(left), CString::new(right)) else {
            return left.cmp(right);
        };
        // SAFETY: both strings end with a NUL byte, and the locale is never freed.
        let order = unsafe { strcoll_l(first.as_ptr(), second.as_ptr(), self.0) };
        order.cmp(&0).then_with(|| left.cmp(right))
    }

    /// The decimal point.
    pub(crate) fn decimal_point(&self) -> &'static [u8] {
        // SAFETY: the locale is never freed, so that the text that belongs to it stays.
        let text = unsafe { CStr::from_ptr(libc::nl_langinfo_l(libc::RADIXCHAR, self.0)) };
        match text.to_bytes() {
            b"" => b".",
            point => point,
        }
    }
}
