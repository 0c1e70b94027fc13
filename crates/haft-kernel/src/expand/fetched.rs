//! The value of a parameter, and how it becomes part of a word.

use haft_text::Bytes;

use super::parameter::ParameterTarget;
use super::parts::emit;
use super::sink::{ElementSeparator, Sink, SinkMode};
use crate::session::Session;

/// The value of a parameter.
#[derive(Clone, Debug)]
pub(super) enum Fetched {
    /// The parameter is unset.
    Unset,
    /// One value.
    One(Bytes),
    /// The elements of an array, or the positional parameters.
    Many {
        values: Vec<Bytes>,
        /// Whether `*` was used instead of `@`.
        star: bool,
    },
}

impl Fetched {
    /// Returns the value as one string, with elements joined by spaces.
    pub(super) fn joined(&self) -> Option<Bytes> {
        match self {
            Self::Unset => None,
            Self::One(value) => Some(value.clone()),
            Self::Many { values, .. } if values.is_empty() => None,
            Self::Many { values, .. } => Some(join(values, b" ").into()),
        }
    }

    /// Adapts the value to a sink: in a here-document a space joins `$*`, regardless of `IFS`.
    pub(super) fn for_sink(self, place: &ParameterTarget, sink: &Sink) -> Self {
        match self {
            Self::Many { values, .. } if sink.document && matches!(place, ParameterTarget::Special(_)) => {
                Self::Many { values, star: false }
            }
            other => other,
        }
    }

    /// Applies a function to every value. On cancellation the remaining values are dropped.
    pub(super) fn map(self, session: &Session, mut change: impl FnMut(&Bytes) -> Bytes) -> Self {
        match self {
            Self::Unset => Self::Unset,
            Self::One(value) => Self::One(change(&value)),
            Self::Many { values, star } => {
                let mut changed = Vec::with_capacity(values.len());
                changed.extend(values.iter().take_while(|_| !session.is_stopping()).map(change));
                Self::Many { values: changed, star }
            }
        }
    }
}

/// How many elements are processed between two checks for cancellation.
const ELEMENTS_PER_CHECK: usize = 1024;

fn join(values: &[Bytes], separator: &[u8]) -> Vec<u8> {
    let mut joined = Vec::new();
    for (index, value) in values.iter().enumerate() {
        if index > 0 {
            joined.extend_from_slice(separator);
        }
        joined.extend_from_slice(value);
    }
    joined
}

/// Appends the value of a parameter.
pub(super) fn emit_fetched(sink: &mut Sink, fetched: Fetched, quoted: bool, session: &Session) {
    match fetched {
        Fetched::Unset => emit(sink, b"", quoted),
        Fetched::One(value) => {
            if session.reserve_memory("an expansion", value.len()).is_ok() {
                emit(sink, &value, quoted);
            }
        }
        Fetched::Many { values, star } => emit_many(sink, &values, star, quoted, session),
    }
}

/// Appends several values, as separate fields or joined, depending on the sink. On cancellation the remaining values are dropped.
pub(super) fn emit_many(sink: &mut Sink, values: &[Bytes], star: bool, quoted: bool, session: &Session) {
    if sink.mode != SinkMode::Fields || (star && quoted) {
        let separator = if star { sink.separators.join() } else { b" " };
        let size = values.iter().map(|value| value.len() + separator.len()).sum();
        if session.reserve_memory("a list joined to one string", size).is_err() {
            return;
        }
        let joined = join(values, separator);
        if sink.mode == SinkMode::Fields && values.is_empty() {
            sink.begin();
        }
        emit(sink, &joined, quoted);
        return;
    }
    if values.is_empty() && quoted {
        sink.note_empty_list();
    }
    if let Some(between) = sink.between_alternatives().filter(|_| !star && !quoted) {
        for (index, value) in values.iter().enumerate() {
            match between {
                _ if index == 0 => {}
                ElementSeparator::Space => sink.quoted(b" "),
                ElementSeparator::Field => sink.next_field(true),
            }
            sink.quoted(value);
        }
        return;
    }
    for (index, value) in values.iter().enumerate() {
        if index > 0 {
            if index.is_multiple_of(ELEMENTS_PER_CHECK) && session.is_stopping() {
                return;
            }
            session.memory.note_growth(size_of::<Bytes>());
            sink.next_field(quoted);
        }
        if session.reserve_memory("an expansion", value.len()).is_err() {
            return;
        }
        emit(sink, value, quoted);
    }
}
