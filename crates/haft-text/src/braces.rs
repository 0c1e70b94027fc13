//! Brace expansion: `{a,b}` and `{1..9}`.
//!
//! [`BraceWords`] iterates over the words that a word with braces expands to, without building them all first. Each is a list of
//! [`BracePiece`]s: the parts of the word that are expanded later, and the texts that braces yielded.

use haft_lang::ast::{BraceRange, Braces, PartKind, WordPart};

use crate::Bytes;
use crate::decimal::format_number;

/// A piece of a word after brace expansion.
#[derive(Clone, Debug)]
pub enum BracePiece<'a> {
    /// A part of the word, still to be expanded.
    Part(&'a WordPart),
    /// Text.
    Text(Bytes),
    /// `$name`, whose name continues with the text after the braces.
    Variable(Bytes),
}

impl BracePiece<'_> {
    /// The text, if the piece is nothing else.
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

/// A word that brace expansion yielded, ready for the other expansions.
#[derive(Clone, Debug)]
pub struct BraceWord<'a> {
    /// The name after a tilde at the beginning of the word, and the text after that name.
    pub tilde: Option<(Bytes, Bytes)>,
    /// The pieces after the tilde prefix.
    pub pieces: Vec<BracePiece<'a>>,
}

impl<'a> BraceWord<'a> {
    /// Joins pieces that belong together now that they are adjacent: tilde prefixes and names of variables.
    #[must_use]
    pub fn new(mut pieces: Vec<BracePiece<'a>>) -> Self {
        join_tilde_prefix(&mut pieces);
        let mut pieces = extend_names(pieces);
        let tilde = tilde_prefix(&pieces).map(|(name, rest)| (name.into(), rest.into()));
        if tilde.is_some() {
            pieces.remove(0);
        }
        Self { tilde, pieces }
    }
}

/// Braces are expanded before variables, as text: in `$a{b,c}` the names of the variables are `ab` and `ac`.
fn extend_names(word: Vec<BracePiece<'_>>) -> Vec<BracePiece<'_>> {
    if word.iter().all(|piece| piece.open_name().is_none()) {
        return word;
    }
    let mut joined: Vec<BracePiece<'_>> = Vec::with_capacity(word.len());
    for piece in word {
        match (joined.last_mut(), piece.literal()) {
            (Some(BracePiece::Variable(name)), Some(text)) => {
                let end = text.iter().position(|byte| !is_name_byte(*byte)).unwrap_or(text.len());
                name.push(&text[..end]);
                if end < text.len() {
                    joined.push(BracePiece::Text(text[end..].into()));
                }
            }
            _ => joined.push(match piece.open_name() {
                Some(name) => BracePiece::Variable(name.into()),
                None => piece,
            }),
        }
    }
    joined
}

/// Joins all adjacent texts at the beginning of a word that starts with a tilde: in `~{root,/x}` braces supply the login name.
fn join_tilde_prefix(word: &mut Vec<BracePiece<'_>>) {
    let length = word.iter().take_while(|piece| piece.literal().is_some()).count();
    if length > 1 && word[0].literal().is_some_and(|text| text.starts_with(b"~")) {
        let texts: Vec<&[u8]> = word[..length].iter().filter_map(BracePiece::literal).collect();
        let joined = BracePiece::Text(texts.concat().into());
        word.splice(..length, [joined]);
    }
}

/// The login name after a tilde at the beginning of a word, and the text after that name.
fn tilde_prefix<'a>(word: &'a [BracePiece<'_>]) -> Option<(&'a [u8], &'a [u8])> {
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

/// The choices at one position of a word.
#[derive(Clone, Debug)]
enum BraceChoices<'a> {
    One(&'a WordPart),
    List(Vec<Vec<BracePiece<'a>>>),
    Sequence(BraceSequence),
}

impl<'a> BraceChoices<'a> {
    fn new<E>(braces: &'a Braces, check: &mut impl FnMut() -> Result<(), E>) -> Result<Self, E> {
        let alternatives = match braces {
            Braces::List(alternatives) => alternatives,
            Braces::Range(range) => return Ok(Self::Sequence(BraceSequence::new(*range))),
        };
        let mut choices = Vec::new();
        for alternative in alternatives {
            for choice in BraceWords::new(alternative, check)? {
                choices.push(choice);
                check()?;
            }
        }
        Ok(Self::List(choices))
    }

    fn len(&self) -> u128 {
        match self {
            Self::One(_) => 1,
            Self::List(choices) => choices.len() as u128,
            Self::Sequence(sequence) => sequence.len(),
        }
    }

    fn append(&self, index: u128, word: &mut Vec<BracePiece<'a>>) {
        match self {
            Self::One(part) => word.push(BracePiece::Part(part)),
            Self::List(choices) => word.extend(choices[index as usize].iter().cloned()),
            Self::Sequence(sequence) => word.push(BracePiece::Text(sequence.get(index))),
        }
    }
}

/// The words that a word with braces expands to, in order: the last braces vary fastest.
#[derive(Clone, Debug)]
pub struct BraceWords<'a> {
    positions: Vec<BraceChoices<'a>>,
    /// The index of the choice at each position of the next word; `None` after the last word.
    next: Option<Vec<u128>>,
}

impl<'a> BraceWords<'a> {
    /// Prepares the expansion of a word.
    ///
    /// # Errors
    /// An error of `check`, which is called repeatedly so that a long expansion can be cancelled.
    pub fn new<E>(parts: &'a [WordPart], check: &mut impl FnMut() -> Result<(), E>) -> Result<Self, E> {
        let mut positions = Vec::with_capacity(parts.len());
        for part in parts {
            positions.push(match &part.kind {
                PartKind::Braces(braces) => BraceChoices::new(braces, check)?,
                _ => BraceChoices::One(part),
            });
        }
        let next = Some(vec![0; positions.len()]);
        Ok(Self { positions, next })
    }
}

impl<'a> Iterator for BraceWords<'a> {
    type Item = Vec<BracePiece<'a>>;

    fn next(&mut self) -> Option<Self::Item> {
        let indexes = self.next.as_mut()?;
        let mut word = Vec::with_capacity(self.positions.len());
        self.positions.iter().zip(&*indexes).for_each(|(choices, index)| choices.append(*index, &mut word));
        let mut advanced = false;
        for (choices, index) in self.positions.iter().zip(indexes).rev() {
            *index += 1;
            advanced = *index < choices.len();
            if advanced {
                break;
            }
            *index = 0;
        }
        if !advanced {
            self.next = None;
        }
        Some(word)
    }
}

/// A sequence expression, `{1..9}` or `{a..z}`, with random access to its members.
#[derive(Clone, Copy, Debug)]
pub struct BraceSequence {
    first: i128,
    step: i128,
    len: u128,
    members: SequenceMembers,
}

#[derive(Clone, Copy, Debug)]
enum SequenceMembers {
    /// Padded with zeros to a width.
    Numbers {
        width: usize,
    },
    Letters,
}

impl BraceSequence {
    /// The sequence of a parsed range.
    #[must_use]
    pub fn new(range: BraceRange) -> Self {
        let (first, last, step, members) = match range {
            BraceRange::Numbers { first, last, step, width } => (
                i128::from(first),
                i128::from(last),
                step,
                SequenceMembers::Numbers { width: width as usize },
            ),
            BraceRange::Letters { first, last, step } => {
                (i128::from(first), i128::from(last), step, SequenceMembers::Letters)
            }
        };
        let step = i128::from(step.max(1));
        let len = (last - first).unsigned_abs() / step.unsigned_abs() + 1;
        Self { first, step: if first <= last { step } else { -step }, len, members }
    }

    /// Returns the number of members, which is never 0.
    #[expect(clippy::len_without_is_empty, reason = "a sequence has at least one member")]
    #[must_use]
    pub fn len(&self) -> u128 {
        self.len
    }

    /// Returns the member at an index below the length.
    #[must_use]
    #[inline]
    pub fn get(&self, index: u128) -> Bytes {
        let member = self.first + self.step * index as i128;
        match self.members {
            SequenceMembers::Numbers { width } => {
                let number = i64::try_from(member).unwrap_or(i64::MAX);
                match width {
                    0 => format_number(number, &mut [0; 20]).into(),
                    _ => format!("{number:0width$}").into(),
                }
            }
            // Quote removal, which comes later, removes the backslash.
            SequenceMembers::Letters => match u8::try_from(member) {
                Ok(b'\\') | Err(_) => Bytes::new(),
                Ok(letter) => [letter].as_slice().into(),
            },
        }
    }
}
