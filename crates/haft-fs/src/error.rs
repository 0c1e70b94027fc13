//! System errors.

use std::io;

use rustix::io::Errno;

/// Returns the text of an error without its number, such as "No such file or directory".
#[must_use]
pub fn message(error: &io::Error) -> String {
    let text = error.to_string();
    match text.find(" (os error ") {
        Some(end) if error.raw_os_error().is_some() => text[..end].to_owned(),
        _ => text,
    }
}

/// Makes an error of an errno value.
pub(crate) fn system(errno: Errno) -> io::Error {
    io::Error::from_raw_os_error(errno.raw_os_error())
}

/// Returns an error of an errno value.
pub(crate) fn fail<T>(errno: Errno) -> io::Result<T> {
    Err(system(errno))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn messages_of_system_errors_have_no_number() {
        assert_eq!(message(&system(Errno::NOENT)), "No such file or directory");
        assert_eq!(message(&io::Error::other("odd (os error 2)")), "odd (os error 2)");
    }
}
