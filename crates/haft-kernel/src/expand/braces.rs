//! `{a,b}` and `{1..9}`.

use haft_lang::ast::{BraceRange, Braces, PartKind, WordPart};

use super::sink::{Mode, Sink};
use crate::bytes::Bytes;
use crate::flow::Unwind;
use crate::session::Session;

/// A piece of a word after its braces were expanded.
#[derive(Clone)]
enum Piece<'a> {
    Part(&'a WordPart),
    Text(Bytes),
    /// `$name`, whose name goes on with what follows.
    Variable(Bytes),
}

impl Piece<'_> {
    /// The text, if it is nothing else.
    fn literal(&self) -> Option<&[u8]> {
        match self {
            Self::Part(WordPart { kind: PartKind::Literal(text), .. }) => Some(text),
            Self::Text(text) => Some(text),
            _ => None,
        }
    }

    /// The name of a variable that was written without braces.
    fn open_name(&self) -> Option<&[u8]> {
        match self {
            Self::Part(WordPart { kind: PartKind::Variable(name), span }) => {
                ((span.end - span.start) as usize == name.len() + 1).then_some(&**name)
            }
            _ => None,
        }
    }
}

/// Braces are expanded before variables, as text: in `$a{b,c}` the names of the variables are `ab` and `ac`.
fn glue(word: Vec<Piece<'_>>) -> Vec<Piece<'_>> {
    if word.iter().all(|piece| piece.open_name().is_none()) {
        return word;
    }
    let mut glued: Vec<Piece<'_>> = Vec::with_capacity(word.len());
    for piece in word {
        match (glued.last_mut(), piece.literal()) {
            (Some(Piece::Variable(name)), Some(text)) => {
                let end = text.iter().position(|byte| !is_name_byte(*byte)).unwrap_or(text.len());
                name.push(&text[..end]);
                if end < text.len() {
                    glued.push(Piece::Text(text[end..].into()));
                }
            }
            _ => glued.push(match piece.open_name() {
                Some(name) => Piece::Variable(name.into()),
                None => piece,
            }),
        }
    }
    glued
}

/// A tilde that braces have put at the beginning of a word: the user it names, and the text after that.
fn tilde<'a>(word: &'a [Piece<'_>]) -> Option<(&'a [u8], &'a [u8])> {
    let (first, rest) = word.split_first()?;
    let text = first.literal()?.strip_prefix(b"~")?;
    match text.iter().position(|byte| *byte == b'/') {
        Some(end) => Some(text.split_at(end)),
        None => rest.is_empty().then_some((text, b"".as_slice())),
    }
}

fn is_name_byte(byte: u8) -> bool {
    byte == b'_' || byte.is_ascii_alphanumeric()
}

impl Session {
    /// Expands a word with braces: to several words, each of which is then expanded on its own.
    pub(super) fn expand_braces(
        &mut self,
        parts: &[WordPart],
        fields: &mut Vec<Bytes>,
    ) -> Result<(), Unwind> {
        if let [WordPart { kind: PartKind::Braces(braces), .. }] = parts
            && let Braces::Range(range) = &**braces
        {
            return self.each_in_range(*range, |text| fields.push(text));
        }
        let words = self.combinations(parts)?;
        for word in words {
            let mut sink = Sink::new(Mode::Fields, self.separators().into_owned());
            let word = glue(word);
            let tilde = tilde(&word);
            if let Some((user, after)) = tilde {
                self.expand_tilde(user, &mut sink);
                sink.literal(after);
            }
            for piece in &word[usize::from(tilde.is_some())..] {
                match piece {
                    Piece::Part(part) => self.expand_part(part, false, &mut sink)?,
                    Piece::Text(text) => sink.literal(text),
                    Piece::Variable(name) => self.expand_variable(name, false, &mut sink)?,
                }
            }
            self.finish_fields(sink.into_fields(), fields)?;
            self.check()?;
        }
        Ok(())
    }

    /// All words that a run of parts stands for, in order.
    fn combinations<'a>(&mut self, parts: &'a [WordPart]) -> Result<Vec<Vec<Piece<'a>>>, Unwind> {
        let mut words: Vec<Vec<Piece<'a>>> = vec![Vec::new()];
        for part in parts {
            let PartKind::Braces(braces) = &part.kind else {
                words.iter_mut().for_each(|word| word.push(Piece::Part(part)));
                continue;
            };
            let choices = self.choices(braces)?;
            let mut longer = Vec::with_capacity(words.len() * choices.len());
            for word in &words {
                self.check()?;
                for choice in &choices {
                    let mut combined = word.clone();
                    combined.extend(choice.iter().cloned());
                    longer.push(combined);
                }
            }
            words = longer;
        }
        Ok(words)
    }

    fn choices<'a>(&mut self, braces: &'a Braces) -> Result<Vec<Vec<Piece<'a>>>, Unwind> {
        let mut choices = Vec::new();
        match braces {
            Braces::List(alternatives) => {
                for alternative in alternatives {
                    choices.extend(self.combinations(alternative)?);
                }
            }
            Braces::Range(range) => {
                self.each_in_range(*range, |text| choices.push(vec![Piece::Text(text)]))?;
            }
        }
        Ok(choices)
    }

    fn each_in_range(&self, range: BraceRange, mut each: impl FnMut(Bytes)) -> Result<(), Unwind> {
        const ROUNDS: u32 = 4096;
        let mut rounds = 0u32;
        let mut put = |text: Bytes| {
            each(text);
            rounds = rounds.wrapping_add(1);
            if rounds.is_multiple_of(ROUNDS) { self.check() } else { Ok(()) }
        };
        match range {
            BraceRange::Numbers { first, last, step, width } => {
                let width = width as usize;
                let mut digits = [0; 20];
                counted(i128::from(first), i128::from(last), step).try_for_each(|number| {
                    let number = i64::try_from(number).unwrap_or(i64::MAX);
                    put(match width {
                        0 => super::parts::format_number(number, &mut digits).into(),
                        _ => format!("{number:0width$}").into(),
                    })
                })
            }
            BraceRange::Letters { first, last, step } => counted(i128::from(first), i128::from(last), step)
                .try_for_each(|letter| match u8::try_from(letter) {
                    // Quote removal comes later, and takes the backslash.
                    Ok(b'\\') | Err(_) => put(Bytes::new()),
                    Ok(letter) => put([letter].as_slice().into()),
                }),
        }
    }

    /// Braces where they are not expanded, because `set +B` says so: as they were written, nearly.
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

/// The numbers from `first` towards `last` in steps.
fn counted(first: i128, last: i128, step: u64) -> impl Iterator<Item = i128> {
    let step = i128::from(step.max(1));
    let step = if first <= last { step } else { -step };
    let mut next = Some(first);
    std::iter::from_fn(move || {
        let current = next?;
        let following = current + step;
        next = (if step > 0 { following <= last } else { following >= last }).then_some(following);
        Some(current)
    })
}
