//! Brace expansion: `{a,b}` and `{1..9}`.

use haft_lang::ast::{BraceRange, Braces, PartKind, WordPart};
use haft_text::Bytes;
use haft_text::braces::{BracePiece, BraceSequence, BraceWord, BraceWords};

use super::sink::{Sink, SinkMode};
use crate::flow::Unwind;
use crate::session::Session;

impl Session {
    /// Expands a word with braces to several words, and applies the other expansions to each.
    pub(super) fn expand_braces(
        &mut self,
        parts: &[WordPart],
        fields: &mut Vec<Bytes>,
    ) -> Result<(), Unwind> {
        if let [WordPart { kind: PartKind::Braces(braces), .. }] = parts
            && let Braces::Range(range) = &**braces
        {
            return self.expand_sequence(BraceSequence::new(*range), fields);
        }
        for word in BraceWords::new(parts, &mut || self.check())? {
            let mut sink = Sink::new(SinkMode::Fields, self.separators().into_owned());
            let word = BraceWord::new(word);
            if let Some((user, after)) = &word.tilde {
                self.expand_tilde(user, &mut sink);
                sink.literal(after);
            }
            for piece in &word.pieces {
                match piece {
                    BracePiece::Part(part) => self.expand_part(part, false, &mut sink)?,
                    BracePiece::Text(text) => sink.literal(text),
                    BracePiece::Variable(name) => self.expand_variable(name, false, &mut sink)?,
                }
            }
            self.finish_fields(sink.into_fields(), fields)?;
            self.memory.note_growth(size_of::<Bytes>());
            self.check()?;
        }
        Ok(())
    }

    fn expand_sequence(&self, sequence: BraceSequence, fields: &mut Vec<Bytes>) -> Result<(), Unwind> {
        const MEMBERS_PER_CHECK: u128 = 4096;
        for index in 0..sequence.len() {
            fields.push(sequence.get(index));
            if index % MEMBERS_PER_CHECK == 0 {
                self.memory.note_growth(MEMBERS_PER_CHECK as usize * size_of::<Bytes>());
                self.check()?;
            }
        }
        Ok(())
    }

    /// Expands braces as text after `set +B`. Sequences are printed in normal form.
    pub(super) fn expand_braces_as_text(&mut self, braces: &Braces, sink: &mut Sink) -> Result<(), Unwind> {
        sink.literal(b"{");
        match braces {
            Braces::List(alternatives) => {
                for (index, alternative) in alternatives.iter().enumerate() {
                    if index > 0 {
                        sink.literal(b",");
                    }
                    self.expand_parts(alternative, false, sink)?;
                }
            }
            Braces::Range(BraceRange::Numbers { first, last, step, .. }) => {
                sink.literal(format!("{first}..{last}").as_bytes());
                if *step != 1 {
                    sink.literal(format!("..{step}").as_bytes());
                }
            }
            Braces::Range(BraceRange::Letters { first, last, step }) => {
                sink.literal(&[*first, b'.', b'.', *last]);
                if *step != 1 {
                    sink.literal(format!("..{step}").as_bytes());
                }
            }
        }
        sink.literal(b"}");
        Ok(())
    }
}
