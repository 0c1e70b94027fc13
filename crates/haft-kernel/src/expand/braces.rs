//! `{a,b}` and `{1..9}`.

use haft_lang::ast::{BraceRange, Braces, PartKind, WordPart};

use super::series::Series;
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

/// Makes one text of all that stands together at the beginning of a word with a tilde: `~{root,/x}` names a user and a place.
fn join_tilde(word: &mut Vec<Piece<'_>>) {
    let length = word.iter().take_while(|piece| piece.literal().is_some()).count();
    if length > 1 && word[0].literal().is_some_and(|text| text.starts_with(b"~")) {
        let texts: Vec<&[u8]> = word[..length].iter().filter_map(Piece::literal).collect();
        let joined = Piece::Text(texts.concat().into());
        word.splice(..length, [joined]);
    }
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

/// What may stand at one place of a word.
enum Place<'a> {
    One(&'a WordPart),
    List(Vec<Vec<Piece<'a>>>),
    Series(Series),
}

impl<'a> Place<'a> {
    fn len(&self) -> u128 {
        match self {
            Self::One(_) => 1,
            Self::List(choices) => choices.len() as u128,
            Self::Series(series) => series.len(),
        }
    }

    fn put(&self, index: u128, word: &mut Vec<Piece<'a>>) {
        match self {
            Self::One(part) => word.push(Piece::Part(part)),
            Self::List(choices) => word.extend(choices[index as usize].iter().cloned()),
            Self::Series(series) => word.push(Piece::Text(series.get(index))),
        }
    }
}

/// All words that a run of parts stands for, in order: the last place turns fastest.
struct Combinations<'a> {
    places: Vec<Place<'a>>,
    /// What stands at each place in the next word; `None` after the last.
    next: Option<Vec<u128>>,
}

impl<'a> Combinations<'a> {
    fn new(places: Vec<Place<'a>>) -> Self {
        let next = Some(vec![0; places.len()]);
        Self { places, next }
    }
}

impl<'a> Iterator for Combinations<'a> {
    type Item = Vec<Piece<'a>>;

    fn next(&mut self) -> Option<Self::Item> {
        let indexes = self.next.as_mut()?;
        let mut word = Vec::with_capacity(self.places.len());
        self.places.iter().zip(&*indexes).for_each(|(place, index)| place.put(*index, &mut word));
        let mut turned = false;
        for (place, index) in self.places.iter().zip(indexes).rev() {
            *index += 1;
            turned = *index < place.len();
            if turned {
                break;
            }
            *index = 0;
        }
        if !turned {
            self.next = None;
        }
        Some(word)
    }
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
            return self.expand_series(Series::new(*range), fields);
        }
        for mut word in self.combinations(parts)? {
            let mut sink = Sink::new(Mode::Fields, self.separators().into_owned());
            join_tilde(&mut word);
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
            self.memory.note_growth(size_of::<Bytes>());
            self.check()?;
        }
        Ok(())
    }

    fn expand_series(&self, series: Series, fields: &mut Vec<Bytes>) -> Result<(), Unwind> {
        const ROUNDS: u128 = 4096;
        for index in 0..series.len() {
            fields.push(series.get(index));
            if index % ROUNDS == 0 {
                self.memory.note_growth(ROUNDS as usize * size_of::<Bytes>());
                self.check()?;
            }
        }
        Ok(())
    }

    /// All words that a run of parts stands for.
    fn combinations<'a>(&mut self, parts: &'a [WordPart]) -> Result<Combinations<'a>, Unwind> {
        let mut places = Vec::with_capacity(parts.len());
        for part in parts {
            places.push(match &part.kind {
                PartKind::Braces(braces) => self.choices(braces)?,
                _ => Place::One(part),
            });
        }
        Ok(Combinations::new(places))
    }

    fn choices<'a>(&mut self, braces: &'a Braces) -> Result<Place<'a>, Unwind> {
        let alternatives = match braces {
            Braces::List(alternatives) => alternatives,
            Braces::Range(range) => return Ok(Place::Series(Series::new(*range))),
        };
        let mut choices = Vec::new();
        for alternative in alternatives {
            for choice in self.combinations(alternative)? {
                choices.push(choice);
                self.check()?;
            }
        }
        Ok(Place::List(choices))
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
