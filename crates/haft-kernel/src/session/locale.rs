//! The locale: character encoding, order of strings, decimal point.

use haft_text::encoding::Encoding;

use crate::session::Session;
use crate::sys::SystemLocale;

/// The decimal point of the locale `C`.
const POINT: &[u8] = b".";

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

    /// The locale that orders strings; `None` if they are ordered by their bytes.
    pub(crate) fn collation(&self) -> Option<&'static SystemLocale> {
        self.locale_of(b"LC_COLLATE")
    }

    /// The decimal point of numbers.
    pub(crate) fn decimal_point(&self) -> &'static [u8] {
        self.locale_of(b"LC_NUMERIC").map_or(POINT, SystemLocale::decimal_point)
    }

    /// The locale that `LC_ALL`, the variable of a category or `LANG` selects.
    fn locale_of(&self, category: &[u8]) -> Option<&'static SystemLocale> {
        let names = [b"LC_ALL".as_slice(), category, b"LANG"];
        let chosen = names
            .into_iter()
            .find_map(|name| self.variables.get(name)?.as_scalar().filter(|value| !value.is_empty()));
        SystemLocale::named(chosen?)
    }

    /// The encoding of a text. ASCII does not depend on the locale.
    pub(crate) fn encoding_of(&self, text: &[u8]) -> Encoding {
        if text.is_ascii() { Encoding::Utf8 } else { self.encoding() }
    }
}
