//! `${name:offset:length}`.

use haft_lang::ast::{Arithmetic, SpecialParameter};
use haft_text::Bytes;

use super::fetched::Fetched;
use super::parameter::{ElementSelection, ParameterTarget, place_name};
use crate::flow::Unwind;
use crate::session::Session;
use crate::variables::VariableValue;

impl Session {
    pub(super) fn substring(
        &mut self,
        place: &ParameterTarget,
        fetched: Fetched,
        offset: &Arithmetic,
        length_text: Option<&Arithmetic>,
    ) -> Result<Fetched, Unwind> {
        match fetched {
            Fetched::Unset => Ok(Fetched::Unset),
            Fetched::One(value) => {
                let text = self.slice_text(place, &value, offset, length_text)?;
                Ok(Fetched::One(text.unwrap_or_default()))
            }
            // Offset and length of an unset parameter are not evaluated.
            Fetched::Many { values, star } if values.is_empty() && !is_positional(place) => {
                Ok(Fetched::Many { values, star })
            }
            // A scalar is a text even with `[@]`.
            Fetched::Many { values, star } if self.is_text(place) && values.len() == 1 => {
                let text = self.slice_text(place, &values[0], offset, length_text)?;
                Ok(Fetched::Many { values: Vec::from_iter(text), star })
            }
            Fetched::Many { values, star } => {
                let prefix = format!("{}: ", place_name(place));
                let offset = self.evaluate_for(&prefix, offset)?;
                if self.starts_beyond(place, values.len(), offset) {
                    return Ok(Fetched::Many { values: Vec::new(), star });
                }
                let length = length_text.map(|length| self.evaluate_for(&prefix, length)).transpose()?;
                if length.is_some_and(|length| length < 0) {
                    return Err(self.fail_negative(length_text));
                }
                let values = self.slice_list(place, values, offset, length);
                Ok(Fetched::Many { values, star })
            }
        }
    }

    fn is_text(&self, place: &ParameterTarget) -> bool {
        let ParameterTarget::Variable { name, .. } = place else { return false };
        self.lookup(name).is_some_and(|variable| matches!(variable.value, VariableValue::Scalar(_)))
    }

    /// Returns characters of a text from an offset on. Returns `None` if the offset is outside of the text; then the length is not evaluated.
    fn slice_text(
        &mut self,
        place: &ParameterTarget,
        value: &[u8],
        offset: &Arithmetic,
        length_text: Option<&Arithmetic>,
    ) -> Result<Option<Bytes>, Unwind> {
        let prefix = format!("{}: ", place_name(place));
        let offset = self.evaluate_for(&prefix, offset)?;
        let encoding = self.encoding_of(value);
        let count = i64::try_from(encoding.count(value)).unwrap_or(i64::MAX);
        let start = if offset < 0 { offset.saturating_add(count) } else { offset };
        if start < 0 || start > count {
            return Ok(None);
        }
        let length = length_text.map(|length| self.evaluate_for(&prefix, length)).transpose()?;
        let end = match length {
            None => count,
            Some(length) if length < 0 => count.saturating_add(length),
            Some(length) => start.saturating_add(length).min(count),
        };
        if end < start {
            return Err(self.fail_negative(length_text));
        }
        let (start, end) = (usize::try_from(start).unwrap_or(0), usize::try_from(end).unwrap_or(0));
        if value.is_ascii() {
            return Ok(Some(value.get(start..end).unwrap_or_default().into()));
        }
        let chosen: Vec<u8> =
            encoding.characters(value).skip(start).take(end - start).flatten().copied().collect();
        Ok(Some(chosen.into()))
    }

    /// Reports a length that leaves less than nothing, as it was written.
    fn fail_negative(&mut self, length: Option<&Arithmetic>) -> Unwind {
        let source = self.calls.source_text().cloned();
        let written =
            source.as_deref().zip(length).map(|(text, length)| length.span.of(text)).unwrap_or_default();
        self.fail(format_args!("{}: substring expression < 0", String::from_utf8_lossy(written)))
    }

    /// Tells whether an offset is outside of a list. Then the length is not evaluated.
    fn starts_beyond(&self, place: &ParameterTarget, count: usize, offset: i64) -> bool {
        let count = i64::try_from(count).unwrap_or(i64::MAX - 1);
        let (last, end) = match place {
            ParameterTarget::Variable { name, .. } => {
                match self.lookup(name).as_deref().map(|variable| &variable.value) {
                    Some(VariableValue::Indexed(array)) => {
                        let end = i64::try_from(array.end()).unwrap_or(i64::MAX);
                        (end - 1, end)
                    }
                    Some(VariableValue::Associative(_)) => (count, count + 1),
                    _ => (count - 1, count),
                }
            }
            _ => (count + 1, count + 1),
        };
        offset > last || offset.saturating_add(end) < 0
    }

    /// Returns elements from an offset on: of `$@`, where `$0` is element 0, or of an array, by index.
    fn slice_list(
        &mut self,
        place: &ParameterTarget,
        values: Vec<Bytes>,
        offset: i64,
        length: Option<i64>,
    ) -> Vec<Bytes> {
        let limit = length.and_then(|length| usize::try_from(length).ok()).unwrap_or(usize::MAX);
        match place {
            ParameterTarget::Special(SpecialParameter::At | SpecialParameter::Star) => {
                let all: Vec<Bytes> = std::iter::once(self.parameters.zero().clone()).chain(values).collect();
                skip_from(&all, offset, i64::try_from(all.len()).unwrap_or(i64::MAX))
                    .take(limit)
                    .cloned()
                    .collect()
            }
            ParameterTarget::Variable { name, selection: ElementSelection::All { .. } } => {
                let variable = self.lookup(name);
                if let Some(VariableValue::Indexed(array)) =
                    variable.as_deref().map(|variable| &variable.value)
                {
                    let Some(start) = array.resolve(offset) else { return Vec::new() };
                    let chosen = array.iter().filter(|(index, _)| *index >= start).take(limit);
                    return chosen.map(|(_, value)| value.clone()).collect();
                }
                drop(variable);
                let count = i64::try_from(values.len()).unwrap_or(i64::MAX - 1);
                if !self.is_associative(name) {
                    return skip_from(&values, offset, count).take(limit).cloned().collect();
                }
                // Elements of associative arrays count from 1. 0 means the first too, and at least one is taken.
                let start = if offset < 0 { offset.saturating_add(count + 1) } else { offset };
                skip_from(&values, (start - 1).max(0), count).take(limit.max(1)).cloned().collect()
            }
            _ => values,
        }
    }
}

fn is_positional(place: &ParameterTarget) -> bool {
    matches!(place, ParameterTarget::Special(_))
}

fn skip_from(values: &[Bytes], offset: i64, count: i64) -> impl Iterator<Item = &Bytes> {
    let start = if offset < 0 { offset.saturating_add(count) } else { offset };
    let start = usize::try_from(start).unwrap_or(usize::MAX);
    values.iter().skip(start)
}
