//! A value that remembers where it was written.

use std::fmt;
use std::marker::PhantomData;
use std::ops::Deref;

use serde::de::{Deserialize, Deserializer, Error as _, SeqAccess, Visitor};

use crate::source::ConfigSpan;

/// The name by which the reader of this crate recognises the wish for a span.
pub(crate) const SPANNED: &str = "$haft_config::Spanned";
const FIELDS: &[&str] = &["source", "start", "end", "value"];

/// A value with where it stands, for errors that are only found when all is read: a name that nothing has, a
/// placeholder that does not exist. Only [`Config`](crate::Config) can read one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Spanned<T> {
    /// The value.
    pub value: T,
    /// Where it stands.
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
        deserializer.deserialize_struct(SPANNED, FIELDS, SpannedVisitor(PhantomData))
    }
}

struct SpannedVisitor<T>(PhantomData<T>);

impl<'de, T: Deserialize<'de>> Visitor<'de> for SpannedVisitor<T> {
    type Value = Spanned<T>;

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("a value with its location")
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut parts: A) -> Result<Spanned<T>, A::Error> {
        let mut number = || parts.next_element::<usize>()?.ok_or_else(|| A::Error::custom("no location"));
        let span = ConfigSpan { source: number()?, start: number()?, end: number()? };
        let value = parts.next_element()?.ok_or_else(|| A::Error::custom("no value"))?;
        Ok(Spanned { value, span })
    }
}
