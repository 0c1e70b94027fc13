//! POSIX extended regular expressions: `[[ subject =~ expression ]]`.
//!
//! Matching takes linear time, except for expressions with back-references. [`gnu`] has the expressions of other programs.

pub mod gnu;
mod translate;

use std::sync::Arc;

use regex::bytes::{Captures, Regex, RegexBuilder};
use regex_automata::hybrid::dfa::DFA;
use regex_automata::{Anchored, Input, MatchKind};

use crate::Bytes;

/// A compiled regular expression with its source.
#[derive(Clone, Debug)]
pub struct CompiledRegex {
    text: Vec<u8>,
    ignore_case: bool,
    matcher: Matcher,
}

#[derive(Clone, Debug)]
enum Matcher {
    /// Matches in linear time.
    Linear(Linear),
    /// Backtracks, for expressions with back-references.
    Backtracking(fancy_regex::Regex),
}

#[derive(Clone, Debug)]
struct Linear {
    regex: Regex,
    /// Finds the end of the longest match, which may not be that of the first alternative.
    longest: Option<Arc<DFA>>,
    /// The same expression, anchored at the end of the text.
    whole: Option<Regex>,
}

impl CompiledRegex {
    /// Compiles an expression. `None` if it is invalid.
    #[must_use]
    pub fn new(text: &[u8], ignore_case: bool) -> Option<Self> {
        let translated = translate::translate(text)?;
        let matcher = match has_references(text) {
            true => Matcher::Backtracking(
                fancy_regex::RegexBuilder::new(&translated)
                    .case_insensitive(ignore_case)
                    .dot_matches_new_line(true)
                    .build()
                    .ok()?,
            ),
            false => Matcher::Linear(Linear::new(text, &translated, ignore_case)?),
        };
        Some(Self { text: text.to_vec(), ignore_case, matcher })
    }

    /// Whether this is the expression `text`, compiled in this way.
    #[must_use]
    pub fn is(&self, text: &[u8], ignore_case: bool) -> bool {
        self.text == text && self.ignore_case == ignore_case
    }

    /// Searches `subject`. Returns the text of the leftmost longest match and of its groups.
    #[must_use]
    pub fn groups(&self, subject: &[u8]) -> Option<Vec<Bytes>> {
        match &self.matcher {
            Matcher::Linear(linear) => linear.groups(subject),
            Matcher::Backtracking(regex) => {
                let subject = String::from_utf8_lossy(subject);
                let captures = regex.captures(&*subject).ok()??;
                let text = |group: Option<fancy_regex::Match<'_>>| {
                    group.map_or_else(Bytes::new, |group| group.as_str().into())
                };
                Some(captures.iter().map(text).collect())
            }
        }
    }
}

impl Linear {
    fn new(text: &[u8], translated: &str, ignore_case: bool) -> Option<Self> {
        let build = |pattern: &str| {
            RegexBuilder::new(pattern).case_insensitive(ignore_case).dot_matches_new_line(true).build().ok()
        };
        let regex = build(translated)?;
        // Without alternatives, the first match is the longest one.
        let chooses = text.iter().any(|byte| matches!(byte, b'|' | b'('));
        let longest = chooses.then(|| longest(translated, ignore_case)).flatten().map(Arc::new);
        let whole = longest.as_ref().and_then(|_| build(&format!("(?:{translated})\\z")));
        Some(Self { regex, longest, whole })
    }

    /// The text of the leftmost longest match and of its groups.
    fn groups(&self, subject: &[u8]) -> Option<Vec<Bytes>> {
        let captures = self.regex.captures(subject)?;
        let found = captures.get(0)?;
        let end = self.longest_end(subject, found.start());
        if let (Some(end), Some(whole)) = (end.filter(|end| *end > found.end()), &self.whole)
            && let Some(captures) = whole.captures_at(&subject[..end], found.start())
        {
            return Some(texts(&captures));
        }
        Some(texts(&captures))
    }

    fn longest_end(&self, subject: &[u8], start: usize) -> Option<usize> {
        let dfa = self.longest.as_ref()?;
        let input = Input::new(subject).range(start..).anchored(Anchored::Yes);
        let found = dfa.try_search_fwd(&mut dfa.create_cache(), &input).ok()??;
        Some(found.offset())
    }
}

fn longest(pattern: &str, ignore_case: bool) -> Option<DFA> {
    let syntax = regex_automata::util::syntax::Config::new()
        .case_insensitive(ignore_case)
        .dot_matches_new_line(true)
        .utf8(false);
    DFA::builder().configure(DFA::config().match_kind(MatchKind::All)).syntax(syntax).build(pattern).ok()
}

fn texts(captures: &Captures<'_>) -> Vec<Bytes> {
    captures.iter().map(|group| group.map_or_else(Bytes::new, |group| group.as_bytes().into())).collect()
}

/// Whether an expression has a back-reference.
fn has_references(text: &[u8]) -> bool {
    let mut bytes = text.iter();
    while let Some(byte) = bytes.next() {
        if *byte == b'\\' && bytes.next().is_some_and(|next| matches!(next, b'1'..=b'9')) {
            return true;
        }
    }
    false
}
