//! `${name:offset:length}`.

use haft_lang::ast::{Arithmetic, Special};

use super::parameter::{Fetched, Place, Selection};
use crate::bytes::Bytes;
use crate::flow::Unwind;
use crate::session::Session;
use crate::variables::Value;

impl Session {
    pub(super) fn substring(
        &mut self,
        place: &Place,
        fetched: Fetched,
        offset: &Arithmetic,
        length: Option<&Arithmetic>,
    ) -> Result<Fetched, Unwind> {
        match fetched {
            Fetched::Unset => Ok(Fetched::Unset),
            Fetched::One(value) => self.slice_text(&value, offset, length).map(Fetched::One),
            Fetched::Many { values, star } => {
                let offset = self.evaluate(offset)?;
                let length = length.map(|length| self.evaluate(length)).transpose()?;
                if length.is_some_and(|length| length < 0) {
                    let length = length.unwrap_or_default();
                    return Err(self.fail(format_args!("{length}: substring expression < 0")));
                }
                let values = self.slice_list(place, values, offset, length);
                Ok(Fetched::Many { values, star })
            }
        }
    }

    /// Characters of a text from an offset on. The length is not looked at where the offset is none of the text.
    fn slice_text(
        &mut self,
        value: &[u8],
        offset: &Arithmetic,
        length: Option<&Arithmetic>,
    ) -> Result<Bytes, Unwind> {
        let offset = self.evaluate(offset)?;
        let encoding = self.encoding_of(value);
        let count = i64::try_from(encoding.count(value)).unwrap_or(i64::MAX);
        let start = if offset < 0 { offset.saturating_add(count) } else { offset };
        if start < 0 || start > count {
            return Ok(Bytes::new());
        }
        let length = length.map(|length| self.evaluate(length)).transpose()?;
        let end = match length {
            None => count,
            Some(length) if length < 0 => count.saturating_add(length),
            Some(length) => start.saturating_add(length).min(count),
        };
        if end < start {
            let length = length.unwrap_or_default();
            return Err(self.fail(format_args!("{length}: substring expression < 0")));
        }
        let (start, end) = (usize::try_from(start).unwrap_or(0), usize::try_from(end).unwrap_or(0));
        if value.is_ascii() {
            return Ok(value.get(start..end).unwrap_or_default().into());
        }
        let chosen: Vec<u8> =
            encoding.characters(value).skip(start).take(end - start).flatten().copied().collect();
        Ok(chosen.into())
    }

    /// Elements from an offset on: of `$@`, counted with `$0` as element 0; of an indexed array, by index.
    fn slice_list(
        &mut self,
        place: &Place,
        values: Vec<Bytes>,
        offset: i64,
        length: Option<i64>,
    ) -> Vec<Bytes> {
        let limit = length.and_then(|length| usize::try_from(length).ok()).unwrap_or(usize::MAX);
        match place {
            Place::Special(Special::At | Special::Star) => {
                let all: Vec<Bytes> = std::iter::once(self.name.clone()).chain(values).collect();
                skip_from(&all, offset, i64::try_from(all.len()).unwrap_or(i64::MAX))
                    .take(limit)
                    .cloned()
                    .collect()
            }
            Place::Variable { name, selection: Selection::All { .. } } => {
                let variable = self.lookup(name);
                if let Some(Value::Indexed(array)) = variable.as_deref().map(|variable| &variable.value) {
                    let Some(start) = array.resolve(offset) else { return Vec::new() };
                    let chosen = array.iter().filter(|(index, _)| *index >= start).take(limit);
                    return chosen.map(|(_, value)| value.clone()).collect();
                }
                drop(variable);
                let end = i64::try_from(values.len()).unwrap_or(i64::MAX);
                let associative = self.is_associative(name);
                let offset = if associative && offset > 0 { offset - 1 } else { offset };
                skip_from(&values, offset, end).take(limit).cloned().collect()
            }
            _ => values,
        }
    }
}

fn skip_from(values: &[Bytes], offset: i64, count: i64) -> impl Iterator<Item = &Bytes> {
    let start = if offset < 0 { offset.saturating_add(count) } else { offset };
    let start = usize::try_from(start).unwrap_or(usize::MAX);
    values.iter().skip(start)
}
