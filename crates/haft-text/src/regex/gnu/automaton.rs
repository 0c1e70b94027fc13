//! Searches for expressions without back-references, in linear time.

use regex_automata::hybrid::dfa::{Cache, DFA};
use regex_automata::meta::Regex;
use regex_automata::nfa::thompson::{self, NFA, pikevm::PikeVM};
use regex_automata::util::pool::Pool;
use regex_automata::{Anchored, Input, MatchKind};
use regex_syntax::hir::{
    Class, ClassBytes, ClassBytesRange, ClassUnicode, ClassUnicodeRange, Hir, Look, Repetition,
};

use super::char_set::{CharSet, RAW_BYTE};
use super::error::GnuRegexError;
use super::options::GnuRegexOptions;
use super::tree::{Assertion, Node};
use crate::encoding::Encoding;

/// The most memory that a compiled expression may use.
const MAX_COMPILED_BYTES: usize = 32 << 20;

/// The last code before the surrogates, and the first one after them.
const SURROGATE_NEIGHBOURS: (u32, u32) = (0xD7FF, 0xE000);

/// A compiled expression.
#[derive(Debug)]
pub(super) struct Automaton {
    /// Finds where the leftmost match starts.
    first: Regex,
    /// Finds where the longest match ends. `None` if every match is the longest one.
    longest: Option<Longest>,
}

#[derive(Debug)]
struct Longest {
    dfa: DFA,
    caches: Pool<
        Cache,
        Box<dyn Fn() -> Cache + Send + Sync + std::panic::UnwindSafe + std::panic::RefUnwindSafe>,
    >,
    /// For subjects that the automaton gives up on: non-ASCII characters next to a word boundary.
    fallback: PikeVM,
}

/// Searches many lines at once. A match is within a line.
#[derive(Debug)]
pub(super) struct LineAutomaton(Regex);

impl LineAutomaton {
    /// `None` if the expression is too large.
    pub(super) fn new(node: &Node, options: GnuRegexOptions) -> Option<Self> {
        compile(&HirBuilder { options, is_line: true }.node(node)).map(Self).ok()
    }

    /// The end of a match in the first line at or after `from` that has one.
    pub(super) fn find(&self, lines: &[u8], from: usize) -> Option<usize> {
        let found = self.0.search_half(&Input::new(lines).range(from..).earliest(true));
        found.map(|found| found.offset())
    }
}

fn compile(hir: &Hir) -> Result<Regex, GnuRegexError> {
    let config = Regex::config()
        .utf8_empty(false)
        .nfa_size_limit(Some(MAX_COMPILED_BYTES))
        .which_captures(thompson::WhichCaptures::Implicit);
    Regex::builder().configure(config).build_from_hir(hir).map_err(|_| GnuRegexError::TooBig)
}

impl Automaton {
    pub(super) fn new(node: &Node, options: GnuRegexOptions) -> Result<Self, GnuRegexError> {
        let hir = HirBuilder { options, is_line: false }.node(node);
        let first = compile(&hir)?;
        let longest = (!is_greedy_exact(node)).then(|| Longest::new(&hir)).transpose()?;
        Ok(Self { first, longest })
    }

    pub(super) fn is_match(&self, subject: &[u8]) -> bool {
        self.first.is_match(Input::new(subject).earliest(true))
    }

    /// The leftmost longest match that starts at or after `from`.
    pub(super) fn find(&self, subject: &[u8], from: usize) -> Option<(usize, usize)> {
        let found = self.first.search(&Input::new(subject).range(from..))?;
        let end = match &self.longest {
            Some(longest) => longest.end(subject, found.start()).unwrap_or(found.end()),
            None => found.end(),
        };
        Some((found.start(), end))
    }

    /// The end of the longest match that starts at `at`.
    pub(super) fn match_at(&self, subject: &[u8], at: usize) -> Option<usize> {
        match &self.longest {
            Some(longest) => longest.end(subject, at),
            None => {
                let input = Input::new(subject).range(at..).anchored(Anchored::Yes);
                self.first.search(&input).map(|found| found.end())
            }
        }
    }
}

impl Longest {
    fn new(hir: &Hir) -> Result<Self, GnuRegexError> {
        let config = NFA::config()
            .utf8(false)
            .nfa_size_limit(Some(MAX_COMPILED_BYTES))
            .which_captures(thompson::WhichCaptures::Implicit);
        let too_big = |_| GnuRegexError::TooBig;
        let nfa = NFA::compiler().configure(config).build_from_hir(hir).map_err(too_big)?;
        let dfa_config = DFA::config()
            .match_kind(MatchKind::All)
            .unicode_word_boundary(true)
            .skip_cache_capacity_check(true);
        let dfa = DFA::builder()
            .configure(dfa_config)
            .build_from_nfa(nfa.clone())
            .map_err(|_| GnuRegexError::TooBig)?;
        let fallback = PikeVM::builder()
            .configure(PikeVM::config().match_kind(MatchKind::All))
            .build_from_nfa(nfa)
            .map_err(|_| GnuRegexError::TooBig)?;
        let maker = dfa.clone();
        let caches: Pool<Cache, _> = Pool::new(Box::new(move || maker.create_cache()) as Box<_>);
        Ok(Self { dfa, caches, fallback })
    }

    fn end(&self, subject: &[u8], start: usize) -> Option<usize> {
        let input = Input::new(subject).range(start..).anchored(Anchored::Yes);
        match self.dfa.try_search_fwd(&mut self.caches.get(), &input) {
            Ok(found) => found.map(|found| found.offset()),
            Err(_) => {
                let mut slots = [None; 2];
                self.fallback.search_slots(&mut self.fallback.create_cache(), &input, &mut slots)?;
                slots[1].map(|end| end.get())
            }
        }
    }
}

/// Whether greedy matching always finds the longest match: at most one part varies in length, and that is one repeated character.
fn is_greedy_exact(node: &Node) -> bool {
    fn varying(node: &Node) -> Option<usize> {
        match node {
            Node::Empty | Node::Set(_) | Node::Assertion(_) => Some(0),
            Node::Group(_, node) => varying(node),
            Node::Concatenation(nodes) => nodes.iter().map(varying).sum(),
            Node::Repetition(repetition) => matches!(repetition.node, Node::Set(_)).then_some(1),
            Node::Alternation(_) | Node::BackReference(_) => None,
        }
    }
    varying(node).is_some_and(|count| count <= 1)
}

/// Turns a tree into the form that the automata are built from.
struct HirBuilder {
    options: GnuRegexOptions,
    /// Whether the subject is many lines, and a match is within a line.
    is_line: bool,
}

impl HirBuilder {
    fn node(&self, node: &Node) -> Hir {
        match node {
            Node::Empty => Hir::empty(),
            Node::BackReference(_) => any_text(),
            Node::Set(set) if self.is_line => self.set(&set.without(b'\n'.into())),
            Node::Set(set) => self.set(set),
            Node::Assertion(assertion) => Hir::look(self.look(*assertion)),
            Node::Group(_, node) => self.node(node),
            Node::Concatenation(nodes) => Hir::concat(nodes.iter().map(|node| self.node(node)).collect()),
            Node::Alternation(nodes) => Hir::alternation(nodes.iter().map(|node| self.node(node)).collect()),
            Node::Repetition(repetition) => Hir::repetition(Repetition {
                min: repetition.min,
                max: repetition.max,
                greedy: true,
                sub: Box::new(self.node(&repetition.node)),
            }),
        }
    }

    fn look(&self, assertion: Assertion) -> Look {
        let is_unicode = self.options.encoding == Encoding::Utf8;
        match assertion {
            Assertion::LineStart if self.options.multi_line || self.is_line => Look::StartLF,
            Assertion::LineEnd if self.options.multi_line || self.is_line => Look::EndLF,
            Assertion::BufferStart if self.is_line => Look::StartLF,
            Assertion::BufferEnd if self.is_line => Look::EndLF,
            Assertion::LineStart | Assertion::BufferStart => Look::Start,
            Assertion::LineEnd | Assertion::BufferEnd => Look::End,
            Assertion::WordStart if is_unicode => Look::WordStartUnicode,
            Assertion::WordStart => Look::WordStartAscii,
            Assertion::WordEnd if is_unicode => Look::WordEndUnicode,
            Assertion::WordEnd => Look::WordEndAscii,
            Assertion::WordBoundary if is_unicode => Look::WordUnicode,
            Assertion::WordBoundary => Look::WordAscii,
            Assertion::NotWordBoundary if is_unicode => Look::WordUnicodeNegate,
            Assertion::NotWordBoundary => Look::WordAsciiNegate,
            Assertion::NotAfterWord if is_unicode => Look::WordStartHalfUnicode,
            Assertion::NotAfterWord => Look::WordStartHalfAscii,
            Assertion::NotBeforeWord if is_unicode => Look::WordEndHalfUnicode,
            Assertion::NotBeforeWord => Look::WordEndHalfAscii,
        }
    }

    fn set(&self, set: &CharSet) -> Hir {
        if self.options.encoding == Encoding::Bytes {
            return byte_class(set.ranges().iter().copied());
        }
        if let Some(letter) = set.only().and_then(char::from_u32) {
            return Hir::literal(letter.encode_utf8(&mut [0; 4]).as_bytes());
        }
        let raw = set.ranges().iter().filter(|(_, last)| *last >= RAW_BYTE);
        let raw = byte_class(raw.map(|(first, last)| (first.saturating_sub(RAW_BYTE), last - RAW_BYTE)));
        let valid = Hir::class(Class::Unicode(ClassUnicode::new(
            set.ranges().iter().filter_map(|&range| character_range(range)),
        )));
        match set.ranges().last().is_some_and(|(_, last)| *last >= RAW_BYTE) {
            true => Hir::alternation(vec![valid, raw]),
            false => valid,
        }
    }
}

/// Matches any bytes.
fn any_text() -> Hir {
    let any = byte_class([(0, u32::from(u8::MAX))].into_iter());
    Hir::repetition(Repetition { min: 0, max: None, greedy: true, sub: Box::new(any) })
}

fn byte_class(ranges: impl Iterator<Item = (u32, u32)>) -> Hir {
    let range = |(first, last): (u32, u32)| ClassBytesRange::new(first as u8, last as u8);
    Hir::class(Class::Bytes(ClassBytes::new(ranges.map(range))))
}

/// The characters of a range of codes, which may start or end in the surrogates.
fn character_range((first, last): (u32, u32)) -> Option<ClassUnicodeRange> {
    let first = char::from_u32(first)
        .or_else(|| (first < RAW_BYTE).then(|| char::from_u32(SURROGATE_NEIGHBOURS.1)).flatten())?;
    let last = char::from_u32(last).unwrap_or_else(|| match last < RAW_BYTE {
        true => char::from_u32(SURROGATE_NEIGHBOURS.0).unwrap_or(first),
        false => char::MAX,
    });
    (first <= last).then(|| ClassUnicodeRange::new(first, last))
}
