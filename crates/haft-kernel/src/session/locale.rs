//! The character encoding of the locale.

use haft_text::encoding::Encoding;

use crate::session::Session;

impl Session {
    /// The encoding that `LC_ALL`, `LC_CTYPE` or `LANG` selects. Without a locale, a character is a byte.
    #[must_use]
    pub fn encoding(&self) -> Encoding {
        let names = [b"LC_ALL".as_slice(), b"LC_CTYPE", b"LANG"];
        let chosen = names.into_iter().find_map(|name| {
            let value = self.variables.get(name)?.as_scalar()?;
            (!value.is_empty()).then(|| Encoding::of_locale(value))
        });
        chosen.unwrap_or(Encoding::Bytes)
    }

    /// The encoding of a text. ASCII does not depend on the locale.
    pub(crate) fn encoding_of(&self, text: &[u8]) -> Encoding {
        if text.is_ascii() { Encoding::Utf8 } else { self.encoding() }
    }
}
