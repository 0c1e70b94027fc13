//! The locale, as far as it matters: what a character is.

use haft_text::encoding::Encoding;

use crate::session::Session;

impl Session {
    /// What a character is now. Without a locale it is a byte.
    pub(crate) fn encoding(&self) -> Encoding {
        let names = [b"LC_ALL".as_slice(), b"LC_CTYPE", b"LANG"];
        let chosen = names.into_iter().find_map(|name| {
            let value = self.variables.get(name)?.as_scalar()?;
            (!value.is_empty()).then(|| Encoding::of_locale(value))
        });
        chosen.unwrap_or(Encoding::Bytes)
    }

    /// What a character of a text is: the locale is asked only where it makes a difference.
    pub(crate) fn encoding_of(&self, text: &[u8]) -> Encoding {
        if text.is_ascii() { Encoding::Utf8 } else { self.encoding() }
    }
}
