//! What a parameter yields, and how it becomes part of a word.

use haft_text::Bytes;

use super::parameter::Place;
use super::parts::emit;
use super::sink::{Between, Mode, Sink};
use crate::session::Session;

/// What a parameter yields.
#[derive(Clone, Debug)]
pub(super) enum Fetched {
    /// Nothing: it is not set.
    Unset,
    /// One value.
    One(Bytes),
    /// The elements of an array, or the positional parameters.
    Many {
        values: Vec<Bytes>,
        /// Whether `*` was written rather than `@`.
        star: bool,
    },
}

impl Fetched {
    /// The value as one string, elements joined by spaces.
    pub(super) fn joined(&self) -> Option<Bytes> {
        match self {
            Self::Unset => None,
            Self::One(value) => Some(value.clone()),
            Self::Many { values, .. } if values.is_empty() => None,
            Self::Many { values, .. } => Some(join(values, b" ").into()),
        }
    }

    /// The same as a sink takes it: a space joins `$*` in a here-document, whatever `IFS` says.
    pub(super) fn for_sink(self, place: &Place, sink: &Sink) -> Self {
        match self {
            Self::Many { values, .. } if sink.document && matches!(place, Place::Special(_)) => {
                Self::Many { values, star: false }
            }
            other => other,
        }
    }

    /// The same with a function applied to every value; those that are left when the session is to stop are missing.
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

/// How many elements are gone through between two looks whether to stop.
const SOME: usize = 1024;

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

/// Appends what a parameter yielded.
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

/// Appends several values: as fields of their own where there are fields, or joined. Those that are left when the session is to stop
/// are missing.
pub(super) fn emit_many(sink: &mut Sink, values: &[Bytes], star: bool, quoted: bool, session: &Session) {
    if sink.mode != Mode::Fields || (star && quoted) {
        let separator = if star { sink.separators.join() } else { b" " };
        let size = values.iter().map(|value| value.len() + separator.len()).sum();
        if session.reserve_memory("a list joined to one string", size).is_err() {
            return;
        }
        let joined = join(values, separator);
        if sink.mode == Mode::Fields && values.is_empty() {
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
                Between::Space => sink.quoted(b" "),
                Between::Field => sink.next_field(true),
            }
            sink.quoted(value);
        }
        return;
    }
    for (index, value) in values.iter().enumerate() {
        if index > 0 {
            if index.is_multiple_of(SOME) && session.is_stopping() {
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
