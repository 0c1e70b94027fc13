//! A value with its span.

use std::fmt;
use std::marker::PhantomData;
use std::ops::Deref;

use serde::de::{Deserialize, Deserializer, Error as _, SeqAccess, Visitor};

use crate::source::ConfigSpan;

/// Struct name that tells the deserializer to provide a span.
pub(crate) const SPANNED: &str = "$haft_config::Spanned";
const SPANNED_FIELDS: &[&str] = &["source", "start", "end", "value"];

/// A value with its span, for errors that only appear after everything is read, such as references to unknown
/// names. Only [`Config`](crate::Config) can deserialize it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Spanned<T> {
    /// The value.
    pub value: T,
    /// Its span in the configuration.
    pub span: ConfigSpan,
}

impl<T> Deref for Spanned<T> {
    type Target = T;

    fn deref(&self) -> &T {
        &self.value
    }
}

impl<'de, T: Deserialize<'de>> Deserialize<'de> for Spanned<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Spanned<T>, D::Error> {
        deserializer.deserialize_struct(SPANNED, SPANNED_FIELDS, SpannedVisitor(PhantomData))
    }
}

struct SpannedVisitor<T>(PhantomData<T>);

impl<'de, T: Deserialize<'de>> Visitor<'de> for SpannedVisitor<T> {
    type Value = Spanned<T>;

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("a value with its span")
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut parts: A) -> Result<Spanned<T>, A::Error> {
        let mut number = || parts.next_element::<usize>()?.ok_or_else(|| A::Error::custom("missing span"));
        let span = ConfigSpan { source: number()?, start: number()?, end: number()? };
        let value = parts.next_element()?.ok_or_else(|| A::Error::custom("missing value"))?;
        Ok(Spanned { value, span })
    }
}
