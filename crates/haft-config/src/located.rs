//! A value that remembers where it was written.

use std::fmt;
use std::marker::PhantomData;
use std::ops::Deref;

use serde::de::{Deserialize, Deserializer, Error as _, SeqAccess, Visitor};

use crate::source::Mark;

/// The name by which the reader of this crate recognises the wish for a mark.
pub(crate) const LOCATED: &str = "$haft_config::Located";
const FIELDS: &[&str] = &["source", "start", "end", "value"];

/// A value with where it stands, for errors that are only found when all is read: a name that nothing has, a
/// placeholder that does not exist. Only [`Config`](crate::Config) can read one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Located<T> {
    /// The value.
    pub value: T,
    /// Where it stands.
    pub mark: Mark,
}

impl<T> Deref for Located<T> {
    type Target = T;

    fn deref(&self) -> &T {
        &self.value
    }
}

impl<'de, T: Deserialize<'de>> Deserialize<'de> for Located<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Located<T>, D::Error> {
        deserializer.deserialize_struct(LOCATED, FIELDS, Parts(PhantomData))
    }
}

struct Parts<T>(PhantomData<T>);

impl<'de, T: Deserialize<'de>> Visitor<'de> for Parts<T> {
    type Value = Located<T>;

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("a value with its place")
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut parts: A) -> Result<Located<T>, A::Error> {
        let mut number = || parts.next_element::<usize>()?.ok_or_else(|| A::Error::custom("no place"));
        let mark = Mark { source: number()?, start: number()?, end: number()? };
        let value = parts.next_element()?.ok_or_else(|| A::Error::custom("no value"))?;
        Ok(Located { value, mark })
    }
}
