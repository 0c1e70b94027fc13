//! Errors as the system words them.

use std::io;

use rustix::io::Errno;

/// The text of an error as the system words it, without a number: "No such file or directory".
#[must_use]
pub fn message(error: &io::Error) -> String {
    let text = error.to_string();
    match text.find(" (os error ") {
        Some(end) if error.raw_os_error().is_some() => text[..end].to_owned(),
        _ => text,
    }
}

/// An error with one of the system's numbers.
pub(crate) fn system(errno: Errno) -> io::Error {
    io::Error::from_raw_os_error(errno.raw_os_error())
}

/// A failure with one of the system's numbers.
pub(crate) fn fail<T>(errno: Errno) -> io::Result<T> {
    Err(system(errno))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn system_errors_lose_their_number() {
        assert_eq!(message(&system(Errno::NOENT)), "No such file or directory");
        assert_eq!(message(&io::Error::other("odd (os error 2)")), "odd (os error 2)");
    }
}
